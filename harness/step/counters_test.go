package step

import (
	"context"
	"testing"

	"github.com/benchrig/bench/results"
)

// counted is a server with counters.
type counted struct {
	Server

	info results.Server
}

func (c counted) Info() results.Server { return c.info }

func (counted) Counters(context.Context) (map[string]float64, error) {
	return map[string]float64{"requests": 1}, nil
}

// A reverse proxy before several servers shows the counters of one of them: they are
// not its own. A program that is the server itself has its own.
func TestCountersOfAProxyAreNotItsOwn(t *testing.T) {
	t.Parallel()
	part := counted{info: results.Server{Launcher: "llamacpp", Inner: true}}
	proxy := counted{info: results.Server{Launcher: "command"}}
	engine := counted{info: results.Server{Launcher: "sglang"}}
	for name, c := range map[string]struct {
		servers []Server
		want    []bool
	}{
		"proxy":  {[]Server{part, part, proxy}, []bool{true, true, false}},
		"engine": {[]Server{part, engine}, []bool{true, true}},
		"alone":  {[]Server{proxy}, []bool{true}},
	} {
		for i, got := range counters(t.Context(), c.servers) {
			if (got != nil) != c.want[i] {
				t.Errorf("%s: counters of server %d = %v, want some: %v", name, i, got, c.want[i])
			}
		}
	}
}
