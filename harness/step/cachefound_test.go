package step

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
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

// llama-server is told to keep no prompts, except between the turns of a conversation.
func TestColdCacheOfLlamaServer(t *testing.T) {
	single := load.Prompt{Text: "a"}
	conversation := load.Prompt{Text: "a", Turns: []load.Turn{{Text: "b"}}}
	off := map[string]any{"cache_prompt": false}
	for _, tt := range []struct {
		name   string
		prompt load.Prompt
		state  scenarios.PrefixCache
		own    map[string]any // body that the scenario asks for
		body   any
		how    string
	}{
		{"single prompts", single, scenarios.CacheCold, nil, false, "new-server distinct-prompts cache-prompt-off"},
		{"conversations", conversation, scenarios.CacheCold, nil, nil, "new-server distinct-prompts"},
		{
			"conversations, as the scenario wants it", conversation, scenarios.CacheCold, off, false,
			"new-server distinct-prompts cache-prompt-off",
		},
		{"any", single, scenarios.CacheAny, nil, nil, ""},
	} {
		point := scenarios.Load{PrefixCache: tt.state}
		point.Body = tt.own
		job := Job{Prompts: []load.Prompt{tt.prompt}}
		job.Options.Body = map[string]any{"cache_prompt": false}
		servers := []Server{infoServer{info: results.Server{Launcher: "llamacpp"}}}
		if err := (&Preparer{}).askCache(t.Context(), point, Request{Servers: servers}, &job); err != nil {
			t.Fatal(err)
		}
		if how := strings.Join(job.Cache.How, " "); job.Options.Body["cache_prompt"] != tt.body || how != tt.how {
			t.Errorf("%s: cache_prompt %v, %q, want %v, %q", tt.name, job.Options.Body["cache_prompt"], how, tt.body,
				tt.how)
		}
	}
}
