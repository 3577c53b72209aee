package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/benchrig/bench/report/studies"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

func tableGoldens(t *testing.T, run *results.Run, tab string) string {
	t.Helper()
	text := print(t, func(out *bytes.Buffer) error {
		return Tables(out, run, []string{tab}, table.ForTerminal, table.Options{})
	})
	golden(t, tab+".table.txt", text)
	golden(t, tab+".table.md", print(t, func(out *bytes.Buffer) error {
		return Tables(out, run, []string{tab}, table.ForMarkdown, table.Options{})
	}))
	return string(text)
}

func sqzbOf(e2e, one float64) *results.SQZB {
	const million = 1 << 20
	s := &results.SQZB{
		InputTokens: new(int64(million)), OutputTokens: new(int64(million)), E2ELatencyS: &e2e,
		SummarizationLatencyS:   &one,
		SummarizationThroughput: new(million / one), E2EThroughput: new(million / e2e), TTFTMeanS: new(2.5),
		TPOTMeanS: new(0.04), TPOTByTokensS: new(0.0399),
		JPerInputToken: new(0.0421), FirstTokens: 1024, CachedInPass1: new(0.0), CachedTokens: new(0.0),
	}
	if e2e > one {
		s.GenerationLatencyS, s.GenerationThroughput = new(e2e-one), new(million/(e2e-one))
	} else {
		s.Undefined = "what is left for the generation is not positive"
	}
	return s
}

func TestTwoPassTable(t *testing.T) {
	steps := []results.Step{step("plain", 8, 1, 4), step("eager", 8, 1, 4), step("broken", 8, 1, 4)}
	steps[0].Result.SQZB = sqzbOf(500, 100)
	steps[0].Result.SQZB.QueueMeanS, steps[0].Result.SQZB.TTFTUnqueuedS = new(1.5), new(1.0)
	steps[1].Result.SQZB = sqzbOf(90, 100)
	fail(steps[2], results.Failed, results.Failf(results.FailOutOfMemory, "the server ended while loading"))
	run := runOf(steps...)
	run.Manifest.Method = results.MethodSQZB
	text := tableGoldens(t, run, "two-pass")
	for _, want := range []string{
		"2621.44", "10485.76", "2097.15", "400.00", "pass 1 - 2", "generation is not defined",
		"no TTFT without it",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("two-pass lacks %q:\n%s", want, text)
		}
	}
	if whole := string(print(t, func(out *bytes.Buffer) error {
		return Write(out, run,
			table.Options{})
	})); !strings.Contains(whole, "Two passes") {
		t.Errorf("the report of a two-pass run lacks its table:\n%s", whole)
	}
}

// speculating makes a step whose server counts its drafts.
func speculating(variant string, argv []string, counters map[string]float64) results.Step {
	s := step(variant, 8, 1, 4)
	s.Result.Asked.Dataset = "sharegpt"
	s.Result.Servers[0].Argv, s.Result.Servers[0].Counters = argv, counters
	if d := results.DraftingBy(results.DraftsByCounters, counters); d != nil {
		if k := studies.DraftingOf(s.Result.Servers[0]).K; k > 0 {
			d.Tokens = &k
		}
		d.Derive()
		s.Result.Servers[0].Speculation = d
	}
	return s
}

func TestSpeculationTable(t *testing.T) {
	draft := func(drafted, accepted float64) map[string]float64 {
		return map[string]float64{"draft_tokens_total": drafted, "accepted_tokens_total": accepted}
	}
	emitting := func(counters map[string]float64, emitted float64) map[string]float64 {
		counters["emitted_tokens_total"] = emitted
		return counters
	}
	random := speculating("random", []string{
		"vllm", "serve", "m", "--speculative-config",
		`{"model": "d", "num_speculative_tokens": 2}`,
	}, map[string]float64{
		"draft_tokens_total": 200, "accepted_tokens_total": 100, "drafts_total": 100, "accepted_tokens_total_at_0": 70,
		"accepted_tokens_total_at_1": 30, "output_tokens_total": 500,
	})
	random.Result.Asked.Dataset = "random"
	llama := speculating("llama", []string{"llama-server", "-m", "m.gguf", "-md", "d.gguf", "--draft-max", "8"},
		draft(80, 40))
	llama.Result.Servers[0].Launcher = "llamacpp"
	llama.Result.Servers[0].Speculation.Source = results.DraftsByAnswers
	sglang := speculating("sglang", []string{
		"sglang", "--speculative-algorithm", "EAGLE",
		"--speculative-num-draft-tokens", "4",
	}, nil)
	sglang.Result.Servers[0].Speculation = &results.Drafting{
		Source: results.DraftsByGauges, Rate: new(0.6),
		Length: new(2.8), LogLines: []string{"accept len: 2.80"},
	}
	everyStep := speculating("every", []string{"vllm", "serve", "m"}, map[string]float64{
		"draft_tokens_total": 200, "accepted_tokens_total": 100, "drafts_total": 100, "output_tokens_total": 204,
	})
	usual := string(print(t, func(out *bytes.Buffer) error {
		return Tables(out, runOf(step("tp8", 8, 1, 4), everyStep), []string{"speculation"}, table.ForTerminal,
			table.Options{})
	}))
	if !strings.Contains(usual, "Speculative decoding") || strings.Contains(usual, "per step:") {
		t.Errorf("nearly all steps check a draft, and the table shows others:\n%s", usual)
	}

	run := runOf(
		step("tp8", 8, 1, 4),
		speculating("sd1b-k5", []string{
			"vllm", "serve", "m", "--speculative_model", "1b",
			"--num_speculative_tokens=5",
		}, emitting(draft(248165, 197711), 190541)),
		speculating("sd1b-k10", []string{
			"vllm", "serve", "m", "--speculative_model", "1b", "--num_speculative_tokens",
			"10",
		}, emitting(draft(396390, 311498), 193355)),
		random, llama, sglang,
	)
	text := tableGoldens(t, run, "speculation")
	// acceptance and system efficiency as the document prints them: 0.797 and 0.640, 0.786 and 0.443
	for _, want := range []string{
		"79.7    3.84        64.0", "78.6    4.88        44.3",
		"WARNING: random, c8: drafts are accepted differently on random tokens",
		"per step: output tokens per step of a request",
		"answers", "gauges", "sglang, c8, log: accept len: 2.80",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("speculation lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "WARNING: sd1b") {
		t.Errorf("prompts of a dataset are called random:\n%s", text)
	}
	if parts := studies.SpeculationParts(runOf(step("tp8", 8, 1, 4))); parts != nil {
		t.Errorf("a run without drafts has a table of them: %v", parts)
	}
}

func benchRows(model string, size int64, pp, tg float64) []results.LlamaBenchRow {
	row := func(test string, prompt, generated int, speed float64) results.LlamaBenchRow {
		return results.LlamaBenchRow{
			Test: test, Build: "b6e9d2a (6319)", Backend: "ROCm", Model: model, SizeBytes: size,
			Parameters: 6_738_415_616, GPULayers: new(99), FlashAttn: "1",
			Prompt: prompt, Generated: generated, TokensPerS: speed, TokensPerSD: new(speed / 100),
		}
	}
	return []results.LlamaBenchRow{row("pp512", 512, 0, pp), row("tg128", 0, 128, tg)}
}

// The runs of llama-bench in the document, without and with the variable.
func TestLlamaBenchTable(t *testing.T) {
	var steps []results.Step
	for _, m := range []struct {
		variant, model string
		size           int64
		pp, ppWith     float64
		tg, tgWith     float64
	}{
		{"q4_0", "llama 7B Q4_0", 3_825_065_984, 878.31, 972.75, 39.33, 39.23},
		{"f16", "llama 7B F16", 13_476_831_232, 1056.97, 1189.21, 13.91, 13.93},
	} {
		for _, with := range []bool{false, true} {
			s := step(m.variant, 1, 1, 1)
			s.Result.Servers = []results.Server{{
				Life: m.variant, Launcher: "llama-bench",
				Argv: []string{"llama-bench", "-m", m.variant},
			}}
			s.Result.Figures, s.Result.Asked, s.Result.LlamaBench = nil, results.Asked{},
				benchRows(m.model, m.size, m.pp, m.tg)
			if with {
				s.Result.Step.Variant += "-hipblaslt"
				s.Result.Step.ID += "-hipblaslt"
				s.Result.Servers[0].Env = map[string]string{"ROCBLAS_USE_HIPBLASLT": "1"}
				s.Result.LlamaBench = append(benchRows(m.model, m.size, m.ppWith, m.tgWith),
					benchRows(m.model, m.size, m.ppWith/2, m.tgWith)[0])
				s.Result.LlamaBench[2].Test, s.Result.LlamaBench[2].Prompt = "pp1024", 1024
			}
			steps = append(steps, s)
		}
	}
	run := runOf(steps...)
	run.Manifest.Method = results.MethodLlamaBench
	text := tableGoldens(t, run, "llama-bench")
	for _, want := range []string{
		"ROCBLAS_USE_HIPBLASLT: unset and 1", "+10.75 %", "+12.51 %", "878.31 ± 8.78", "3.56",
		"12.55", "Prompt processing (pp), t/s by tokens",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("llama-bench lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "Generation (tg)") {
		t.Errorf("one length is called a sweep:\n%s", text)
	}
	golden(t, "llama-bench.txt", print(t, func(out *bytes.Buffer) error { return Write(out, run, table.Options{}) }))
}

func TestAppendix(t *testing.T) {
	rated := step("tp8", 4, 2, 4)
	rated.Result.Asked.RequestRate, rated.Result.Asked.MaxConcurrency, rated.Result.Asked.Warmups = new(4.0), nil, 3
	run := runOf(
		blockStep("vllm", fp16, 16, 155.97, 64, 17809, 11256, 871.62, 162.64),
		blockStep("llamacpp", "m.gguf", 16, 32.85, 36, 1339, 5870, 381.53, 64.94), rated,
		fail(step("tp2", 4, 1, 4), results.Failed, results.Failf(results.FailOutOfMemory, "HIP out of memory")),
	)
	run.Steps[0].Result.Asked.Warmups = 1
	text := tableGoldens(t, run, "appendix")
	for _, want := range []string{
		"Starting initial single prompt test run...\n", "Initial test run completed. Starting main benchmark run...\n",
		"Traffic request rate: inf\n",
		"Burstiness factor: 1.0 (Poisson process)\n", "Maximum request concurrency: 16\n",
		"Maximum request concurrency:             16 ", "Completed: 36 of 64 requests",
		"Traffic request rate: 4.0\n", "Burstiness factor: inf (constant gaps)\n",
		"Maximum request concurrency: None\n", "HIP out of memory",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the appendix lacks %q:\n%s", want, text)
		}
	}
}
