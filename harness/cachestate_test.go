package harness

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

func TestCacheStateOfSteps(t *testing.T) {
	counted := func(share float64) func(*fakeServer) {
		return func(s *fakeServer) {
			s.extra[engines.PrefixQueries] += 10_000
			s.extra[engines.PrefixHits] += 10_000 * share
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
		{"a new server, then other prompts", scenarios.CacheCold, "simulator", true, nil, counted(0), [2]step{{results.OK, "new-server distinct-prompts"}, {results.OK, "distinct-prompts"}}, 0, false},
		{"the same prompts again get a salt", scenarios.CacheCold, "vllm", false, nil, counted(0), [2]step{{results.OK, "new-server distinct-prompts"}, {results.OK, "salt"}}, 0, true},
		{"or a reset", scenarios.CacheCold, "sglang", false, nil, counted(0), [2]step{{results.OK, "new-server distinct-prompts"}, {results.OK, "reset"}}, 1, false},
		{"which the counters do not confirm", scenarios.CacheCold, "sglang", false, nil, counted(0.5), [2]step{{results.Suspect, "new-server distinct-prompts"}, {results.Suspect, "reset"}}, 1, false},
		{"nothing works, and nothing tells", scenarios.CacheCold, "sglang", false, errors.New("busy"), nil, [2]step{{results.OK, "new-server distinct-prompts"}, {results.Suspect, ""}}, 1, false},
		{"no prompts kept at all", scenarios.CacheCold, "llamacpp", false, nil, nil, [2]step{{results.OK, "new-server distinct-prompts cache-prompt-off"}, {results.OK, "cache-prompt-off"}}, 0, false},
		{"warm", scenarios.CacheWarm, "simulator", true, nil, counted(0.9), [2]step{{results.OK, "sent-before"}, {results.OK, "sent-before"}}, 0, false},
		{"not warm", scenarios.CacheWarm, "simulator", true, nil, counted(0), [2]step{{results.Suspect, "sent-before"}, {results.Suspect, "sent-before"}}, 0, false},
		{"any", scenarios.CacheAny, "simulator", false, nil, counted(0.9), [2]step{{results.OK, ""}, {results.OK, ""}}, 0, false},
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
						t.Errorf("step %d: %s by %q (%+v, %v), want %s by %q", i+1, r.Verdict, got, *r.Cache, r.Failure, want.verdict, want.how)
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
				salted := slices.ContainsFunc(w.options, func(o load.Options) bool { return o.Target.Body["cache_salt"] != nil })
				if salted != tt.salted {
					t.Errorf("salted = %t, want %t", salted, tt.salted)
				}
			})
		})
	}
}

func TestSharedShare(t *testing.T) {
	text := func(all ...string) (out []load.Prompt) {
		for _, s := range all {
			out = append(out, load.Prompt{Text: s})
		}
		return out
	}
	tests := []struct {
		name  string
		in    []load.Prompt
		want  float64
		known bool
	}{
		{"nothing in common", text("abcd", "efgh"), 0, true},
		{"half in common", text("abcd", "abef"), 0.25, true},
		{"the same twice", text("abcd", "abcd"), 0.5, true},
		{"a prefix of all", text("abxx", "abyy", "abzz"), 4.0 / 12, true},
		{"ids", []load.Prompt{{TokenIDs: []int{1, 2, 3, 4}}, {TokenIDs: []int{1, 2, 9, 9}}}, 0.25, true},
		{"none", nil, 0, true},
		{"conversations", []load.Prompt{{Text: "a", Turns: []load.Turn{{Text: "b"}}}}, 0, false},
	}
	for _, tt := range tests {
		if got, known := sharedShare(tt.in); math.Abs(got-tt.want) > 1e-9 || known != tt.known {
			t.Errorf("%s: sharedShare = %g, %t, want %g, %t", tt.name, got, known, tt.want, tt.known)
		}
	}
}

func TestFoundCold(t *testing.T) {
	prompts := []load.Prompt{{Text: "abcd"}, {Text: "efgh"}}
	tests := []struct {
		name      string
		api       string
		records   int
		hits      float64
		ok, known bool
	}{
		{"none", "completions", 2, 0, true, true},
		{"a per cent and the special tokens", "completions", 2, 14, true, true},
		{"more", "completions", 2, 15, false, true},
		{"chat templates begin alike", "chat", 2, 138, true, true},
		{"more than those", "chat", 2, 139, false, true},
		{"prompts sent round and round find themselves", "completions", 5, 500, false, false},
	}
	for _, tt := range tests {
		j := LoadJob{Prompts: prompts}
		ok, known := j.foundCold(results.Asked{API: tt.api}, pass{records: make([]results.Record, tt.records)}, tt.hits, 1000)
		if ok != tt.ok || known != tt.known {
			t.Errorf("%s: foundCold = %t, %t, want %t, %t", tt.name, ok, known, tt.ok, tt.known)
		}
	}
}

func TestCacheFiguresFromUsage(t *testing.T) {
	rec := func(cached, input int) results.Record {
		return results.Record{CachedTokens: &cached, InputTokens: &input}
	}
	failed := results.Record{Failure: results.Failf(results.FailStall, "")}
	hits, queries, how := cacheFigures(pass{records: []results.Record{rec(3, 10), failed, rec(0, 20)}})
	if hits != 3 || queries != 30 || how != "usage" {
		t.Errorf("cacheFigures = %g, %g, %q, want 3, 30, usage", hits, queries, how)
	}
	in := 10
	if _, _, how := cacheFigures(pass{records: []results.Record{rec(3, 10), {InputTokens: &in}}}); how != "" {
		t.Errorf("cacheFigures of answers that do not all tell = %q, want nothing", how)
	}
}
