package harness

import (
	"context"
	"math"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// One replica runs with its share, is measured as it is, and the step says
// what it would be for four.
func TestExtrapolatedStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.Repeats, sc.Points = 1, sc.Points[:1]
		sc.Points[0].MaxConcurrency = 8
		sc.Variants[1].Extrapolate = 4
		run, _ := w.run(t.Context(), t, sc)
		if got, want := verdicts(run), []string{"a_c1_r1 ok", "b_c1_r1 ok"}; !slices.Equal(got, want) {
			t.Fatalf("verdicts = %q, want %q", got, want)
		}
		whole, one := run.Steps[0].Result, run.Steps[1].Result
		if whole.Extrapolated != nil || hasWarning(whole, results.WarnExtrapolated, "") {
			t.Errorf("the measured variant is extrapolated: %+v", whole.Extrapolated)
		}
		e := one.Extrapolated
		if e == nil || e.Factor != 4 || e.Share != 2 || e.DurationS != 0.25 ||
			*e.OutputThroughput != 4**one.Figures.OutputThroughput || *one.Figures.OutputThroughput != 16 {
			t.Fatalf("extrapolated = %+v, figures %+v; want four times the measured 16 tokens/s", e, one.Figures)
		}
		if !hasWarning(one, results.WarnExtrapolated, "one of 4 replicas ran, with a max concurrency of 2") {
			t.Errorf("warnings = %v, want one that says so", one.Warnings)
		}
		if *one.Asked.MaxConcurrency != 2 || w.options[1].MaxConcurrency != 2 || w.options[0].MaxConcurrency != 8 {
			t.Errorf("asked for %d, sent with %d and %d, want 2, 8 and 2", *one.Asked.MaxConcurrency,
				w.options[0].MaxConcurrency, w.options[1].MaxConcurrency)
		}
	})
}

// replicaWorld is a client that takes turns between replicas.
type replicaWorld struct {
	*world

	urls []string
}

func (w *replicaWorld) Run(ctx context.Context, o load.Options, prompts []load.Prompt,
	emit load.Emit,
) (results.ClientReport, error) {
	w.urls = o.Target.BaseURLs
	return w.world.Run(ctx, o, prompts, func(rec results.Record) error {
		rec.Replica = rec.Index % len(w.urls)
		return emit(rec)
	})
}

// Several replicas measured as one: one client, figures of each and of all
// over the common window.
func TestReplicasAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &replicaWorld{world: &world{}}
		w.runner = func(r *Runner) { r.Driver = w }
		sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.Repeats, sc.Variants, sc.Points = 1, sc.Variants[:1], sc.Points[:1]
		sc.Variants[0].Server.Replicas, sc.Points[0].NumPrompts = 2, 8
		run, _ := w.run(t.Context(), t, sc)
		result := run.Steps[0].Result
		if result.Verdict == results.Failed || len(result.Servers) != 2 || len(result.Replicas) != 2 ||
			len(w.urls) != 2 {
			t.Fatalf("%s: %d servers, %d replicas, client with %v; want 2: %v", result.Verdict, len(result.Servers),
				len(result.Replicas), w.urls, result.Failure)
		}
		sum, completed := 0.0, 0
		for _, r := range result.Replicas {
			sum += *r.Figures.OutputThroughput
			completed += r.Figures.Completed
			if r.Figures.DurationS != result.Figures.DurationS {
				t.Errorf("replica %d: window %g s, want the common one of %g s", r.Replica, r.Figures.DurationS,
					result.Figures.DurationS)
			}
		}
		if math.Abs(sum-*result.Figures.OutputThroughput) > 1e-9 || completed != result.Figures.Completed {
			t.Errorf("replicas: %g tokens/s and %d requests, all: %g and %d", sum, completed,
				*result.Figures.OutputThroughput, result.Figures.Completed)
		}
	})
}
