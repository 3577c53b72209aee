package gpu

import (
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/fakegpu"
)

func indicesOf(devices []device.Device) []int {
	indices := []int{}
	for _, d := range devices {
		indices = append(indices, d.Index)
	}
	return indices
}

func TestLimitsOfVariables(t *testing.T) {
	nvidia, amd := machineWith(device.NVIDIA, "H100", "H100", "H100", "H100"), machineWith(device.AMD, "MI300X",
		"MI300X", "MI300X", "MI300X")
	nvidia.GPUs[1].UUID = "GPU-1111"
	nvidia.GPUs[2].Parts = []device.Part{{Name: "3g.40gb", UUID: "MIG-aaaa"}}
	for _, c := range []struct {
		name    string
		machine Inventory
		env     map[string]string
		want    []int
		by      string
		parts   int
	}{
		{"no variable", nvidia, nil, []int{0, 1, 2, 3}, "", 0},
		{
			"indices", nvidia,
			map[string]string{"CUDA_VISIBLE_DEVICES": "2,3"},
			[]int{2, 3},
			"CUDA_VISIBLE_DEVICES=2,3 leaves GPUs 2, 3", 0,
		},
		{
			"UUID", nvidia,
			map[string]string{"CUDA_VISIBLE_DEVICES": "GPU-1111"},
			[]int{1},
			"CUDA_VISIBLE_DEVICES=GPU-1111 leaves GPU 1", 0,
		},
		{
			"MIG", nvidia,
			map[string]string{"CUDA_VISIBLE_DEVICES": "MIG-aaaa"},
			[]int{2},
			"CUDA_VISIBLE_DEVICES=MIG-aaaa leaves GPU 2", 1,
		},
		{
			"none", nvidia,
			map[string]string{"CUDA_VISIBLE_DEVICES": ""},
			[]int{},
			"CUDA_VISIBLE_DEVICES= leaves no GPU",
			0,
		},
		{"another vendor's", nvidia, map[string]string{"HIP_VISIBLE_DEVICES": "1"}, []int{0, 1, 2, 3}, "", 0},
		{"all named", nvidia, map[string]string{"CUDA_VISIBLE_DEVICES": "0,1,2,3"}, []int{0, 1, 2, 3}, "", 0},
		{"HIP", amd, map[string]string{"HIP_VISIBLE_DEVICES": "3"}, []int{3}, "HIP_VISIBLE_DEVICES=3 leaves GPU 3", 0},
		{
			"ROCr", amd,
			map[string]string{"ROCR_VISIBLE_DEVICES": "1,2"},
			[]int{1, 2},
			"ROCR_VISIBLE_DEVICES=1,2 leaves GPUs 1, 2", 0,
		},
		{
			"CUDA's for HIP", amd,
			map[string]string{"CUDA_VISIBLE_DEVICES": "1"},
			[]int{1},
			"CUDA_VISIBLE_DEVICES=1 leaves GPU 1", 0,
		},
	} {
		got := LimitsOf(c.env, device.Options{Root: t.TempDir()}, c.machine)
		if !slices.Equal(indicesOf(got.Devices), c.want) || len(got.Parts) != c.parts {
			t.Errorf("%s: GPUs %v, %d parts, want %v, %d", c.name, indicesOf(got.Devices), len(got.Parts),
				c.want, c.parts)
		}
		if by := got.String(); len(got.By) > 0 != (c.by != "") || c.by != "" && by != c.by {
			t.Errorf("%s: bounded by %q, want %q", c.name, by, c.by)
		}
	}
}

// A container or a scheduler's cgroup leaves some of the GPUs' files; variables
// count within these.
func TestLimitsOfDeviceFiles(t *testing.T) {
	amd := Inventory{GPUs: []device.Device{{Vendor: device.AMD, PCI: "0000:05:00.0"}, {
		Vendor: device.AMD, Index: 1,
		PCI: "0000:26:00.0",
	}, {Vendor: device.AMD, Index: 2, PCI: "0000:46:00.0"}}}
	files := map[string]string{
		"sys/bus/pci/devices/0000:05:00.0/drm/renderD128/dev": "226:128",
		"sys/bus/pci/devices/0000:26:00.0/drm/renderD129/dev": "226:129",
		"sys/bus/pci/devices/0000:46:00.0/drm/renderD130/dev": "226:130", "dev/dri/renderD129": "",
		"dev/dri/renderD130": "",
	}
	root := fakegpu.Tree(t, files)
	got := LimitsOf(nil, device.Options{Root: root}, amd)
	if want := []int{1, 2}; !slices.Equal(indicesOf(got.Devices), want) || !strings.Contains(got.String(),
		"permissions of the GPUs' files in /dev leaves GPUs 1, 2") {
		t.Errorf("GPUs %v, %q, want %v", indicesOf(got.Devices), got, want)
	}
	got = LimitsOf(map[string]string{"HIP_VISIBLE_DEVICES": "0"}, device.Options{Root: root}, amd)
	if want := []int{1}; !slices.Equal(indicesOf(got.Devices), want) {
		t.Errorf("with HIP_VISIBLE_DEVICES=0: GPUs %v, want the first that can be opened, %v",
			indicesOf(got.Devices), want)
	}

	nvidia := Inventory{GPUs: []device.Device{
		{Vendor: device.NVIDIA, PCI: "0000:05:00.0"},
		{Vendor: device.NVIDIA, Index: 1, PCI: "0000:26:00.0"},
	}}
	root = fakegpu.Tree(t, map[string]string{
		"proc/driver/nvidia/gpus/0000:05:00.0/information": "Model: \t\t H100\nDevice Minor: \t 3\n",
		"proc/driver/nvidia/gpus/0000:26:00.0/information": "Model: \t\t H100\nDevice Minor: \t 4\n", "dev/nvidia4": "",
	})
	if got := LimitsOf(nil, device.Options{Root: root}, nvidia); !slices.Equal(indicesOf(got.Devices), []int{1}) {
		t.Errorf("GPUs %v, want [1]", indicesOf(got.Devices))
	}
}
