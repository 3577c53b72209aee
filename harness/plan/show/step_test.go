package show

import (
	"testing"

	"github.com/benchrig/bench/results"
)

// What is counted and rated are prompts, or conversations and sessions of several.
func TestDescribe(t *testing.T) {
	for want, dataset := range map[string]string{
		"4 random prompts, 2 requests/s":     "random",
		"4 recorded sessions, 2 sessions/s":  "sessions",
		"4 conversations, 2 conversations/s": "conversation",
	} {
		got := describe(results.Asked{Dataset: dataset, NumPrompts: 4, RequestRate: new(2.0), Endpoint: "/v1"}, false)
		if got != want+", POST /v1" {
			t.Errorf("%s: %q, want %q", dataset, got, want)
		}
	}
}
