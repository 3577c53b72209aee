package calibrate

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Truth is what a feeder did since it was asked to begin: its own times, in
// seconds, from the kernel's stamp of a request's arrival to the moment at which each token
// was written.
type Truth struct {
	Requests  int     `json:"requests"` // answered to the end
	Tokens    int     `json:"tokens"`
	DurationS float64 `json:"duration_s"` // from the first request to the last token
	TTFT      Spread  `json:"ttft_s"`
	ITL       Spread  `json:"itl_s"`
	E2EL      Spread  `json:"e2el_s"`
}

// Spread are figures of a sample; zeros without one.
type Spread struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
}

// served is one request that a feeder answers.
type served struct {
	arrived int64 // CLOCK_MONOTONIC, as all here
	writes  []int64
}

// densest are the n requests in a row that arrived within the shortest time: those of a load.
// Clients send some before, to see whether a server is there, and some after.
func densest(all []*served, n int) []*served {
	if n < 1 || len(all) <= n {
		return all[:min(max(n, 0), len(all))]
	}
	best := 0
	for i := range len(all) - n + 1 {
		if all[i+n-1].arrived-all[i].arrived < all[best+n-1].arrived-all[best].arrived {
			best = i
		}
	}
	return all[best : best+n]
}

func truthOf(all []*served) Truth {
	var t Truth
	var ttft, itl, e2el []float64
	var first, last int64
	for _, s := range all {
		if len(s.writes) == 0 {
			continue
		}
		end := s.writes[len(s.writes)-1]
		if t.Requests == 0 || s.arrived < first {
			first = s.arrived
		}
		t.Requests++
		t.Tokens += len(s.writes)
		last = max(last, end)
		ttft, e2el = append(ttft, seconds(s.writes[0]-s.arrived)), append(e2el, seconds(end-s.arrived))
		for i := 1; i < len(s.writes); i++ {
			itl = append(itl, seconds(s.writes[i]-s.writes[i-1]))
		}
	}

	t.DurationS = seconds(last - first)
	t.TTFT, t.ITL, t.E2EL = spreadOf(ttft), spreadOf(itl), spreadOf(e2el)
	return t
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

func spreadOf(sample []float64) Spread {
	if len(sample) == 0 {
		return Spread{}
	}
	slices.Sort(sample)
	sum := 0.0
	for _, v := range sample {
		sum += v
	}
	return Spread{Mean: sum / float64(len(sample)), P50: quantile(sample, 0.5), P99: quantile(sample, 0.99)}
}

// arrival is when the bytes of a message of the kernel arrived, and now where it
// does not say.
func arrival(control []byte, now int64) int64 {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return now
	}

	for _, m := range messages {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SO_TIMESTAMPNS_NEW && len(m.Data) >= 16 {
			wall := int64(
				binary.NativeEndian.Uint64(m.Data),
			)*int64(
				time.Second,
			) + int64(
				binary.NativeEndian.Uint64(m.Data[8:]),
			)
			if ago := time.Now().UnixNano() - wall; ago > 0 && ago < int64(time.Minute) {
				return now - ago
			}
		}
	}
	return now
}

// reply answers what asks for no tokens: the health and the models that clients ask
// for first, and the two of whoever drives them. ok is false for all others.
func (f *feeder) reply(target string) (body string, ok bool) {
	switch {
	case strings.HasSuffix(target, "/health"):
		return "", true
	case strings.HasSuffix(target, "/models"):
		return `{"object":"list","data":[{"id":"calibrate","object":"model","created":0,"owned_by":"bench"}]}`, true
	case strings.HasPrefix(target, truthPath):
		n, err := strconv.Atoi(strings.TrimPrefix(target, truthPath))
		if err != nil || n < 0 {
			return "", false
		}
		text, err := json.Marshal(truthOf(densest(f.served, n)))
		return string(text), err == nil

	case strings.HasPrefix(target, beginPath):
		p, err := parsePace(strings.TrimPrefix(target, beginPath))
		if err != nil {
			return "", false
		}
		f.pace, f.served = p, nil
		return "", true
	}
	return "", false
}

// The paths by which a feeder is driven. beginPath is followed by a pace, which requests
// have that name none, and forgets what was served before; truthPath by how many requests are
// asked for, those that came closest together.
const (
	truthPath = "/truth/"
	beginPath = "/begin"
)

// plainAnswer is a whole answer that is not a stream.
func plainAnswer(body string) string {
	return fmt.Sprintf(
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		len(body),
		body,
	)
}
