package progress

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/results"
)

// Words of servers and tools do not reach the terminal as control sequences.
func TestProgressIsClean(t *testing.T) {
	var out bytes.Buffer
	p := New(&out, false, zerolog.New(io.Discard), "results/x", nil)
	evil := "before\x1b]52;c;ZXZpbA==\x07\x1b[2Jafter\u009b31m"
	p.Observe(status.Update{Kind: status.LifeFailed, Failure: results.Failf(results.FailExited, "%s", evil)})
	p.Observe(status.Update{Kind: status.StepSettling, Message: evil})
	if got := out.String(); strings.ContainsAny(got, "\x1b\x07\u009b") || strings.Count(got, "beforeafter") != 2 {
		t.Errorf("progress prints %q, want the words without the sequences", got)
	}
}
