package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/internal/numtest"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/results"
)

// life is a measured repeat on a server life of its own.
func life(variant string, repeat int, rate, ttft float64) *results.Result {
	r := step(variant, "c8", fmt.Sprint(variant, repeat), results.OK, rate)
	r.Step.Repeat = repeat
	r.Figures.OutputThroughput, r.Figures.TotalTokenThroughput = new(32*rate), new(160*rate)
	r.Figures.TTFT = results.Dist{
		N: 2000, Mean: &ttft, Median: new(ttft / 2),
		Percentiles: []results.PercentileFigure{{P: 99, Value: new(ttft * 3)}},
	}
	return r
}

func pairOf(baseline, candidate []*results.Result) Pair {
	cells := Cells(slices.Concat(baseline, candidate), nil, nil)
	return PairOf(cells[0], cells[1], catalog.Headline(), DefaultRule())
}

func TestComparePair(t *testing.T) {
	var a, b []*results.Result
	for i, noise := range []float64{1, 1.01, 0.99, 1.005, 0.995} {
		a = append(a, life("a", i+1, 10*noise, 0.1/noise))
		b = append(b, life("b", i+1, 12*noise, 0.05/noise))
	}
	p := pairOf(a, b)
	var names []string
	for _, d := range p.Differences {
		names = append(names, d.Figure)
		if d.Verdict != Better {
			t.Errorf("%s: %s, want better", d.Figure, d.Verdict)
		}
	}
	if want := []string{
		"request_throughput", "output_throughput", "total_token_throughput", "mean_ttft_s",
		"median_ttft_s", "p99_ttft_s",
	}; !slices.Equal(names, want) {
		t.Errorf("figures = %v, want %v", names, want)
	}
}

// Rates that are proportional in every life are one question: three times the
// same p counts once.
func TestHolmCountsTheSameQuestionOnce(t *testing.T) {
	all := []Difference{
		{PWelch: new(0.02), Delta: new(0.01), Low: new(0.002), PRank: new(0.1)},
		{PWelch: new(0.02), Delta: new(0.01), Low: new(0.002), PRank: new(0.1)},
		{PWelch: new(0.02), Delta: new(0.02), Low: new(0.002), PRank: new(0.1)},
	}
	holm(all)
	for i := range all {
		numtest.Near(t, "p", all[i].PHolm, 0.04, 1e-12)
	}
}

func TestPairRemarks(t *testing.T) {
	var a, b []*results.Result
	for i := range 6 {
		a = append(a, life("a", i+1, 10+0.01*float64(i%2), 0.1))
		b = append(b, life("b", i+1, 10+0.05*float64(i), 0.1+0.0001*float64(i%3)))
	}
	a[2] = life("a", 3, 15, 0.1)
	p := pairOf(a, b)
	p.Remarks(catalog.Headline(), 0.05)
	if len(p.Outliers) != 1 || !strings.HasPrefix(p.Outliers[0], "a, repeat 3: req/s 15.00, output tok/s 480.00") {
		t.Errorf("outliers = %q, want repeat 3 of a", p.Outliers)
	}
	if len(p.Drifts) == 0 || !strings.Contains(p.Drifts[0],
		"b: req/s rises with the order of its 6 server starts (tau +1.00") {
		t.Errorf("drifts = %q, want that of b", p.Drifts)
	}
	if p.Differences[0].Baseline.N != 6 {
		t.Errorf("the outlier was dropped: n = %d", p.Differences[0].Baseline.N)
	}
}

// A figure that one repeat does not know is compared on no repeat.
func TestPairOfUnknownFigures(t *testing.T) {
	a, b := []*results.Result{life("a", 1, 10, 0.1), life("a", 2, 10, 0.1)}, []*results.Result{
		life("b", 1, 10, 0.1),
		life("b", 2, 11, 0.1),
	}
	b[1].Figures.OutputThroughput = nil
	p := pairOf(a, b)
	at := slices.IndexFunc(p.Differences, func(d Difference) bool { return d.Figure == "output_throughput" })
	if d := p.Differences[at]; d.Candidate.N != 0 || d.Verdict != CannotTell || d.Baseline.N != 2 {
		t.Errorf("output throughput = %+v", d)
	}
}

func TestFiguresForLlamaBench(t *testing.T) {
	r := &results.Result{
		Verdict: results.OK, Step: results.StepRef{ID: "x", Variant: "v", Point: "p"},
		LlamaBench: []results.LlamaBenchRow{
			{Test: "pp512", TokensPerS: 800}, {Test: "tg128", TokensPerS: 40}, {Test: "pp512", TokensPerS: 820},
		},
	}
	figures := catalog.FiguresOf([]*results.Result{r})
	if figures[0].Name != "pp512" || figures[1].Name != "tg128" || len(figures) != 3 {
		t.Fatalf("figures = %v", figures)
	}
	r.LlamaBench = append(r.LlamaBench, results.LlamaBenchRow{Test: "pp512", File: "/m/other.gguf", TokensPerS: 5})
	if of := catalog.FiguresOf([]*results.Result{r}); of[0].Name != "pp512@" || of[2].Name != "pp512@other" ||
		*of[2].Of(r) != 5 {
		t.Errorf("figures of two models = %q and %q", of[0].Name, of[2].Name)
	}
	numtest.Near(t, "pp512", Cells([]*results.Result{r}, nil, nil)[0].MeanOf(figures[0].Of), 810, 1e-12)
	if v := figures[0].Of(&results.Result{}); v != nil {
		t.Errorf("a step without tests has %v", *v)
	}
}

// No figure may fail on a step without figures or telemetry.
func TestFiguresOfNothing(t *testing.T) {
	for _, f := range catalog.Headline() {
		if v := f.Of(&results.Result{}); v != nil {
			t.Errorf("%s of an empty result = %v", f.Name, *v)
		}
		if f.Scale == 0 || f.Title == "" {
			t.Errorf("figure %s has no scale or title", f.Name)
		}
	}
}

// A large difference that only the correction over many figures keeps from its
// verdict needs few repeats, not those for a difference of 3 %.
func TestMoreRepeatsOfALargeDifference(t *testing.T) {
	a, b := Sample{"a", []float64{3.0, 3.6, 4.2}}, Sample{"b", []float64{1.4, 1.7, 2.1}}
	var all []Difference
	for range 9 {
		all = append(all, Compare("f", false, a, Sample{"b", []float64{3.4, 3.5, 3.9 + float64(len(all))/100}},
			DefaultRule()))
	}
	all = append(all, Compare("g", false, a, b, DefaultRule()))
	Judge(all, DefaultRule())
	if d := all[9]; d.Verdict != CannotTell || d.MoreRepeats < 1 || d.MoreRepeats > 3 {
		t.Errorf("a change of %.0f %% (p %v, Holm %v): %s, %d more repeats; want 1 to 3", 100**d.Delta, *d.PWelch,
			*d.PHolm, d.Verdict, d.MoreRepeats)
	}
	if d := all[0]; d.MoreRepeats < 50 {
		t.Errorf("a change of %.1f %% in the noise: %d more repeats, want many", 100**d.Delta, d.MoreRepeats)
	}
}

func TestFiguresForTwoPasses(t *testing.T) {
	r := &results.Result{SQZB: &results.SQZB{SummarizationThroughput: new(100.0)}}
	figures := catalog.FiguresOf([]*results.Result{r, {}})
	if figures[0].Name != "summarization_throughput" || *figures[0].Of(r) != 100 || figures[1].Of(r) != nil ||
		figures[1].Of(&results.Result{}) != nil {
		t.Errorf("figures of two passes = %v", figures[:2])
	}
}

// No verdict is beside an interval that holds 0.
func TestVerdictAgreesWithItsInterval(t *testing.T) {
	d := compared([]float64{0.01, 0.01, 0.02, 0.9}, []float64{4, 4.4, 3.6, 4})
	if *d.PWelch > 0.05 || *d.Low > 0 || d.Verdict != CannotTell {
		t.Errorf("p %v, interval %v to %v: %s, want %s", *d.PWelch, *d.Low, *d.High, d.Verdict, CannotTell)
	}
}
