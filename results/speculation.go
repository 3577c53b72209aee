package results

import "strconv"

// Speculation is what the servers of a step count of speculative decoding over
// the pass, added up.
type Speculation struct {
	DraftTokens      float64
	AcceptedTokens   float64
	AcceptanceRate   float64   // accepted / draft tokens, 0 to 1
	Drafts           float64   // 0: not counted by the server
	AcceptanceLength float64   // 1 + accepted / drafts; 0 without drafts
	PerPosition      []float64 // accepted at a position / drafts; nil: not counted
}

// Names of the counters, as in Server.Counters.
const (
	counterDrafts      = "drafts_total"
	counterDraftTokens = "draft_tokens_total"
	counterAccepted    = "accepted_tokens_total"
	counterAtPosition  = "accepted_tokens_total_at_" // and the position, from 0
)

// SpeculationOf is nil where nothing was drafted or no server counts it.
func SpeculationOf(servers []Server) *Speculation {
	sum := make(map[string]float64)
	for _, s := range servers {
		for name, v := range s.Counters {
			sum[name] += v
		}
	}
	s := &Speculation{DraftTokens: sum[counterDraftTokens], AcceptedTokens: sum[counterAccepted], Drafts: sum[counterDrafts]}
	if s.DraftTokens <= 0 {
		return nil
	}
	s.AcceptanceRate = s.AcceptedTokens / s.DraftTokens
	if s.Drafts <= 0 {
		s.Drafts = 0
		return s
	}
	s.AcceptanceLength = 1 + s.AcceptedTokens/s.Drafts
	for i := 0; ; i++ {
		v, ok := sum[counterAtPosition+strconv.Itoa(i)]
		if !ok {
			return s
		}
		s.PerPosition = append(s.PerPosition, v/s.Drafts)
	}
}
