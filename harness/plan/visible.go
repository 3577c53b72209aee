package plan

import (
	"maps"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/scenarios"
)

// VisibleTo are the GPUs that a server of a variant sees which is not placed on
// some: those that the variables of its environment leave of the machine. notes
// say where the variables cannot tell.
func (b Machine) VisibleTo(kind engines.Kind, v scenarios.Variant) (devices []device.Device, notes []string) {
	if kind.External || b.Granted != nil || len(b.Devices) == 0 { // it is not known, or a scheduler has decided
		return b.Devices, nil
	}

	env := maps.Clone(b.Visibility)
	if env == nil || container.Options(v.Server.Container).Contained() { // a container inherits nothing
		env = map[string]string{}
	}

	for _, name := range gpu.VisibilityVariables() {
		value, given := v.Server.Env[name]
		switch {
		case given && value.Unset:
			delete(env, name)
		case given && value.Inherit: // as it is
		case given:
			env[name] = value.Value
		}
	}

	if len(env) == 0 {
		return b.Devices, nil
	}

	return gpu.VisibleTo(env, gpu.Inventory{GPUs: b.Devices})
}
