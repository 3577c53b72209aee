package plan_test

import (
	"testing"

	"github.com/benchrig/bench/harness/plan"
)

// A command can be copied from one line, whatever its words hold.
func TestCommandLineIsOneLine(t *testing.T) {
	server := plan.PlannedServer{Argv: []string{"vllm", "serve", "it's", "a\nb\x1b[31m"}}
	server.Env = map[string]string{"X": "a b"}
	const want = `X='a b' vllm serve 'it'\''s' $'a\nb\033[31m'`
	if got := plan.CommandLine(server); got != want {
		t.Errorf("CommandLine() = %s, want %s", got, want)
	}
}
