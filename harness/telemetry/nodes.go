package telemetry

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/telemetry"
	"github.com/benchrig/bench/results"
)

// watchedNode is another node of the servers of a step.
type watchedNode struct {
	name    string
	devices []device.Device // that the run may use there
	err     error           // why nothing is known, or not all
}

// otherNodes names the nodes of servers that are not this one, where they can be
// sampled.
func (m *Monitor) otherNodes(servers []step.Server) []string {
	if m.Nodes == nil {
		return nil
	}
	var infos []results.Server
	for _, s := range servers {
		infos = append(infos, s.Info())
	}
	return namesElsewhere(infos)
}

func namesElsewhere(servers []results.Server) []string {
	var names []string
	for _, s := range servers {
		for _, name := range s.Nodes[min(1, len(s.Nodes)):] {
			names = text.AppendNew(names, name)
		}
		if s.Node != "" {
			names = text.AppendNew(names, s.Node)
		}
	}
	return names
}

// watchNodes begins to sample other nodes.
func (w *watcher) watchNodes(ctx context.Context, source NodeSource, names []string) {
	ctx, cancel := context.WithCancel(ctx)
	var sampling sync.WaitGroup
	for _, name := range names {
		n := &watchedNode{name: name}
		w.nodes = append(w.nodes, n)
		sampling.Go(func() {
			n.err = source.Sample(ctx, name, func(found []device.Device) { n.devices = found },
				func(at time.Time, s results.TelemetrySample) {
					s.Node = name
					w.take(at, s)
				})
			w.mu.Lock()
			defer w.mu.Unlock()
			w.answered(name) // one that failed is not waited for
		})
	}

	w.endNodes = func() {
		cancel()
		sampling.Wait()
	}
}

// sampledNodes are the nodes whose GPUs count with those of this one, as many of
// each as the server has here. why says why that is not all.
func (w *watcher) sampledNodes(servers []results.Server) (nodes []telemetry.WatchedNode, why string) {
	var unknown []string
	for _, name := range namesElsewhere(servers) {
		at := slices.IndexFunc(w.nodes, func(n *watchedNode) bool { return n.name == name })
		if at < 0 {
			unknown = append(unknown, name)
			continue
		}

		n := w.nodes[at]
		devices, used := usedElsewhere(servers, n)
		nodes = append(nodes, telemetry.WatchedNode{Name: name, Devices: devices})
		switch {
		case n.err != nil:
			why = fmt.Sprintf("GPUs of node %s could not be sampled: %v", name, n.err)
		case len(devices) < used:
			why = fmt.Sprintf("node %s has %d of the %d GPUs that the server uses there", name, len(devices), used)
		}
	}

	if len(unknown) > 0 {
		why = "GPUs of the server's other nodes are not sampled: " + strings.Join(unknown, ", ")
	}
	return nodes, why
}

// watchedElsewhere are GPUs of another host as the figures want them: how they
// are at rest is not known here.
func watchedElsewhere(devices []device.Device) []telemetry.WatchedDevice {
	return (&Monitor{Machine: plan.Machine{Devices: devices}}).watchedDevices(devices, "")
}

// usedElsewhere are the GPUs of a node that servers use, and how many these must be:
// those of the components there by index, or as many as the server over the node has
// on its first one.
func usedElsewhere(servers []results.Server, n *watchedNode) (devices []telemetry.WatchedDevice, count int) {
	var placed []int
	for _, s := range servers {
		switch {
		case s.Node == n.name:
			placed = append(placed, s.GPUs...)
		case slices.Contains(s.Nodes, n.name):
			count = len(s.GPUs)
			return watchedElsewhere(n.devices)[:min(count, len(n.devices))], count
		}
	}

	used := slices.DeleteFunc(slices.Clone(n.devices), func(d device.Device) bool {
		return !slices.Contains(placed, d.Index)
	})
	return watchedElsewhere(used), len(placed)
}

// WatchHost samples a host and its GPUs beside one pass. The function that it
// returns ends that and computes the figures of the pass, which began at zero and
// lasted so many seconds.
func WatchHost(ctx context.Context, source Source, name string,
	devices []device.Device,
) (end func(zero time.Time, lastedS float64) results.NodeTelemetry) {
	var samples []timedSample
	sampling := source.Start(ctx, func(at time.Time, s results.TelemetrySample) {
		s.Node = name
		samples = append(samples, timedSample{at, s})
	})

	return func(zero time.Time, lastedS float64) results.NodeTelemetry {
		cost := sampling.Stop()
		node := telemetry.WatchedNode{Name: name, Devices: watchedElsewhere(devices)}
		return telemetry.OfNode(func(yield func(results.TelemetrySample) bool) {
			for _, s := range samples {
				s.AtS = s.at.Sub(zero).Seconds()
				if !yield(s.TelemetrySample) {
					return
				}
			}
		}, node, telemetry.Watched{PeriodS: cost.Period.Seconds(), ToS: lastedS})
	}
}
