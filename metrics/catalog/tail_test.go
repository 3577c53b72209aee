package catalog

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

// The tail of latencies is p99, or where no step has it, the highest percentile that
// was asked for.
func TestTheTailIsTheHighestPercentile(t *testing.T) {
	step := func(percentiles ...float64) *results.Result {
		var d results.Dist
		for _, p := range percentiles {
			d.Percentiles = append(d.Percentiles, results.PercentileFigure{P: p, Value: new(p / 1000)})
		}
		return &results.Result{Figures: &results.Figures{TTFT: d, E2EL: d}}
	}

	for name, tt := range map[string]struct {
		steps []*results.Result
		want  string
	}{
		"p99":               {[]*results.Result{step(50, 90, 99)}, "p99_ttft_s"},
		"above p99":         {[]*results.Result{step(99, 99.9)}, "p99_ttft_s"},
		"p90":               {[]*results.Result{step(50, 90)}, "p90_ttft_s"},
		"one of several":    {[]*results.Result{step(50, 90), step(99)}, "p99_ttft_s"},
		"p99.9":             {[]*results.Result{step(90), step(99.9)}, "p99.9_ttft_s"},
		"only the median":   {[]*results.Result{step(50)}, "p99_ttft_s"},
		"no figures at all": {[]*results.Result{{}}, "p99_ttft_s"},
	} {
		var tails []Figure
		for _, f := range FiguresOf(tt.steps) {
			if f.P != 0 {
				tails = append(tails, f)
			}
		}
		unit, _, _ := strings.Cut(tt.want, "_")
		if len(tails) != 4 || tails[0].Name != tt.want || !tails[0].Compared || tails[0].Column.Unit != unit {
			t.Errorf("%s: the tails are %+v, want four, the first of them %s", name, tails, tt.want)
		}
		if drawn := Drawn(tt.steps); figureNamed(drawn, tt.want).Name == "" {
			t.Errorf("%s: %s is not drawn", name, tt.want)
		}
	}

	r := step(50, 90)
	if p90 := figureNamed(FiguresOf([]*results.Result{r}), "p90_ttft_s").Of(r); p90 == nil || *p90 != 0.09 {
		t.Errorf("p90 of the step is %v, want 0.09", p90)
	}
}

func figureNamed(figures []Figure, name string) Figure {
	for _, f := range figures {
		if f.Name == name {
			return f
		}
	}
	return Figure{}
}
