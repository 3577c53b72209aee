package harness

import (
	"context"
	"testing"

	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// starvedDriver is a client that has no core in its first passes: written is when
// it wrote its requests, starved for how long a thread of it waited.
type starvedDriver struct {
	*world

	passes, until    int
	written, starved float64 // seconds
}

func (d *starvedDriver) Run(ctx context.Context, o load.Options, prompts []load.Prompt, emit load.Emit,
) (results.ClientReport, error) {
	d.passes++
	written, starved := 0.0, 0.0001
	if d.passes <= d.until {
		written, starved = d.written, d.starved
	}
	report, err := d.world.Run(ctx, o, prompts, func(r results.Record) error {
		r.WrittenS = &written
		return emit(r)
	})
	report.StarvedMaxS = &starved
	return report, err
}

// TestStarvedPassIsRepeated: a pass whose client had no core for so long that a
// figure may have moved is repeated at once on the same servers, within retries. One whose
// figures are right, or that is in doubt for another reason, stands.
func TestStarvedPassIsRepeated(t *testing.T) {
	for _, c := range []struct {
		name             string
		until, retries   int
		written, starved float64
		want             results.Verdict
		passes           int
	}{
		{"once", 1, 2, 0.1, 0.3, results.OK, 2},
		{"to the last retry", 9, 2, 0.1, 0.3, results.Suspect, 3},
		{"without retries", 9, 0, 0.1, 0.3, results.Suspect, 1},
		{"figures are right", 9, 2, 0.0001, 0.3, results.OK, 1},
		{"had its core", 9, 2, 0.1, 0.2, results.Suspect, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			sc := testScenario(scenarios.Grouped, scenarios.RestartVariant)
			sc.Repeats, sc.Retries, sc.Variants, sc.Points = 1, c.retries, sc.Variants[:1], sc.Points[:1]
			d := &starvedDriver{world: &world{}, until: c.until, written: c.written, starved: c.starved}
			d.runner = func(r *Runner) { r.Driver = d }
			run, _ := d.run(t.Context(), t, sc)
			r := run.Steps[0].Result
			if r.Verdict != c.want || d.passes != c.passes || d.launches != 1 || len(r.Earlier) != c.passes-1 {
				t.Errorf("%s after %d passes on %d launches, %v; want %s after %d", r.Verdict, d.passes, d.launches,
					r.Earlier, c.want, c.passes)
			}
			for _, earlier := range r.Earlier {
				if earlier.Class != results.FailStarved {
					t.Errorf("an earlier attempt ended with %s, want %s", earlier.Class, results.FailStarved)
				}
			}
		})
	}
}
