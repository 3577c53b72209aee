package telemetry

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/results"
)

// fakeNodes are nodes by name, with as many GPUs; one below 0 cannot be reached.
type fakeNodes map[string]int

func (f fakeNodes) Sample(ctx context.Context, node string, found func([]device.Device),
	emit func(time.Time, results.TelemetrySample),
) error {
	if f[node] < 0 {
		return errors.New("no route")
	}
	found(make([]device.Device, f[node]))
	emit(time.Now(), results.TelemetrySample{Host: &results.HostReading{}})
	<-ctx.Done()
	return nil
}

// The GPUs of other nodes count as far as the server uses them; the reason says what
// is not known. All nodes are waited for, but not one that fails.
func TestSampledNodes(t *testing.T) {
	for name, tt := range map[string]struct {
		nodes fakeNodes
		want  string // part of the reason; "": there is none
	}{
		"all":         {fakeNodes{"n2": 4, "n3": 8}, ""},
		"too few":     {fakeNodes{"n2": 4, "n3": 3}, "node n3 has 3 of the 4 GPUs"},
		"unreachable": {fakeNodes{"n2": -1, "n3": 4}, "node n2 could not be sampled: no route"},
		"no source":   {nil, "not sampled: n2, n3"},
	} {
		t.Run(name, func(t *testing.T) {
			servers := []results.Server{{GPUs: []int{0, 1, 2, 3}, Nodes: []string{"n1", "n2", "n3"}}}
			w := newWatcher([]string{"n2", "n3"})
			if tt.nodes != nil {
				w.watchNodes(t.Context(), tt.nodes, []string{"n2", "n3"})
				<-w.ready
			}
			w.endNodes()

			nodes, why := w.sampledNodes(servers)
			if (tt.want == "") != (why == "") || !strings.Contains(why, tt.want) {
				t.Errorf("sampledNodes() gives the reason %q, want %q", why, tt.want)
			}
			for _, n := range nodes {
				if len(n.Devices) > 4 {
					t.Errorf("node %s counts with %d GPUs, and the server uses 4", n.Name, len(n.Devices))
				}
			}
		})
	}
}

// Of a node with components, the GPUs count that they were placed on.
func TestSampledNodesOfComponents(t *testing.T) {
	n := &watchedNode{name: "n2", devices: []device.Device{{Index: 0}, {Index: 4}, {Index: 5}, {Index: 6}}}
	w := &watcher{nodes: []*watchedNode{n}}
	servers := []results.Server{
		{Component: "prefill", GPUs: []int{0}},
		{Component: "decode", GPUs: []int{4}, Node: "n2"},
		{Component: "decode", GPUs: []int{6}, Node: "n2"},
	}
	nodes, why := w.sampledNodes(servers)
	if why != "" || len(nodes) != 1 || len(nodes[0].Devices) != 2 || nodes[0].Devices[1].Index != 6 {
		t.Errorf("sampledNodes() = %+v, %q, want GPUs 4 and 6 of n2", nodes, why)
	}
	servers[2].GPUs = []int{7}
	if _, why := w.sampledNodes(servers); !strings.Contains(why, "has 1 of the 2 GPUs") {
		t.Errorf("sampledNodes() without GPU 7 gives the reason %q", why)
	}
}

// fakeHost is a Source that reads the host once.
type fakeHost struct{ at time.Time }

func (f fakeHost) Holders(context.Context) ([]results.GPUHolder, error) { return nil, nil }
func (f fakeHost) Stop() SamplingCost                                   { return SamplingCost{} }

func (f fakeHost) Start(_ context.Context, emit func(time.Time, results.TelemetrySample)) Sampling {
	emit(f.at, results.TelemetrySample{Host: &results.HostReading{CPUBusy: new(0.25)}})
	return f
}

// What is read before the pass does not count.
func TestWatchHost(t *testing.T) {
	zero := time.Now()
	for at, want := range map[time.Duration]bool{-time.Second: false, time.Second: true} {
		got := WatchHost(t.Context(), fakeHost{zero.Add(at)}, "client1", nil)(zero, 2)
		if got.Node != "client1" || (got.Host != nil) != want || want && *got.Host.CPUBusyMean != 0.25 {
			t.Errorf("read at %v: WatchHost() = %+v, want a host: %v", at, got, want)
		}
	}
}
