package direct

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/load/vllmcli"
	"github.com/benchrig/bench/results"
)

// A server that does not answer yet is asked again; an agent that is lost says
// nothing of the server and ends the wait.
func TestUntilReady(t *testing.T) {
	t.Parallel()
	refused := results.Failf(results.FailConnect, "refused")
	lost := results.Failf(results.FailAgent, "agent far: nothing was heard of it")
	for name, c := range map[string]struct {
		answers []error
		want    string // "": ready
	}{
		"at the third": {[]error{refused, refused, nil}, ""},
		"never":        {[]error{refused}, "not ready within 5 s: connect: refused"},
		"lost agent":   {[]error{refused, lost, nil}, "load-agent: agent far"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var stderr bytes.Buffer
				tries := 0
				err := untilReady(t.Context(), machine.Process{Stderr: &stderr}, &vllmcli.Flags{ReadyTimeoutS: 5},
					func(context.Context) error {
						tries++
						return c.answers[min(tries, len(c.answers))-1]
					})
				if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("untilReady() = %v, want %q", err, c.want)
				}
				if failure, ok := errors.AsType[*results.Failure](err); err != nil && !ok {
					t.Errorf("the class is lost: %v, %v", failure, err)
				}
			})
		})
	}
}
