package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// searchRun is a run with a search of a server that answers in 10 ms a request
// in flight.
func searchRun(limit float64, loads ...int) *results.Run {
	run := &results.Run{Finished: true}
	run.Manifest = results.Manifest{
		Scenario: "s", Run: "r", Variants: []string{"a", "b"},
		Search: &results.SearchPolicy{
			Metric: results.SearchConcurrency, From: 1, To: 64, Steps: 12, Tolerance: 0.05,
			Targets: []results.Condition{{Figure: "p99_ttft_ms", Op: "<=", Value: limit}},
		},
	}
	for i, c := range loads {
		ref := results.StepRef{
			ID: fmt.Sprintf("a_search-%d_r1", i+1), Variant: "a",
			Point: fmt.Sprintf("search-%d", i+1), Repeat: 1, Attempt: 1,
		}
		f := &results.Figures{Asked: 20, Completed: 20, DurationS: 1}
		f.TTFT.Percentiles = []results.PercentileFigure{{P: 99, Value: new(0.01 * float64(c))}}
		run.Manifest.Planned = append(run.Manifest.Planned, ref)
		run.Steps = append(run.Steps, results.Step{State: results.StepDone, Attempt: 1, Result: &results.Result{
			Step: ref, Verdict: results.OK, Asked: results.Asked{MaxConcurrency: new(c)}, Figures: f,
		}})
	}
	return run
}

// A client that was the limit hides what the server can bear.
func TestLimitIsALowerBoundWhereTheClientWasTheLimit(t *testing.T) {
	run := searchRun(205, 1, 4, 16, 64, 32, 23, 19, 21, 20, 20, 21)
	for i := range run.Steps[:10] {
		run.Steps[i] = doubt(run.Steps[i], results.WarnClientLimit, "the client was the limit")
	}

	const want = "a meets the targets up to at least 20 requests in flight (missed at 21; 1 search; the client was the " +
		"limit in 10 of 11 steps, so the server may handle more)."
	if got := strings.Join(searchStanding(run).Lines, "\n"); !strings.Contains(got, want) {
		t.Errorf("verdict %q lacks %q", got, want)
	}
}

// A table of searches names the class of a failure, whose words are elsewhere, and a
// limit at which the queue grew says so.
func TestSearchDoubts(t *testing.T) {
	failed := searchRun(1, 1)
	r := failed.Steps[0].Result
	r.Verdict = results.Failed
	r.Failure = results.Failf(results.FailRequests, "2 of 4 requests succeeded: 400 Bad Request")
	behind := searchRun(205, 1, 4, 16, 64, 32, 23, 19, 21, 20, 20, 21)
	behind.Manifest.Search.Metric = results.SearchRate
	for _, s := range behind.Steps {
		rate := float64(*s.Result.Asked.MaxConcurrency)
		s.Result.Asked.RequestRate = &rate
		s.Result.Figures.Steady = &results.SteadyState{N: 100, RequestThroughput: rate / 2}
	}

	for _, tt := range []struct {
		run           *results.Run
		want, without string
	}{
		{failed, "the lowest load, 1, missed the targets (requests-failed)", "400 Bad Request"},
		{behind, "at 20 req/s the targets were met, but the server answered only 10 req/s", "none"},
	} {
		p := table.NewPrinter(table.Options{Width: 300})
		p.Pieces(differenceParts(tt.run))
		text := strings.Join(searchStanding(tt.run).Lines, "\n") + p.String()
		if !strings.Contains(text, tt.want) || strings.Contains(text, tt.without) {
			t.Errorf("want %q, and nothing of %q, in:\n%s", tt.want, tt.without, text)
		}
	}
}

func TestSearchReport(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  *results.Run
		want []string
	}{
		{"found", searchRun(205, 1, 4, 16, 64, 32, 23, 19, 21, 20, 20, 21), []string{
			"a meets the targets up to 20 requests in flight (missed at 21; 1 search).",
			"The highest max-concurrency from 1 to 64 requests in flight at which p99_ttft_ms <= 205.",
			"a, repeat 1: 11 steps", "once more before it counts",
			"highest max-concurrency that met the targets: 20 requests in flight; 21 missed them",
		}},
		{
			"nothing meets them", searchRun(1, 1),
			[]string{"a: not within 1 to 64: the lowest load, 1, missed the targets."},
		},
		{"cut off", searchRun(205, 1, 4), []string{"a: no limit found; the run ended before the search did."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			for _, line := range searchStanding(tt.run).Lines {
				b.WriteString(line + "\n")
			}
			p := table.NewPrinter(table.Options{Width: 300})
			p.Pieces(differenceParts(tt.run))
			text := b.String() + p.String()
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("the report lacks %q:\n%s", want, text)
				}
			}
		})
	}
}

// nullRun has two arms of one configuration whose throughputs are given.
func nullRun(a, b []float64) *results.Run {
	run := &results.Run{Finished: true}
	run.Manifest = results.Manifest{
		Scenario: "s", Run: "r", Variants: []string{"a", "a+again"}, Points: []string{"c1"},
		NullTest: "a+again",
	}
	for k, values := range [][]float64{a, b} {
		name := run.Manifest.Variants[k]
		for i, v := range values {
			run.Steps = append(run.Steps, results.Step{State: results.StepDone, Attempt: 1, Result: &results.Result{
				Step: results.StepRef{ID: fmt.Sprintf("%s_c1_r%d", name, i+1), Variant: name, Point: "c1", Repeat: i +
					1, Attempt: 1}, Verdict: results.OK,
				Figures: &results.Figures{Asked: 8, Completed: 8, DurationS: 1, OutputThroughput: new(v)},
			}})
		}
	}
	return run
}

func TestNullTestReport(t *testing.T) {
	draw := func(run *results.Run) string {
		p := table.NewPrinter(table.Options{Width: 300})
		p.Pieces(nullTestParts(run))
		return p.String()
	}
	noise := draw(nullRun([]float64{100, 101, 99, 100}, []float64{100.5, 99, 101, 100}))
	if !strings.Contains(noise, "output tok/s") || strings.Contains(noise, "WARNING") {
		t.Errorf("two arms alike: %s", noise)
	}
	alarm := draw(nullRun([]float64{100, 101, 99, 100}, []float64{80, 81, 79, 80}))
	if !strings.Contains(alarm, "WARNING: two variants of one configuration differ: output_throughput at c1 -20.00 %") {
		t.Errorf("two arms that differ: %s", alarm)
	}
	if draw(&results.Run{}) != "" {
		t.Error("a run without a null test has one in its report")
	}
}
