package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/results"
)

// Words of servers and tools do not reach the terminal as control sequences.
func TestProgressIsClean(t *testing.T) {
	var out bytes.Buffer
	e := env{Process: machine.Process{Stderr: &out}, stdout: io.Discard}
	p := newProgress(e, zerolog.New(io.Discard), "results/x")
	evil := "before\x1b]52;c;ZXZpbA==\x07\x1b[2Jafter\u009b31m"
	p.observe(status.Update{Kind: status.LifeFailed, Failure: results.Failf(results.FailExited, "%s", evil)})
	p.observe(status.Update{Kind: status.StepSettling, Message: evil})
	finish(e, errors.New(evil))

	if got := out.String(); strings.ContainsAny(got, "\x1b\x07\u009b") || strings.Count(got, "beforeafter") != 3 {
		t.Errorf("progress and error print %q, want the words without the sequences", got)
	}
}
