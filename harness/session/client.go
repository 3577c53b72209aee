package session

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/harness/telemetry"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/agent"
	"github.com/benchrig/bench/load/agent/remote"
	"github.com/benchrig/bench/load/calibrate"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// Client is the load client in this process. Its reports carry what is known of
// its limits on this machine.
type Client struct {
	calibration *results.Calibration
	place       load.Place // of the threads that read
}

// NewClient reads the stored calibration of this machine; w gets a warning where
// that fails.
func NewClient(w io.Writer) Client {
	calibration, err := calibrate.Stored()
	if err != nil {
		fmt.Fprintf(w, "warning: %v\n", err)
	}
	return Client{calibration: calibration}
}

// Run implements step.Driver.
func (d Client) Run(ctx context.Context, o load.Options, prompts []load.Prompt, emit load.Emit) (results.ClientReport,
	error,
) {
	o.Place = d.place
	report, err := load.Run(ctx, o, prompts, emit)
	report.Calibration = d.calibration
	return report, err
}

// WatchHost samples the host of a load agent. Its GPUs are looked for before the
// first pass; where that fails, the host has none.
func WatchHost(p machine.Process, name string) agent.Watch {
	var source *machine.Telemetry
	var devices []device.Device
	return func(ctx context.Context) func(time.Time, float64) results.NodeTelemetry {
		if source == nil {
			inventory, err := gpu.Detect(ctx, p.GPUOptions())
			if err != nil {
				inventory = gpu.Inventory{}
			}
			devices = inventory.GPUs
			wish := scenarios.Telemetry{Sampler: "auto", Period: agentPeriod}
			if source, err = p.OpenTelemetry(ctx, wish, inventory); err != nil {
				return nil
			}
		}
		return telemetry.WatchHost(ctx, source, name, devices)
	}
}

// agentPeriod is how often an agent reads its GPUs: seldom, since it sends load.
const agentPeriod = time.Second

// Agents are load agents, connected. The caller closes them.
func Agents(ctx context.Context, p machine.Process, places []agent.Place) (step.Driver, error) {
	d := &agent.Driver{Version: p.Version, Places: places}
	if err := d.Connect(ctx); err != nil {
		d.Close()
		return nil, err
	}
	fmt.Fprintf(p.Stderr, "load agents: %s\n", strings.Join(d.Hosts(), ", "))
	return d, nil
}

// CloseClient ends the agents of a client that has some.
func CloseClient(d step.Driver) {
	if agents, ok := d.(*agent.Driver); ok && agents != nil {
		agents.Close()
	}
}

// client is the load client of a scenario, connected; the caller closes it.
// Authorities that cannot be read are refused before an agent starts.
func client(ctx context.Context, p machine.Process, sc *scenarios.Scenario, where plan.Machine,
) (step.Driver, error) {
	c := sc.Client
	if !c.Elsewhere() {
		d := NewClient(p.Stderr)
		place, _ := plan.ClientPlace(sc, where)
		d.place = load.Place{CPUs: place.CPUs, Nice: place.Nice}
		return d, nil
	}

	for _, v := range sc.Variants {
		if _, _, err := step.TLSConfig(v.Server.TLS.CA, v.Server.TLS.Insecure); err != nil {
			return nil, usage.Errorf("variant %s: %w", v.Name, err)
		}
	}

	var places []agent.Place
	for _, host := range c.Hosts {
		place, err := remote.Host(host, c.Bench, c.Copy)
		if err != nil {
			return nil, usage.Mark(err)
		}
		places = append(places, place)
	}
	for i, argv := range c.Commands {
		places = append(places, remote.Command(fmt.Sprintf("command-%d", i+1), argv))
	}

	return Agents(ctx, p, places)
}
