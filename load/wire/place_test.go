package wire

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/internal/cpus"
	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/results"
)

// TestLoopsArePlaced: the loops run where they should, and say where they cannot.
func TestLoopsArePlaced(t *testing.T) {
	loadtest.OnSockets(t)
	here, err := cpus.Here()
	if err != nil {
		t.Fatal(err)
	}
	last := here.Allowed[len(here.Allowed)-1]
	for _, c := range []struct {
		name    string
		place   Place
		refused string
	}{
		{"a CPU", Place{CPUs: []int{last}, Nice: 1}, ""},
		{"a CPU that is not there", Place{CPUs: []int{1023}}, "run on CPUs 1023"},
	} {
		client, server := tcpPair(t)
		ls := loops{place: c.place}
		conn, err := newSocketConn(client, &ls)
		if err != nil {
			t.Fatal(err)
		}
		conn.stamps = newStamper(StartClock())
		var on cpus.Topology
		conn.drive(stepFunc(func() bool {
			on, _ = cpus.Here() // of the loop's thread
			return true
		}))
		if _, err := server.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		conn.finished()
		conn.Close()
		ls.close()

		var r results.ClientReport
		ls.describe(&r)
		if r.PinnedCPUs != cpus.Set(c.place.CPUs).String() || r.Nice != c.place.Nice ||
			!strings.Contains(r.PlaceRefused, c.refused) || (r.PlaceRefused == "") != (c.refused == "") {
			t.Errorf("%s: report %q, %d, %q", c.name, r.PinnedCPUs, r.Nice, r.PlaceRefused)
		}
		if c.refused == "" && on.Allowed.String() != r.PinnedCPUs {
			t.Errorf("%s: the loop may use CPUs %s, want %s", c.name, on.Allowed, r.PinnedCPUs)
		}
	}
}
