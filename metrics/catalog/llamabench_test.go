package catalog

import (
	"slices"
	"testing"

	"github.com/benchrig/bench/internal/numtest"
	"github.com/benchrig/bench/results"
)

// What the program sweeps beside the test makes another figure; what differs
// between runs does not.
func TestTestsWithSweptSettings(t *testing.T) {
	row := func(test, fa string, threads int, speed float64) results.LlamaBenchRow {
		return results.LlamaBenchRow{Test: test, Model: "llama 7B", FlashAttn: fa, Threads: threads, TokensPerS: speed}
	}
	one := &results.Result{Step: results.StepRef{Variant: "one"}, LlamaBench: []results.LlamaBenchRow{row("pp512", "0",
		16, 800), row("pp512", "1", 16, 900), row("tg128", "0", 16, 40), row("tg128", "1", 16, 44)}}
	two := &results.Result{Step: results.StepRef{Variant: "two"}, LlamaBench: []results.LlamaBenchRow{row("pp512", "0",
		32, 810), row("pp512", "1", 32, 920)}}
	var names []string
	for _, f := range FiguresOf([]*results.Result{one, two}) {
		names = append(names, f.Name)
		if f.Name == "pp512 fa1" {
			numtest.Near(t, "pp512 with fa", f.Of(one), 900, 0)
			numtest.Near(t, "pp512 with fa, 32 threads", f.Of(two), 920, 0)
			if f.Title != "pp512 (fa 1) t/s" {
				t.Errorf("title = %q", f.Title)
			}
		}
	}
	if want := []string{"pp512 fa0", "pp512 fa1", "tg128 fa0", "tg128 fa1", "vram_peak_bytes"}; !slices.Equal(names,
		want) {
		t.Errorf("figures = %q, want %q", names, want)
	}
}
