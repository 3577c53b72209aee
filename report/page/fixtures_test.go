package page

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// night is a small run as it is on disk, with everything in it that can go
// wrong.
func night(t testing.TB) *results.Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "night", "20260102-030405")
	bigFolder{variants: 2, points: 2, repeats: 3, requests: 200, tokens: 6}.write(t, dir)
	run := reread(t, dir)
	fail := func(id string, verdict results.Verdict, f *results.Failure) {
		r := run.Step(id).Result
		r.Verdict, r.Failure, r.Figures = verdict, f, nil
	}
	oom := results.Failf(results.FailOutOfMemory, "the server ended while loading: exit code 1")
	oom.LogTail = []string{
		"INFO loading weights", "torch.OutOfMemoryError: \x1b[31mHIP out of memory\x1b[0m <b>",
		"exit",
	}
	fail("variant-02_c2_r2", results.Failed, oom)
	fail("variant-02_c2_r3", results.NotRun,
		results.Failf(results.FailEarlier, "on-failure: skip-variant after variant-02_c2_r2"))
	doubtful := run.Step("variant-01_c2_r3").Result
	doubtful.Verdict = results.Suspect
	doubtful.Warnings = append(doubtful.Warnings,
		results.Warning{Code: results.WarnClientLate, Message: "requests were sent up to 50.0 ms later than intended"})
	hooked := run.Step("variant-01_c1_r1").Result
	hooked.Hooks = []results.HookRecord{{
		Level: "step", When: "before", Name: "drop-caches", OK: true, Message: "3",
		TookS: 0.2,
	}}
	hooked.Servers[0].Startup = &results.Startup{Phases: []results.StartupPhase{
		{Name: "weights", Seconds: 21.5},
		{Name: "graph-capture", Seconds: 9},
	}}
	run.Problems = []string{"journal.jsonl:7: cut short"}
	return run
}

func reread(t testing.TB, dir string) *results.Run {
	t.Helper()
	run, err := store.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// alone is a run that is in no folder.
func alone(steps ...*results.Result) *results.Run {
	run := &results.Run{Finished: true, Manifest: results.Manifest{
		Bench: "v1.0.0", Scenario: "alone", Run: "r1",
		StartedAt: "2026-01-02T03:04:05Z",
	}}
	for _, r := range steps {
		r.Scenario, r.Run = "alone", "r1"
		run.Steps = append(run.Steps, results.Step{State: results.StepDone, Result: r})
		run.Manifest.Planned = append(run.Manifest.Planned, r.Step)
	}
	return run
}

func measured(variant string, repeat int, tokensPerS float64) *results.Result {
	dist := results.Dist{
		N: 2000, Mean: new(0.1), Median: new(0.09), Std: new(0.01), Min: new(0.05), Max: new(0.4),
		Percentiles: []results.PercentileFigure{{P: 99, Value: new(0.3)}},
	}
	return &results.Result{
		Verdict: results.OK, Step: results.StepRef{
			ID: variant + "_c8_r" + string(rune('0'+repeat)), Variant: variant,
			Point: "c8", Repeat: repeat, Attempt: 1,
		},
		Servers: []results.Server{{
			Life: variant + string(rune('0'+repeat)), Launcher: "vllm", Version: "0.11.0",
			Model: "m", Argv: []string{"vllm", "serve", "m"},
		}},
		Figures: &results.Figures{
			Asked: 2000, Completed: 2000, DurationS: 10, OutputThroughput: new(tokensPerS),
			RequestThroughput: new(tokensPerS / 32), TotalTokenThroughput: new(tokensPerS * 5),
			TTFT: dist, TPOT: dist, ITL: dist, E2EL: dist,
		},
	}
}

// hostile is a run whose every text is an attack.
func hostile() *results.Run {
	const attack = `"><script>alert(1)</script><img src=x onerror=alert(1)>'` +
		"\x1b]0;owned\x07\x1b[31m\u202e\x00${x}{{.}}"
	r := measured(attack, 1, 100)
	r.Step.ID, r.Step.Point = attack, "javascript:alert(1)"
	r.Verdict, r.Failure = results.Failed, &results.Failure{
		Class: results.FailExited, Message: attack,
		LogTail: []string{attack, "https://example.com/leak.png"},
	}
	r.Warnings = []results.Warning{{Code: results.WarningCode(attack), Message: attack}}
	r.Hooks = []results.HookRecord{{Level: attack, When: attack, Name: attack, Message: attack}}
	r.Changes = []string{attack}
	r.Earlier = []results.Failure{*r.Failure}
	r.Asked = results.Asked{API: attack, Endpoint: attack, Dataset: attack, Body: attack + "\n" + attack}
	s := &r.Servers[0]
	s.Argv, s.Env, s.Model, s.Version, s.Launcher, s.Life = []string{attack, "a b"}, map[string]string{attack: attack},
		attack, attack, attack, "../"+attack
	s.ReadyPhases = []results.Phase{{Name: attack, AtS: 1}}
	second := measured("b", 1, 120)
	second.Step.Point = r.Step.Point
	second.Figures.FailureSamples = []string{attack}
	run := alone(r, second, measured(attack, 2, 110))
	run.Manifest.Scenario, run.Manifest.Description, run.Manifest.Sets = attack, attack, []string{attack}
	run.Manifest.Notes = map[string]string{"b": attack}
	run.Problems = []string{attack}
	run.Environment = json.RawMessage(`{"host":{"hostname":"<script>alert(1)</script>"}}`)
	return run
}

func llamaBench() *results.Run {
	step := func(variant string, speed float64) *results.Result {
		r := &results.Result{
			Verdict: results.OK,
			Step:    results.StepRef{ID: variant + "_r1", Variant: variant, Point: "bench", Repeat: 1, Attempt: 1},
		}
		for _, test := range []string{"pp512", "tg128"} {
			r.LlamaBench = append(r.LlamaBench, results.LlamaBenchRow{
				Test: test, Build: "b1", Model: "llama 1B Q4_0",
				TokensPerS: speed, TokensPerSD: new(0.5), SamplesS: []float64{1, 1.1},
			})
		}
		return r
	}
	run := alone(step("cpu", 10), step("blas", 14))
	run.Manifest.Method = results.MethodLlamaBench
	return run
}

// rated is an open loop, whose throughput is the asked rate.
func rated() *results.Run {
	var steps []*results.Result
	for repeat := 1; repeat <= 3; repeat++ {
		for i, variant := range []string{"slow", "fast"} {
			r := measured(variant, repeat, 1000+float64(repeat))
			r.Asked = results.Asked{API: "chat", RequestRate: new(8.0)}
			r.Figures.E2EL.Median = new(2 - float64(i) + float64(repeat)/100)
			steps = append(steps, r)
		}
	}
	return alone(steps...)
}

// simulated is a run of two variants, of which nothing was repeated.
func simulatedRun() *results.Run {
	a, b := measured("a", 1, 100), measured("b", 1, 120)
	a.Simulated, b.Simulated = true, true
	run := alone(a, b)
	run.Manifest.Simulated = true
	return run
}

// fixtures are the runs that have golden files.
func fixtures(t testing.TB) map[string]*results.Run {
	return map[string]*results.Run{
		"night": night(t), "hostile": hostile(), "llama-bench": llamaBench(), "rated": rated(),
		"simulated": simulatedRun(), "empty": alone(),
	}
}

func draw(t testing.TB, run *results.Run) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, run); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
