package recipe

import (
	"fmt"
	"slices"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// Place gives each of replicas servers perReplica GPUs of its own, in order:
// the first server the first devices. allowed lists the devices to choose
// from, nil stands for all machineCount devices of the machine. A perReplica of 0
// leaves visibility alone: every set is nil. The error is a
// *results.Failure of class FailNoGPU, or FailBadRecipe for a wrong list.
func Place(perReplica, replicas int, allowed []int, machineCount int) ([][]int, error) {
	if perReplica < 0 || replicas < 1 {
		return nil, results.Failf(results.FailBadRecipe, "gpus: invalid placement: %d GPUs for each of %d servers",
			perReplica,
			replicas)
	}

	sets := make([][]int, replicas)
	if perReplica == 0 {
		return sets, nil
	}

	devices, failure := choosable(allowed, machineCount)
	if failure != nil {
		return nil, failure
	}
	if need := perReplica * replicas; need > len(devices) {
		return nil, results.Failf(results.FailNoGPU, "needs %s, %s", needed(perReplica, replicas),
			seen(allowed, machineCount))
	}

	for i := range sets {
		sets[i] = slices.Clone(devices[i*perReplica : (i+1)*perReplica])
	}

	return sets, nil
}

// choosable checks the list of devices against the machine.
func choosable(allowed []int, machineCount int) ([]int, *results.Failure) {
	if allowed == nil {
		devices := make([]int, max(machineCount, 0))
		for i := range devices {
			devices[i] = i
		}
		return devices, nil
	}

	for i, device := range allowed {
		if slices.Contains(allowed[:i], device) {
			return nil, results.Failf(results.FailBadRecipe, "gpus: %d is listed twice in %v", device, allowed)
		}
		if device < 0 || device >= machineCount {
			return nil, results.Failf(results.FailNoGPU, "gpus: there is no GPU %d: %s", device,
				seen(nil, machineCount))
		}
	}

	return allowed, nil
}

func needed(perReplica, replicas int) string {
	if replicas == 1 {
		return text.Count(perReplica, "GPU")
	}
	return fmt.Sprintf("%s (%d for each of %d replicas)", text.Count(perReplica*replicas, "GPU"), perReplica, replicas)
}

func seen(allowed []int, machineCount int) string {
	machine := "none detected"
	if machineCount > 0 {
		machine = fmt.Sprintf("this machine has %d (0 to %d)", machineCount, machineCount-1)
	}
	if allowed == nil {
		return machine
	}
	return fmt.Sprintf("gpus: allows %d %v and %s", len(allowed), allowed, machine)
}
