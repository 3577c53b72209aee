package machine

import (
	"context"
	"errors"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/harness/hooks"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/scenarios"
)

// Hooks runs hooks, checks and notifications of a scenario; dir is the folder
// of its results.
func (p Process) Hooks(sc *scenarios.Scenario, machine plan.Machine, dir string) *hooks.Runner {
	return &hooks.Runner{
		Environ: p.Environ, Dir: sc.Dir, DiskDir: dir, Redact: recipe.Redactor(sc.Secrets),
		GPUs: p.GPUStates(gpu.Inventory{GPUs: machine.Devices}),
	}
}

// GPUStates gives checks one reading of the GPUs of an inventory.
func (p Process) GPUStates(inventory gpu.Inventory) hooks.GPUs {
	return gpuStates{options: p.GPUOptions(), inventory: inventory}
}

type gpuStates struct {
	options   device.Options
	inventory gpu.Inventory
}

// States implements hooks.GPUs.
func (g gpuStates) States(ctx context.Context) ([]hooks.GPUState, error) {
	samplers, _, err := gpu.Samplers(ctx, g.options, g.inventory, "auto")
	if err != nil {
		return nil, err
	}

	var out []hooks.GPUState
	for _, s := range samplers {
		readings, readErr := s.Read(ctx)
		err = errors.Join(err, readErr, s.Close())
		for _, r := range readings {
			out = append(out, g.state(r))
		}
	}

	if len(out) > 0 {
		return out, nil // what could not be read is missing from the states
	}

	return nil, err
}

func (g gpuStates) state(r device.Reading) hooks.GPUState {
	state := hooks.GPUState{Device: r.Device, PowerLimitW: r.PowerLimitW}
	for _, d := range g.inventory.GPUs {
		if d.ID() != r.Device {
			continue
		}
		total, used := d.VRAMBytes, r.VRAMUsedBytes
		if total == nil { // memory shared with the CPU
			total, used = d.GTTBytes, r.GTTUsedBytes
		}
		if total != nil && used != nil {
			state.FreeBytes = new(*total - *used)
		}
	}
	return state
}
