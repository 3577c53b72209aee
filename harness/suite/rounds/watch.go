package rounds

import (
	"context"
	"fmt"
	"os"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/harness/telemetry"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// watch samples this machine's GPUs beside the rounds: their memory, power and
// energy. Nil samples nothing.
type watch struct {
	source  *machine.Telemetry
	monitor *telemetry.Monitor
	folder  string // of samples; removed at the end
}

// openWatch begins to watch the GPUs of this machine. The server's processes are
// no strangers to them: nobody is looked for.
func openWatch(ctx context.Context, p machine.Process, inventory gpu.Inventory) (*watch, error) {
	here := machine.Here(inventory, "")
	if len(here.Devices) == 0 {
		return nil, nil
	}

	wish := scenarios.Telemetry{OnForeign: scenarios.ReactIgnore}
	source, err := p.OpenTelemetry(ctx, wish, inventory)
	if err != nil {
		return nil, fmt.Errorf("look for GPUs: %w", err)
	}
	folder, err := os.MkdirTemp("", "bench-suite-")
	if err != nil {
		_ = source.Close() // it only read
		return nil, fmt.Errorf("keep GPU readings: %w", err)
	}

	return &watch{
		source: source, folder: folder,
		monitor: newMonitor(source, here, wish),
	}, nil
}

func newMonitor(source telemetry.Source, here plan.Machine, wish scenarios.Telemetry) *telemetry.Monitor {
	return &telemetry.Monitor{Source: source, Scenario: &scenarios.Scenario{Telemetry: wish}, Machine: here}
}

func (w *watch) close() {
	if w == nil {
		return
	}
	_ = w.source.Close() // it only read
	_ = os.RemoveAll(w.folder)
}

// drive measures a round, with the GPUs read beside it.
func (w *watch) drive(ctx context.Context, job step.Job, result *results.Result) []results.Record {
	if w == nil {
		return step.DriveOneShot(ctx, job, result)
	}

	w.monitor.Begin(ctx, result.Step, w.folder, job.Servers, result)
	defer w.monitor.End()
	job.Watch = append(job.Watch, w.monitor.Observers()...)

	return step.DriveOneShot(ctx, job, result)
}
