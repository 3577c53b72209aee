package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/internal/output"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// nodeLine is a line of what "bench sweep --sample" prints: first the GPUs of the
// node that the job was given, then samples.
type nodeLine struct {
	Devices *[]device.Device         `json:"devices,omitempty"`
	Sample  *results.TelemetrySample `json:"sample,omitempty"`
}

// PrintSamples reads GPUs and host of this node until KillSignal comes, ctx ends or
// nobody reads what it prints.
func PrintSamples(ctx context.Context, p machine.Process, w io.Writer) error {
	ctx, stop := signal.NotifyContext(ctx, KillSignal, unix.SIGINT, unix.SIGTERM)
	defer stop()

	inventory, err := gpu.Detect(ctx, p.GPUOptions())
	if err != nil {
		return fmt.Errorf("look for GPUs: %w", err)
	}
	inventory = grantedTo(p)(inventory)
	source, err := p.OpenTelemetry(ctx, scenarios.Telemetry{Sampler: "auto"}, inventory)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // it only read

	out := json.NewEncoder(w)
	found := append([]device.Device{}, inventory.GPUs...)
	if err := out.Encode(nodeLine{Devices: &found}); err != nil {
		return err
	}

	var failed error // set by emit alone, read after Stop
	sampling := source.Start(context.WithoutCancel(ctx), func(_ time.Time, s results.TelemetrySample) {
		if err := out.Encode(nodeLine{Sample: &s}); err != nil && failed == nil {
			failed = err
			stop()
		}
	})
	<-ctx.Done()
	sampling.Stop()
	return failed
}

// longestSample is more than a sample of a node's GPUs takes, in bytes.
const longestSample = 1 << 20

// lastReading is how long a node gets to take its last reading and end.
const lastReading = 20 * time.Second

// Sample implements telemetry.NodeSource, by srun. A sample counts as read when it
// arrives: there is one clock.
func (n nodeSweeper) Sample(ctx context.Context, node string, found func([]device.Device),
	emit func(at time.Time, sample results.TelemetrySample),
) error {
	over, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastReading, end) })()

	cmd := sweepCommand(over, n.self, append(onlyOn(node), "--unbuffered"), "--sample")
	lines := output.Lines{Most: longestSample, Do: func(line string) {
		var l nodeLine
		switch err := json.Unmarshal([]byte(line), &l); {
		case err != nil: // a note of the site
		case l.Devices != nil:
			found(*l.Devices)
		case l.Sample != nil:
			emit(time.Now(), *l.Sample)
		}
	}}
	var stderr output.Head
	cmd.Stdout, cmd.Stderr = lines.Writer(), &stderr

	err := runAndForwardKill(cmd, ctx.Done())
	if ctx.Err() != nil {
		return nil // however it ended, it was no longer needed
	}
	if err == nil {
		err = errors.New("it was not asked to")
	}
	return fmt.Errorf("srun bench sweep --sample ended: %w: %s", err, stderr.String())
}
