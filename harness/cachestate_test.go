package harness

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

func TestCacheStateOfSteps(t *testing.T) {
	counted := func(share float64) func(*fakeServer) {
		return func(s *fakeServer) {
			s.extra[scrape.PrefixQueries] += 10_000
			s.extra[scrape.PrefixHits] += 10_000 * share
		}
	}
	type step struct {
		verdict results.Verdict
		how     string
	}
	tests := []struct {
		name     string
		asked    scenarios.PrefixCache
		launcher string
		vary     bool
		resetErr error
		count    func(*fakeServer) // by every pass
		want     [2]step           // of variant a
		resets   int
		salted   bool
	}{
		{
			"a new server, then other prompts", scenarios.CacheCold, "simulator", true, nil, counted(0),
			[2]step{{results.OK, "new-server distinct-prompts"}, {results.OK, "distinct-prompts"}},
			0, false,
		},
		{
			"the same prompts again get a salt", scenarios.CacheCold, "vllm", false, nil, counted(0),
			[2]step{{results.OK, "new-server distinct-prompts"}, {results.OK, "salt"}},
			0, true,
		},
		{
			"or a reset", scenarios.CacheCold, "sglang", false, nil, counted(0),
			[2]step{{results.OK, "new-server distinct-prompts"}, {results.OK, "reset"}},
			1, false,
		},
		{
			"which the counters do not confirm", scenarios.CacheCold, "sglang", false, nil, counted(0.5),
			[2]step{{results.Suspect, "new-server distinct-prompts"}, {results.Suspect, "reset"}},
			1, false,
		},
		{
			"nothing works, and nothing tells", scenarios.CacheCold, "sglang", false, errors.New("busy"), nil,
			[2]step{{results.OK, "new-server distinct-prompts"}, {results.Suspect, ""}},
			1, false,
		},
		{
			"no prompts kept at all", scenarios.CacheCold, "llamacpp", false, nil, nil,
			[2]step{{results.OK, "new-server distinct-prompts cache-prompt-off"}, {results.OK, "cache-prompt-off"}},
			0,
			false,
		},
		{"warm", scenarios.CacheWarm, "simulator", true, nil, counted(0.9), [2]step{
			{results.OK, "sent-before"},
			{results.OK, "sent-before"},
		}, 0, false},
		{"not warm", scenarios.CacheWarm, "simulator", true, nil, counted(0), [2]step{
			{results.Suspect, "sent-before"},
			{results.Suspect, "sent-before"},
		}, 0, false},
		{
			"any", scenarios.CacheAny, "simulator", false, nil, counted(0.9),
			[2]step{{results.OK, ""}, {results.OK, ""}},
			0, false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
				sc.Repeats, sc.Variants = 1, sc.Variants[:1]
				sc.Variants[0].Server.Launcher = tt.launcher
				for i := range sc.Points {
					sc.Points[i].PrefixCache = tt.asked
					sc.Points[i].Dataset.Vary = tt.vary
					sc.Points[i].Dataset.TokenIDs, sc.Points[i].Dataset.VocabSize = true, 1000
				}
				w := &world{resetErr: tt.resetErr, counted: tt.count != nil}
				w.drive = func(_ context.Context, _ int, s *fakeServer) error {
					if tt.count != nil {
						tt.count(s)
					}
					return nil
				}
				run, _ := w.run(t.Context(), t, sc)
				for i, want := range tt.want {
					r := run.Steps[i].Result
					if got := strings.Join(r.Cache.How, " "); r.Verdict != want.verdict || got != want.how {
						t.Errorf("step %d: %s by %q (%+v, %v), want %s by %q", i+1, r.Verdict, got, *r.Cache, r.Failure,
							want.verdict, want.how)
					}
				}
				resets := 0
				for _, line := range w.story {
					if strings.HasPrefix(line, "reset") {
						resets++
					}
				}
				if resets != tt.resets {
					t.Errorf("%d resets, want %d", resets, tt.resets)
				}
				salted := slices.ContainsFunc(w.options, func(o load.Options) bool {
					return o.Body["cache_salt"] != nil
				})
				if salted != tt.salted {
					t.Errorf("salted = %t, want %t", salted, tt.salted)
				}
			})
		})
	}
}
