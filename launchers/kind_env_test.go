package launchers

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVisibility(t *testing.T) {
	tests := []struct {
		name   string
		gpus   []int
		vendor string
		set    map[string]string
		unset  []string
	}{
		{"not assigned", nil, "amd", nil, nil},
		{"amd", []int{2, 3}, "amd", map[string]string{"HIP_VISIBLE_DEVICES": "2,3"}, []string{"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"}},
		{"nvidia", []int{0}, "nvidia", map[string]string{"CUDA_VISIBLE_DEVICES": "0", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, []string{"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"}},
		{"unknown vendor", []int{1, 0}, "", map[string]string{"CUDA_VISIBLE_DEVICES": "1,0", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, []string{"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"}},
		{"none at all", []int{}, "amd", map[string]string{"HIP_VISIBLE_DEVICES": "-1"}, []string{"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"}},
	}
	for _, test := range tests {
		set, unset, err := visibility(Spec{GPUs: test.gpus, Vendor: test.vendor})
		if err != nil {
			t.Errorf("%s: visibility: %v", test.name, err)
		}
		if diff := cmp.Diff(test.set, set); diff != "" {
			t.Errorf("%s: set differs (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(test.unset, unset); diff != "" {
			t.Errorf("%s: unset differs (-want +got):\n%s", test.name, diff)
		}
	}
}

// Every kind that starts a server gives it the common variables and its GPUs,
// and leaves to the recipe what the recipe decides.
func TestCommonEnvironment(t *testing.T) {
	for _, kind := range All() {
		if kind.External {
			continue
		}
		spec := Spec{
			Launcher: kind.Name, Model: "org/m", Binary: []string{"prog"}, Command: []string{"prog"}, GPUs: []int{1}, Vendor: "amd",
			Env: map[string]string{"NO_COLOR": "0", "WORLD_SIZE": "1"}, Unset: []string{"SPT_NOENV", "HF_HUB_OFFLINE"},
		}
		command, err := kind.Command(spec)
		if err != nil {
			t.Errorf("%s: %v", kind.Name, err)
			continue
		}
		want := map[string]string{"PYTHONUNBUFFERED": "1", "NO_COLOR": "0", "WORLD_SIZE": "1", "HIP_VISIBLE_DEVICES": "1"}
		for name, value := range want {
			if command.Env[name] != value {
				t.Errorf("%s: env %s = %q, want %q", kind.Name, name, command.Env[name], value)
			}
		}
		if _, ok := command.Env["SPT_NOENV"]; ok {
			t.Errorf("%s: SPT_NOENV is set although the recipe removes it", kind.Name)
		}
		for _, name := range []string{"SPT_NOENV", "HF_HUB_OFFLINE", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "VLLM_*"} {
			if !matchesAny(name, command.Unset) {
				t.Errorf("%s: %s is not removed: %v", kind.Name, name, command.Unset)
			}
		}
		if matchesAny("WORLD_SIZE", command.Unset) {
			t.Errorf("%s: WORLD_SIZE is removed although the recipe sets it", kind.Name)
		}
	}
}
