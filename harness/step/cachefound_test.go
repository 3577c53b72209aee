package step

import (
	"math"
	"testing"

	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
)

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
		j := Job{Prompts: prompts}
		ok, known := j.foundCold(results.Asked{API: tt.api}, Pass{records: make([]results.Record, tt.records)},
			tt.hits, 1000)
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
	hits, queries, how := cacheFigures(Pass{records: []results.Record{rec(3, 10), failed, rec(0, 20)}})
	if hits != 3 || queries != 30 || how != "usage" {
		t.Errorf("cacheFigures = %g, %g, %q, want 3, 30, usage", hits, queries, how)
	}
	in := 10
	if _, _, how := cacheFigures(Pass{records: []results.Record{rec(3, 10), {InputTokens: &in}}}); how != "" {
		t.Errorf("cacheFigures of answers that do not all tell = %q, want nothing", how)
	}
}
