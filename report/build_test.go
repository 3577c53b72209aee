package report

import (
	"bytes"
	"flag"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/benchrig/bench/internal/goldentest"
	"github.com/benchrig/bench/results"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares with testdata/name, or rewrites it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	goldentest.Compare(t, filepath.Join("testdata", name), string(got), *update)
}

// dist spreads n samples around a mean.
func dist(n int, mean float64) results.Dist {
	return results.Dist{
		N: n, Mean: new(mean), Median: new(mean * 0.95), Std: new(mean / 5), Min: new(mean / 2), Max: new(mean * 3),
		Percentiles: []results.PercentileFigure{{P: 50, Value: new(mean * 0.95)}, {P: 99, Value: new(mean * 2)}},
	}
}

// figures are those of n requests of 128 input and 32 output tokens at a
// concurrency, on a server of a speed.
func figures(n, concurrency int, speed float64) *results.Figures {
	rate := speed * float64(concurrency) / (1 + float64(concurrency)/16)
	latency := float64(concurrency) / rate
	return &results.Figures{
		Asked: n, Completed: n, DurationS: float64(n) / rate, PeakConcurrent: concurrency,
		TotalInputTokens: new(int64(128 * n)), TotalOutputTokens: new(int64(32 * n)),
		RequestThroughput: new(rate), OutputThroughput: new(32 * rate), TotalTokenThroughput: new(160 * rate),
		MaxOutputTokensPerS: new(40 * rate), TokensPerChunk: new(1.0),
		TTFT: dist(n, latency/10), TPOT: dist(n, latency/36), ITL: dist(31*n, latency/36), E2EL: dist(n, latency),
		TTFTFromIntended: dist(n, latency/9), E2ELFromIntended: dist(n, latency*1.1),
		FinishReasons: map[string]int{"length": n}, TokenSources: map[results.TokenCount]int{results.CountUsage: n},
	}
}

// step is a measured step of a real server; change it for other fates.
func step(variant string, concurrency, repeat int, speed float64) results.Step {
	point := fmt.Sprintf("c%d", concurrency)
	id := fmt.Sprintf("%s-%s-r%d", variant, point, repeat)
	return results.Step{State: results.StepDone, Result: &results.Result{
		Format: 1, Bench: "v1.0.0", Scenario: "quickstart", Run: "20260102-030405", Verdict: results.OK,
		Step:      results.StepRef{ID: id, Variant: variant, Point: point, Repeat: repeat, Attempt: 1},
		StartedAt: "2026-01-02T03:04:05Z", EndedAt: "2026-01-02T03:05:05Z",
		Asked: results.Asked{
			Endpoint: "/v1/completions", API: "completions", Dataset: "random", NumPrompts: 2000,
			MaxConcurrency: &concurrency,
			InputLen:       new(128), OutputLen: new(32), IgnoreEOS: true,
		},
		Servers: []results.Server{{
			Life: fmt.Sprintf("%s-%d", variant, repeat), Launcher: "vllm", BaseURL: "http://127.0.0.1:8000", Model: "m",
			Version: "0.11.0", GPUs: []int{0, 1}, Argv: []string{"vllm", "serve", "m", "--tensor-parallel-size", "2"},
		}},
		Figures: figures(2000, concurrency, speed),
	}}
}

// fail turns a measured step into a failed one without figures.
func fail(s results.Step, verdict results.Verdict, f *results.Failure) results.Step {
	s.Result.Verdict, s.Result.Failure, s.Result.Figures = verdict, f, nil
	if verdict == results.NotRun {
		s.Result.Servers = nil
	}
	return s
}

func doubt(s results.Step, code results.WarningCode, format string, args ...any) results.Step {
	s.Result.Warnings = append(s.Result.Warnings, results.Warning{Code: code, Message: fmt.Sprintf(format, args...)})
	return s
}

func runOf(steps ...results.Step) *results.Run {
	run := &results.Run{Finished: true, Steps: steps, Manifest: results.Manifest{
		Format: 1, Bench: "v1.0.0", Scenario: "quickstart", Run: "20260102-030405", StartedAt: "2026-01-02T03:04:05Z",
		Description: "Three layouts at four concurrencies",
	}}
	for _, s := range steps {
		run.Manifest.Planned = append(run.Manifest.Planned, s.Result.Step)
		run.Manifest.Simulated = run.Manifest.Simulated || s.Result.Simulated
	}
	return run
}

// matrix is 3 variants x 4 points, interleaved as they would run.
func matrix() []results.Step {
	var steps []results.Step
	for _, c := range []int{1, 4, 16, 64} {
		for i, variant := range []string{"tp8", "tp2-pp4", "tp2x4"} {
			steps = append(steps, step(variant, c, 1, []float64{4, 3.5, 4.25}[i]))
		}
	}
	return steps
}

func simulateAll(steps []results.Step) []results.Step {
	for i, s := range steps {
		s.Result.Simulated = true
		s.Result.Servers[0].Launcher = "simulator"
		s.Result.Warnings = append(s.Result.Warnings,
			results.Warning{Code: results.WarnSimulated, Message: "simulated"})
		f := *figures(64, *s.Result.Asked.MaxConcurrency, []float64{5, 4, 5.5}[i%3])
		s.Result.Figures = &f
		doubt(s, results.WarnFewSamples, "too few samples for p99 TTFT (64 of 1000), p99 E2EL (64 of 1000)")
	}
	return steps
}

// runs are the synthetic runs of the golden files.
func runs() map[string]*results.Run {
	all := map[string]*results.Run{
		"ok":        runOf(step("tp8", 8, 1, 4), step("tp2-pp4", 8, 1, 3)),
		"matrix":    runOf(matrix()...),
		"simulated": runOf(simulateAll(matrix())...),
		"failures":  failuresRun(),
		"repeats":   repeatsRun(),
		"killed":    killedRun(),
		"mixed":     mixedRun(),
		"empty":     runOf(),
	}
	return all
}

func failuresRun() *results.Run {
	oom := results.Failf(results.FailOutOfMemory, "the server ended while loading: exit code 1")
	oom.ExitCode = new(1)
	oom.LogTail = []string{
		"INFO loading weights",
		"torch.OutOfMemoryError: HIP out of memory. Tried to allocate \x1b[31m2.00 GiB\x1b[0m",
		"Engine core | initialization failed", "exit",
	}
	requests := results.Failf(results.FailRequests,
		"3 of 2000 requests succeeded (at least 95 %% must); failures: connect 1997; first: connect: refused")
	mostly := step("tp2-pp4", 1, 1, 9)
	mostly.Result.Verdict, mostly.Result.Failure = results.Failed, requests
	mostly.Result.Figures.Completed, mostly.Result.Figures.Failed = 3, 1997
	suspect := step("tp2x4", 1, 1, 90)
	suspect.Result.Verdict = results.Suspect
	doubt(suspect, results.WarnClientLate,
		"requests were sent up to 50.0 ms later than intended (p99; 10 ms is the limit): the client was too slow")
	doubt(suspect, results.WarnFailures,
		"1 of 2000 requests failed and do not count in latencies and tokens: in-band-error 1")
	run := runOf(
		step("tp8", 1, 1, 4), mostly, suspect,
		fail(step("tp8", 8, 1, 4), results.Failed, oom), fail(step("tp2-pp4", 8, 1, 4), results.Failed, oom),
		fail(step("tp2x4", 8, 1, 4), results.NotRun,
			results.Failf(results.FailEarlier, "on-failure: skip-variant after tp2x4-c1-r1")),
		doubt(step("tp1_*odd*|name", 8, 1, 4), results.WarnPrefixCache,
			"12 prompt tokens (0.1 %%) came from the server's prefix cache"),
	)
	run.Events = []results.Event{{Seq: 1, Kind: results.LifeFailed, Step: "tp8-c8-r1", Life: "tp8-2", Failure: oom}}
	run.Problems = []string{"journal.jsonl:7: cut short"}
	return run
}

func repeatsRun() *results.Run {
	var steps []results.Step
	for repeat := 1; repeat <= 3; repeat++ {
		steps = append(steps, step("tp8", 8, repeat, 4+float64(repeat)/10), step("tp2x4", 8, repeat, 4.1),
			step("tp2-pp4", 8, repeat, 3+float64(repeat)/10))
	}
	for _, at := range []int{1, 4, 7} { // one life for all repeats
		steps[at].Result.Servers[0].Life = "tp2x4-1"
	}
	fail(steps[5], results.Failed,
		results.Failf(results.FailExited, "the server ended during the step: killed by signal 9"))
	steps[5].Result.Earlier = []results.Failure{{Class: results.FailPortInUse, Message: "port 8000: address in use"}}
	return runOf(steps...)
}

func killedRun() *results.Run {
	run := runOf(step("tp8", 1, 1, 4), fail(step("tp8", 8, 1, 4), results.NotRun,
		results.Failf(results.FailInterrupted, "the run ended during this step; 17 of its requests are on disk")),
		fail(step("tp2", 1, 1, 4), results.NotRun,
			results.Failf(results.FailInterrupted, "the run ended, or has not come to this step yet")),
		fail(step("tp2", 8, 1, 4), results.NotRun,
			results.Failf(results.FailInterrupted, "the run ended, or has not come to this step yet")))
	run.Steps[1].State, run.Steps[1].Records = results.StepInterrupted, 17
	run.Steps[2].State, run.Steps[3].State = results.StepPending, results.StepPending
	run.Finished = false
	run.Events = []results.Event{{Seq: 9, Kind: results.LifeReady, Step: "tp8-c8-r1", Life: "tp8-1"}}
	return run
}

// mixedRun has real and simulated rows, and a figure that nobody knows.
func mixedRun() *results.Run {
	steps := []results.Step{step("real-a", 8, 1, 4), step("real-b", 8, 1, 5)}
	steps = append(steps, simulateAll([]results.Step{step("sim", 8, 1, 50)})...)
	steps[0].Result.Figures.TotalOutputTokens, steps[0].Result.Figures.OutputThroughput = nil, nil
	steps[0].Result.Figures.TPOT = results.Dist{}
	doubt(steps[1], results.WarnMultiToken,
		"a chunk carries 2.50 tokens on average: ITL is the time between chunks, not between tokens")
	run := runOf(steps...)
	run.Manifest.Sets = []string{"num-prompts=2000", "vars.k=5"}
	return run
}

func print(t *testing.T, write func(*bytes.Buffer) error) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
