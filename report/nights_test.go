package report

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// A night of the simulation: two arms of five repeats, each a server life.
const (
	nightCount   = 100
	nightRepeats = 5
	lifeSpread   = 0.009  // of a start: all figures of a life move with it
	figureSpread = 0.0045 // of each figure by itself; 1 % in all
)

// nightStep is one repeat of an arm whose server is faster by a factor.
func nightStep(random *rand.Rand, run, variant string, repeat int, faster float64) *results.Result {
	speed := faster * (1 + lifeSpread*random.NormFloat64())
	around := func() float64 { return 1 + figureSpread*random.NormFloat64() }
	const n, ms = 2000, 0.001
	rate := 20 * speed * around()
	latency := func(mean float64, samples int) results.Dist {
		return results.Dist{
			N: samples, Mean: new(mean * ms / speed * around()), Median: new(mean * 0.9 * ms / speed * around()),
			Percentiles: []results.PercentileFigure{{P: 99, Value: new(mean * 2 * ms / speed * around() * around())}},
		}
	}
	r := step(variant, 16, repeat, 1).Result
	r.Run, r.Asked.DatasetSHA256 = run, fmt.Sprintf("%064d", repeat)
	r.Figures = &results.Figures{
		Asked: n, Completed: n, DurationS: n / rate, RequestThroughput: &rate, OutputThroughput: new(32 * rate),
		TotalTokenThroughput: new(160 * rate),
		TTFT:                 latency(60, n), TPOT: latency(12, n), ITL: latency(12, 31*n), E2EL: latency(440, n),
	}
	return r
}

// nightFolder writes a run folder as a run leaves it, less what reports do not
// read.
func nightFolder(t *testing.T, name string, steps []*results.Result) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	write := func(path string, v any) {
		t.Helper()
		data, err := json.Marshal(v)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, path), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	m := results.Manifest{
		Format: results.FormatVersion, Bench: "v1", Scenario: "night", Run: name,
		StartedAt: "2026-01-02T03:04:05Z",
	}
	for _, r := range steps {
		m.Planned = append(m.Planned, r.Step)
		write(filepath.Join("steps", r.Step.ID, results.ResultName), r)
	}
	write(results.ManifestName, m)
	if err := os.WriteFile(filepath.Join(dir, results.JournalName), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// nightSteps are the repeats of both arms, interleaved.
func nightSteps(random *rand.Rand, run string, faster float64) []*results.Result {
	var steps []*results.Result
	for repeat := 1; repeat <= nightRepeats; repeat++ {
		steps = append(steps, nightStep(random, run, "a", repeat, 1), nightStep(random, run, "b", repeat, faster))
	}
	return steps
}

// alarmed and found tell what a night says: that a figure got better or worse,
// and that it got better and none worse.
func alarmed(all []compare.Difference) (alarm, found bool) {
	for _, d := range all {
		alarm = alarm || d.Verdict == compare.Better || d.Verdict == compare.Worse
		found = found || d.Verdict == compare.Better
	}
	for _, d := range all {
		found = found && d.Verdict != compare.Worse
	}
	return alarm, found
}

// oneRun reads a night whose arms are variants of one run.
func oneRun(t *testing.T, random *rand.Rand, faster float64) []compare.Difference {
	t.Helper()
	run, err := store.Read(nightFolder(t, "night", nightSteps(random, "night", faster)))
	if err != nil {
		t.Fatal(err)
	}
	sets := versus.DifferencesBy(run, 50)
	if len(sets) != 1 {
		t.Fatalf("a night has %d comparisons, want 1", len(sets))
	}
	return sets[0].Differences
}

// twoRuns compares a night whose arms are two runs, as bench compare does.
func twoRuns(t *testing.T, random *rand.Rand, faster float64) []compare.Difference {
	t.Helper()
	var sides []versus.Side
	for _, side := range []struct {
		name   string
		faster float64
	}{{"monday", 1}, {"tuesday", faster}} {
		var steps []results.Step
		for repeat := 1; repeat <= nightRepeats; repeat++ {
			steps = append(steps, results.Step{Result: nightStep(random, side.name, "a", repeat, side.faster)})
		}
		sides = append(sides, versus.Side{Name: side.name, Run: runOf(steps...)})
	}
	c, err := versus.Compare(sides, versus.CompareOptions{Rounds: 50})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Others) != 1 || len(c.Others[0].Pairs) != 1 || c.Others[0].Pairs[0].NotCompared != "" {
		t.Fatalf("comparison = %+v", c.Others)
	}
	return c.Others[0].Pairs[0].Differences
}

// The whole way, from folders to verdicts: nights of two equal arms, and nights
// with a true difference of 3 %.
func TestNights(t *testing.T) {
	for name, read := range map[string]func(*testing.T, *rand.Rand, float64) []compare.Difference{
		"one run":  oneRun,
		"two runs": twoRuns,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, 2))
			quiet, found := 0, 0
			for range nightCount {
				if alarm, _ := alarmed(read(t, random, 1)); !alarm {
					quiet++
				}
				if _, ok := alarmed(read(t, random, 1.03)); ok {
					found++
				}
			}
			if quiet < 95 {
				t.Errorf("%d of %d nights with two equal arms end without a verdict of better or worse, want at least "+
					"95", quiet, nightCount)
			}
			if found < 80 {
				t.Errorf("a true difference of 3 %% is found in %d of %d nights, want at least 80", found, nightCount)
			}
			t.Logf("quiet %d, found %d", quiet, found)
		})
	}
}
