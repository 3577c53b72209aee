package detail

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// A code of a file that anybody wrote is not part of a command that a user copies.
func TestAdviceHasKnownCodesOnly(t *testing.T) {
	t.Parallel()
	r := &results.Result{
		Verdict: results.Suspect,
		Failure: &results.Failure{Class: "x; rm -rf ~", Message: "m"},
		Warnings: []results.Warning{
			{Code: results.WarnBuffered, Message: "m"},
			{Code: "$(reboot)", Message: "m"},
			{Code: "few-samples\nsudo reboot", Message: "m"},
		},
	}
	var out strings.Builder
	if err := Remarks(&out, r, table.Options{}); err != nil {
		t.Fatal(err)
	}

	var commands []string
	for line := range strings.Lines(out.String()) {
		if _, command, ok := strings.Cut(line, "What to do: "); ok {
			commands = append(commands, strings.TrimSpace(command))
		}
	}
	if got, want := strings.Join(commands, "|"), "bench explain buffered"; got != want {
		t.Errorf("the commands are %q, want %q", got, want)
	}
}
