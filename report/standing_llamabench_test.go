package report

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

// What a single variant of llama-bench is said to reach is its best, and models
// that are measured one each are no variants of one question.
func TestStandingOfLlamaBench(t *testing.T) {
	row := func(model, backend string, rate float64) results.LlamaBenchRow {
		return results.LlamaBenchRow{Test: "pp64", Model: model, Backend: backend, TokensPerS: rate}
	}
	tested := func(variant string, rows ...results.LlamaBenchRow) results.Step {
		return results.Step{State: results.StepDone, Result: &results.Result{
			Step: results.StepRef{ID: variant, Variant: variant, Point: "all"}, Verdict: results.OK, LlamaBench: rows,
		}}
	}
	for name, tt := range map[string]struct {
		steps []results.Step
		want  string
	}{
		"two backends of one variant": {
			[]results.Step{tested("m", row("x", "ROCm", 20), row("x", "Vulkan", 120))},
			"The run has one variant, so nothing is compared: the best pp64 (backend Vulkan) t/s is 120.0, of m",
		},
		"two models": {
			[]results.Step{tested("a", row("A", "CUDA", 10)), tested("b", row("B", "CUDA", 5))},
			"No two variants ran the same test of the same model, so nothing is compared: the best pp64 (A) t/s is 10.00",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(StandingOf(runOf(tt.steps...)).Lines, "\n"); !strings.HasPrefix(got, tt.want) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Tests of one name in a line are told apart by what differs.
func TestOneLineTellsTestsApart(t *testing.T) {
	t.Parallel()
	row := func(cache string, speed float64) results.LlamaBenchRow {
		return results.LlamaBenchRow{
			Test: "pp64", TokensPerS: speed, Rest: map[string]string{"type_k": cache, "type_v": "f16"},
		}
	}
	r := &results.Result{
		Verdict: results.OK, LlamaBench: []results.LlamaBenchRow{row("f16", 20), row("q8_0", 120)},
	}
	if got, want := OneLine(r), "ok, pp64 (type_k f16) 20.0 tok/s, pp64 (type_k q8_0) 120.0 tok/s"; got != want {
		t.Errorf("line %q, want %q", got, want)
	}
}
