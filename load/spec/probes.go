package spec

import "fmt"

// Probes are small requests that are sent beside a load, at a rate of their own and
// whatever it does: they show what it does to the requests of others. The zero value:
// none are sent.
type Probes struct {
	RequestRate float64 `json:"request_rate"`       // requests/s, at times of their own
	InputLen    int     `json:"input_len"`          // tokens; 0: the text "Hi", as of vLLM's client
	OutputLen   int     `json:"output_len"`         // tokens
	Priority    *int    `json:"priority,omitempty"` // in the request body; null: none is sent
}

// MaxProbeRate is the highest rate of probes, requests/s.
const MaxProbeRate = 100

// Active reports whether any are sent.
func (p Probes) Active() bool { return p.RequestRate > 0 }

// String is "2 requests/s in 16 out 1".
func (p Probes) String() string {
	text := fmt.Sprintf("%g requests/s", p.RequestRate)
	if p.InputLen > 0 {
		text += fmt.Sprintf(" in %d", p.InputLen)
	}
	return text + fmt.Sprintf(" out %d", p.OutputLen)
}
