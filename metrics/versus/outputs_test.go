package versus

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// A comparison of quantizations whose second row measured the first one's
// server: the same tokens to the last one.
func TestEqualOutputs(t *testing.T) {
	step := func(variant, model string, tokens int64, change func(*results.Result)) results.Step {
		r := &results.Result{
			Step:    results.StepRef{ID: variant + "_c1_r1", Variant: variant},
			Servers: []results.Server{{Model: model}},
			Figures: &results.Figures{Completed: 36, TotalOutputTokens: &tokens},
		}
		if change != nil {
			change(r)
		}
		return results.Step{Result: r}
	}
	hash := func(sum string) func(*results.Result) {
		return func(r *results.Result) { r.Figures.Answers = &results.Answers{SHA256: &sum} }
	}
	argv := func(words ...string) func(*results.Result) {
		return func(r *results.Result) { r.Servers[0].Argv = words }
	}
	first := step("q8", "llama.Q8_0.gguf", 5870, nil)
	for _, tt := range []struct {
		name       string
		one, other results.Step
		want       string // "": nothing is said
	}{
		{
			"the same tokens", first, step("q4", "llama.Q4_K_M.gguf", 5870, nil),
			"the same 5870 output tokens in 36 answers as q8_c1_r1, although llama.Q4_K_M.gguf and " +
				"llama.Q8_0.gguf",
		},
		{"other tokens", first, step("q4", "llama.Q4_K_M.gguf", 5871, nil), ""},
		{"the same model", first, step("q8-again", "llama.Q8_0.gguf", 5870, nil), ""},
		{"a model not told", first, step("q4", "", 5870, nil), ""},
		{"answers as long as asked", first, step("q4", "llama.Q4_K_M.gguf", 5870, func(r *results.Result) {
			r.Asked.IgnoreEOS = true
		}), ""},
		{"few tokens", step("q8", "a", 36, nil), step("q4", "b", 36, nil), ""},
		{"the simulator", first, step("q4", "b", 5870, func(r *results.Result) { r.Simulated = true }), ""},
		{
			"the same answers", step("q8", "a", 5870, hash("x")), step("q4", "b", 5869, hash("x")),
			"the same answers as",
		},
		{
			"engines", step("v", "m", 900, argv("vllm", "serve", "m")),
			step("s", "m", 900, argv("python", "-m", "sglang.launch_server", "--model-path", "m")),
			"the same 900 output tokens",
		},
		{
			"quantizations by a flag", step("a", "m", 900, argv("vllm", "serve", "m")),
			step("b", "m", 900, argv("vllm", "serve", "m", "--quantization=fp8")), "the same 900 output tokens",
		},
		{
			"another concurrency", step("a", "m", 900, argv("vllm", "serve", "m", "--max-num-seqs", "8")),
			step("b", "m", 900, argv("vllm", "serve", "m")), "",
		},
	} {
		got := ""
		for _, f := range EqualOutputs([]results.Step{tt.one, tt.other}) {
			if f.Warning.Code != results.WarnEqualOutputs || f.Result != tt.other.Result {
				t.Errorf("%s: %s of %s", tt.name, f.Warning.Code, f.Result.Step.ID)
			}
			got += f.Warning.Message
		}
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: EqualOutputs = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Repeats with prompts of their own are compared with those that had the same.
// A run of thousands of steps is looked through with work for each step, not for
// each pair of them.
func TestEqualOutputsOfManySteps(t *testing.T) {
	steps := func(n int64) []results.Step {
		var all []results.Step
		for i := range n {
			all = append(all, results.Step{Result: &results.Result{
				Step:    results.StepRef{Variant: []string{"a", "b"}[i%2]},
				Servers: []results.Server{{Argv: []string{"serve", "--model", []string{"x", "y"}[i%2]}}},
				Figures: &results.Figures{Completed: 36, TotalOutputTokens: new(1000 + i)},
			}})
		}
		return all
	}
	few, many := steps(100), steps(400)
	small := testing.AllocsPerRun(3, func() { EqualOutputs(few) })
	large := testing.AllocsPerRun(3, func() { EqualOutputs(many) })
	if large > 5*small {
		t.Errorf("%.0f allocations for 100 steps, %.0f for 400: want about four times as many", small, large)
	}
}

func TestReproducedRepeatsArePaired(t *testing.T) {
	cell := func(hashes ...string) compare.Cell {
		c := compare.Cell{Variant: "a", Point: "c1"}
		for i, hash := range hashes {
			c.Counted = append(c.Counted, &results.Result{
				Verdict: results.OK, Step: results.StepRef{Repeat: i + 1}, Asked: results.Asked{DatasetSHA256: hash},
			})
		}
		c.Steps = c.Counted
		return c
	}
	for _, tt := range []struct {
		name         string
		origin, here compare.Cell
		counted      [2]int
		notes        int
	}{
		{"all the same", cell("x", "y"), cell("y", "x"), [2]int{2, 2}, 0},
		{"one lacks here", cell("x", "y", "z"), cell("x", "z"), [2]int{2, 2}, 1},
		{"one more on each side", cell("x", "y"), cell("x", "z"), [2]int{1, 1}, 2},
		{"none shared", cell("x", "y"), cell("z"), [2]int{2, 1}, 0},
		{"not told", cell("", ""), cell("z"), [2]int{2, 1}, 0},
		{"one not told", cell("x", ""), cell("x"), [2]int{2, 1}, 0},
	} {
		origin, here, notes := pairedByPrompts(tt.origin, tt.here)
		if got := [2]int{len(origin.Counted), len(here.Counted)}; got != tt.counted || len(notes) != tt.notes {
			t.Errorf("%s: %v counted, notes %q; want %v and %d notes", tt.name, got, notes, tt.counted, tt.notes)
		}
	}
}

func TestLackingGPUs(t *testing.T) {
	run := &results.Run{Steps: []results.Step{{Result: &results.Result{
		Step: results.StepRef{ID: "tp4_c1_r1"}, Servers: []results.Server{{GPUs: []int{0, 1}}, {GPUs: []int{2, 3}}},
	}}}}
	const two = `{"gpu": {"gpus": [{}, {}]}}`
	if got, want := LackingGPUs(run, []byte(two)),
		"the servers of tp4_c1_r1 had 4 GPUs, and this machine has 2"; got != want {
		t.Errorf("LackingGPUs = %q, want %q", got, want)
	}
	if got := LackingGPUs(run, []byte(`{"gpu": {"gpus": [{}, {}, {}, {}]}}`)); got != "" {
		t.Errorf("LackingGPUs where there are enough = %q", got)
	}
	run.Steps[0].Result.Simulated = true
	if got := LackingGPUs(run, []byte(two)); got != "" {
		t.Errorf("LackingGPUs of the simulator = %q", got)
	}
}

// A step that failed before a server answered is neither simulated nor real.
func TestFailedStepIsOfNeitherKind(t *testing.T) {
	failed := compare.Cell{Steps: []*results.Result{{Verdict: results.Failed}}}
	sound := &results.Result{Verdict: results.OK, Simulated: true}
	simulated := compare.Cell{Steps: []*results.Result{sound}, Counted: []*results.Result{sound}}
	if why := kindDiffers(simulated, failed); why != "" {
		t.Errorf("kindDiffers of a failed step = %q, want nothing", why)
	}
	engine := &results.Result{Verdict: results.OK}
	if why := kindDiffers(simulated, compare.Cell{
		Steps:   []*results.Result{engine},
		Counted: []*results.Result{engine},
	}); why == "" {
		t.Error("kindDiffers of simulated and real = nothing")
	}
}
