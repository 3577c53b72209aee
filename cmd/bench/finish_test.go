package main

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/benchrig/bench/harness/machine"
)

// Words of servers and tools in an error do not reach the terminal as control
// sequences.
func TestErrorIsClean(t *testing.T) {
	var out bytes.Buffer
	code := finish(env{Process: machine.Process{Stderr: &out}, stdout: io.Discard},
		errors.New("before\x1b]52;c;ZXZpbA==\x07\x1b[2Jafter\u009b31m"))
	if got := out.String(); got != "bench: beforeafter\n" || code == exitOK {
		t.Errorf("finish prints %q, code %d, want the words without the sequences", got, code)
	}
}
