package results

import (
	"fmt"
	"testing"
)

// One replica of four, tp 2 each, on 8x MI300X: what a published comparison
// printed for it, and what it made of that.
func TestExtrapolate(t *testing.T) {
	printed := Figures{
		Completed: 1024, DurationS: 286.06, RequestThroughput: new(3.58), OutputThroughput: new(671.54),
		TotalTokenThroughput: new(1443.76),
		TTFT:                 Dist{N: 1024, Mean: new(0.16)},
	}
	r := Result{Figures: &printed, Extrapolated: Extrapolate(printed, 4, 32)}
	e := r.Extrapolated
	got := fmt.Sprintf("x%d share %d: %.3f s, %.2f req/s, %.2f and %.2f tok/s", e.Factor, e.Share, e.DurationS,
		*e.RequestThroughput, *e.OutputThroughput, *e.TotalTokenThroughput)
	if want := "x4 share 32: 71.515 s, 14.32 req/s, 2686.16 and 5775.04 tok/s"; got != want {
		t.Errorf("Extrapolate = %s, want %s", got, want)
	}
	if e.RequestGoodput != nil || e.MaxOutputTokensPerS != nil {
		t.Errorf("goodput %v and peak %v were not measured, want null", e.RequestGoodput, e.MaxOutputTokensPerS)
	}
	head := r.Headline()
	if *head.OutputThroughput != *e.OutputThroughput || head.DurationS != e.DurationS || *head.TTFT.Mean != 0.16 ||
		head.Completed != 1024 {
		t.Errorf("Headline = %+v, want the rates of four, the latencies and counts of one", head)
	}
	if *printed.OutputThroughput != 671.54 || printed.DurationS != 286.06 {
		t.Errorf("the measured figures became %v tok/s in %v s", *printed.OutputThroughput, printed.DurationS)
	}
}

func TestHeadlineOfMeasured(t *testing.T) {
	f := &Figures{DurationS: 2}
	if got := (&Result{Figures: f}).Headline(); got != f {
		t.Errorf("Headline = %v, want the measured figures", got)
	}
	if got := (&Result{Extrapolated: &Extrapolation{Factor: 4}}).Headline(); got != nil {
		t.Errorf("Headline = %v of a step that measured nothing, want null", got)
	}
}
