package search

// keepsUp is the share of the request rate that a server must answer while requests
// come, so that its queue is not said to grow.
const keepsUp = 0.8

// Backlog reads, of the highest rate that met the targets, how many requests a second
// the server answered while others came. It is nil where the server kept up, or where
// that is not known: of few requests, and of sessions, whose rate is another one.
func (s Run) Backlog() *float64 {
	const enough = 20
	if s.End.Met == nil {
		return nil
	}

	var least *float64
	for i, p := range s.Probes {
		rate, f := s.Steps[i].Asked.RequestRate, s.Steps[i].Figures
		if p.Load != *s.End.Met || p.Outcome != ProbeMet || rate == nil || f == nil || f.Sessions != nil {
			continue
		}
		if f.Steady == nil || f.Steady.N < enough {
			continue
		}
		if served := f.Steady.RequestThroughput; served < keepsUp**rate && (least == nil || served < *least) {
			least = &served
		}
	}
	return least
}
