package curves

import (
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

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
	return &Traces{InFlight: newInFlight(durationS, tracePoints)}
}

// Add looks at one record. Records come in the order of the prompt list or in
// that of their ends; the traces are the same but for which even sample of the
// requests is drawn.
func (t *Traces) Add(r *results.Record) {
	o := metrics.Observe(r, metrics.IsToken)
	t.Requests.AddSpan(spanOf(o))
	t.InFlight.add(&o)
	if !o.OK() {
		return
	}
	addKnown(&t.TTFT, o.TTFT())
	addKnown(&t.TPOT, o.TPOT())
	addKnown(&t.E2EL, o.E2EL())
	for i := 1; i < len(o.TokenS); i++ {
		t.ICL.Add(o.TokenS[i] - o.TokenS[i-1])
	}
}

func addKnown(s *Sketch, v *float64) {
	if v != nil {
		s.Add(*v)
	}
}
