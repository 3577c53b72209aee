package metrics

import "github.com/benchrig/bench/results"

// tracePoints is how many moments of a pass are looked at.
const tracePoints = 600

// Traces gathers everything that the charts of one pass need, in one walk over
// its records, in memory that does not grow with them.
type Traces struct {
	TTFT, TPOT, ICL, E2EL Sketch // seconds, as docs/metrics.md defines them; successes only
	Requests              Waterfall
	InFlight              *InFlight
}

// NewTraces is for a pass that lasted durationS.
func NewTraces(durationS float64) *Traces {
	return &Traces{InFlight: NewInFlight(durationS, tracePoints)}
}

// Add looks at one record. Records come in the order of the prompt list or in
// that of their ends; the traces are the same but for which even sample of the
// requests is drawn.
func (t *Traces) Add(r *results.Record) {
	o := observe(r, isToken)
	t.Requests.AddSpan(o.span())
	t.InFlight.add(&o)
	if !o.ok() {
		return
	}
	addKnown(&t.TTFT, o.ttft())
	addKnown(&t.TPOT, o.tpot())
	addKnown(&t.E2EL, o.e2el())
	for i := 1; i < len(o.tokenS); i++ {
		t.ICL.Add(o.tokenS[i] - o.tokenS[i-1])
	}
}

func addKnown(s *Sketch, v *float64) {
	if v != nil {
		s.Add(*v)
	}
}
