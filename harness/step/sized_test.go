package step

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// lengthTeller is a server of which only what it says about itself counts.
type lengthTeller struct {
	Server

	info results.Server
}

// Abilities implements Server.
func (lengthTeller) Abilities() Abilities { return Abilities{} }

func (s lengthTeller) Info() results.Server { return s.info }

func TestSized(t *testing.T) {
	of := func(n int64) lengthTeller {
		return lengthTeller{info: results.Server{Startup: &results.Startup{ContextLen: &n}}}
	}
	for _, c := range []struct {
		name    string
		point   scenarios.Load
		server  lengthTeller
		want    int // 0: the dataset's own
		problem string
	}{
		{"a length", scenarios.Load{InputLen: 5}, lengthTeller{}, 5, ""},
		{"the dataset's own", scenarios.Load{}, lengthTeller{}, 0, ""},
		{"what the context leaves", scenarios.Load{ContextReserve: 2048}, of(16384), 14336, ""},
		{"nothing left", scenarios.Load{ContextReserve: 2048}, of(2048), 0, "the server's max-model-len is 2048"},
		{"not told", scenarios.Load{ContextReserve: 2048}, lengthTeller{}, 0, "does not say its max-model-len"},
	} {
		var result results.Result
		l, err := sized(c.point, c.server, &result)
		if c.problem != "" {
			failure := results.AsFailure(err, results.FailInternal)
			if err == nil || failure.Class != results.FailDataset || !strings.Contains(failure.Message, c.problem) {
				t.Errorf("%s: sized = %v, want a failure of the dataset with %q", c.name, err, c.problem)
			}
			continue
		}
		noted := 0
		if result.Asked.InputLen != nil {
			noted = *result.Asked.InputLen
		}
		if err != nil || l.InputLen != c.want || noted != c.want {
			t.Errorf("%s: sized = %d, %v, noted %d, want %d", c.name, l.InputLen, err, noted, c.want)
		}
	}
}
