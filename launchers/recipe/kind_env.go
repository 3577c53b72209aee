package recipe

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/gpu/device"
)

// visibilityVariables decide which GPUs a process sees. A recipe with assigned GPUs
// leaves them to us: HIP and CUDA index into what ROCR leaves over, so two of
// them set together can hide every GPU.
func visibilityVariables() []string {
	return []string{device.HIPVisible, device.CUDAVisible, device.ROCRVisible, gpuOrdinal, device.CUDAOrder}
}

const gpuOrdinal = "GPU_DEVICE_ORDINAL" // HIP's older variable

// WithoutVisibility is an environment without the variables by which a program sees
// its GPUs.
func WithoutVisibility(env map[string]string) map[string]string {
	env = maps.Clone(env)
	for _, name := range visibilityVariables() {
		delete(env, name)
	}
	return env
}

// Assemble joins argv with the environment of the recipe: what every server
// gets, what the kind sets (own) and removes (unset), and the recipe's own
// variables, which win over all but the GPUs' visibility.
func Assemble(s Spec, argv []string, own map[string]string, unset ...string) (Command, error) {
	visible, hidden, err := visibility(s)
	if err != nil {
		return Command{}, err
	}

	env := HygieneSet()
	maps.Copy(env, own)
	for _, name := range s.Unset {
		delete(env, name)
	}

	for name, value := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return Command{}, fmt.Errorf("env: %q=%q cannot be set: a name holds no =, and neither contains a NUL byte",
				name, value)
		}
		env[name] = value
	}

	maps.Copy(env, visible)
	gone := slices.Concat(HygieneUnset(), unset, s.Unset, hidden)
	gone = slices.DeleteFunc(gone, func(name string) bool {
		_, set := env[name]
		return set || slices.Contains(s.Inherit, name)
	})

	slices.Sort(gone)
	return Command{Argv: argv, Env: env, Unset: slices.Compact(gone)}, nil
}

// visibility gives the server its GPUs and no others. No assignment (nil)
// leaves the inherited variables alone; an empty one hides all GPUs.
func visibility(s Spec) (set map[string]string, unset []string, err error) {
	if s.GPUs == nil {
		return nil, nil, nil
	}

	for _, name := range visibilityVariables() {
		_, byHand := s.Env[name]
		if byHand || slices.Contains(s.Unset, name) || slices.Contains(s.Inherit, name) {
			return nil, nil, fmt.Errorf("env: %s is set by bench for assigned GPUs: name the devices in gpus:, or "+
				"say gpus: none and set it alone", name)
		}
	}

	list, err := GPUList(s.GPUs)
	if err != nil {
		return nil, nil, err
	}
	if list == "" {
		list = "-1" // no such device: CUDA and HIP both end the list there
	}
	if s.Vendor == device.AMD {
		return map[string]string{device.HIPVisible: list},
			[]string{device.CUDAVisible, device.ROCRVisible, gpuOrdinal}, nil
	}

	// Our indices are in PCI order, CUDA's own default is fastest first.
	return map[string]string{device.CUDAVisible: list, device.CUDAOrder: device.PCIOrder},
		[]string{device.HIPVisible, device.ROCRVisible, gpuOrdinal}, nil
}

// GPUList is "0,1" for the devices 0 and 1.
func GPUList(gpus []int) (string, error) {
	texts := make([]string, 0, len(gpus))
	for i, gpu := range gpus {
		if gpu < 0 || slices.Contains(gpus[:i], gpu) {
			return "", fmt.Errorf("gpus: %v is not a list of different device indices", gpus)
		}
		texts = append(texts, strconv.Itoa(gpu))
	}
	return strings.Join(texts, ","), nil
}
