package step

import (
	"testing"

	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
)

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
