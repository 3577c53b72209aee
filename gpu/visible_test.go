package gpu

import (
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/gpu/device"
)

func machineWith(vendor string, names ...string) Inventory {
	var machine Inventory
	for i, name := range names {
		machine.GPUs = append(machine.GPUs, device.Device{Index: i, Vendor: vendor, Name: name, UUID: "GPU-" +
			strings.Repeat(string(rune('a'+i)), 8) + "-1", VRAMBytes: new(int64(1 << 30))})
	}
	return machine
}

func TestVisibleTo(t *testing.T) {
	nvidia := machineWith(device.NVIDIA, "H100", "H100", "H100", "H100")
	mixed := machineWith(device.NVIDIA, "RTX 3090", "RTX 5090")
	amd := machineWith(device.AMD, "MI300X", "MI300X", "MI300X", "MI300X", "MI300X", "MI300X", "MI300X", "MI300X")
	mig := machineWith(device.NVIDIA, "H100", "H100")
	mig.GPUs[1].Parts = []device.Part{{Name: "3g.40gb", UUID: "MIG-1"}, {Index: 1, Name: "2g.20gb", UUID: "MIG-2"}}
	tests := []struct {
		name    string
		env     map[string]string
		machine Inventory
		want    []int
		note    string // part of the only note; "" none
	}{
		{"nothing set", nil, nvidia, []int{0, 1, 2, 3}, ""},
		{"indices, equal cards", map[string]string{"CUDA_VISIBLE_DEVICES": "2,0"}, nvidia, []int{2, 0}, ""},
		{"indices, spaces", map[string]string{"CUDA_VISIBLE_DEVICES": " 1 , 3"}, nvidia, []int{1, 3}, ""},
		{
			"indices, different cards",
			map[string]string{"CUDA_VISIBLE_DEVICES": "0"},
			mixed,
			[]int{0},
			"counts by speed",
		},
		{
			"indices in PCI order",
			map[string]string{"CUDA_VISIBLE_DEVICES": "0", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"},
			mixed,
			[]int{0},
			"",
		},
		{"UUID, different cards", map[string]string{"CUDA_VISIBLE_DEVICES": "GPU-bbbbbbbb-1"}, mixed, []int{1}, ""},
		{"beginning of a UUID", map[string]string{"CUDA_VISIBLE_DEVICES": "GPU-bbb,GPU-aaaa"}, nvidia, []int{1, 0}, ""},
		{"none", map[string]string{"CUDA_VISIBLE_DEVICES": ""}, nvidia, nil, ""},
		{"-1", map[string]string{"CUDA_VISIBLE_DEVICES": "-1"}, nvidia, nil, ""},
		{"-1 hides what follows", map[string]string{"CUDA_VISIBLE_DEVICES": "0,-1,1"}, nvidia, []int{0}, ""},
		{"beyond the last", map[string]string{"CUDA_VISIBLE_DEVICES": "1,9,0"}, nvidia, []int{1}, `"9" names none`},
		{"twice", map[string]string{"CUDA_VISIBLE_DEVICES": "1,1"}, nvidia, nil, "twice"},
		{"a UUID of another box", map[string]string{"CUDA_VISIBLE_DEVICES": "GPU-ffffffff"}, nvidia, nil, "names none"},
		{"MIG", map[string]string{"CUDA_VISIBLE_DEVICES": "MIG-2"}, mig, []int{1}, "2g.20gb"},
		{"old MIG", map[string]string{"CUDA_VISIBLE_DEVICES": "MIG-GPU-bbbbbbbb-1/1/0"}, mig, []int{1}, "whole GPU"},
		{"index of a divided GPU", map[string]string{"CUDA_VISIBLE_DEVICES": "1"}, mig, []int{1}, "first part"},
		{"HIP's on NVIDIA", map[string]string{"HIP_VISIBLE_DEVICES": "1"}, nvidia, []int{0, 1, 2, 3}, ""},
		{
			"Vulkan",
			map[string]string{"GGML_VK_VISIBLE_DEVICES": "1"},
			nvidia,
			[]int{0, 1, 2, 3},
			"uses Vulkan's own numbers",
		},
		{
			"Vulkan with one GPU",
			map[string]string{"GGML_VK_VISIBLE_DEVICES": "0"},
			machineWith(device.AMD, "8060S"),
			[]int{0},
			"",
		},

		{"HIP", map[string]string{"HIP_VISIBLE_DEVICES": "4,5"}, amd, []int{4, 5}, ""},
		{"CUDA's on AMD", map[string]string{"CUDA_VISIBLE_DEVICES": "6"}, amd, []int{6}, ""},
		{
			"HIP before CUDA's",
			map[string]string{"HIP_VISIBLE_DEVICES": "3", "CUDA_VISIBLE_DEVICES": "6"},
			amd,
			[]int{3},
			"",
		},
		{"ROCr", map[string]string{"ROCR_VISIBLE_DEVICES": "7,2"}, amd, []int{7, 2}, ""},
		{"ROCr by id", map[string]string{"ROCR_VISIBLE_DEVICES": "GPU-cccccccc-1"}, amd, []int{2}, ""},
		{
			"HIP inside of ROCr",
			map[string]string{"ROCR_VISIBLE_DEVICES": "4,5,6,7", "HIP_VISIBLE_DEVICES": "1,3"},
			amd,
			[]int{5, 7},
			"",
		},
		{
			"both set, nothing left",
			map[string]string{"ROCR_VISIBLE_DEVICES": "4", "HIP_VISIBLE_DEVICES": "4"},
			amd, nil,
			"leaves no GPU",
		},
		{"no GPUs", map[string]string{"CUDA_VISIBLE_DEVICES": "0"}, Inventory{}, nil, ""},
	}
	for _, test := range tests {
		devices, notes := VisibleTo(test.env, test.machine)
		var got []int
		for _, device := range devices {
			got = append(got, device.Index)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: VisibleTo(%v) = %v, want %v", test.name, test.env, got, test.want)
		}
		if all := strings.Join(notes, "\n"); (test.note == "") != (len(notes) == 0) ||
			!strings.Contains(all, test.note) {
			t.Errorf("%s: notes = %q, want one with %q", test.name, notes, test.note)
		}
	}
}

// However a list is written, only devices of the machine come out, none twice.
func FuzzVisibleTo(f *testing.F) {
	f.Add("0,1", "GPU-a", "-1")
	f.Add("MIG-GPU-bbbbbbbb-1/0/0,,", " 2 ", "")
	f.Fuzz(func(t *testing.T, cuda, hip, rocr string) {
		env := map[string]string{"CUDA_VISIBLE_DEVICES": cuda, "HIP_VISIBLE_DEVICES": hip, "ROCR_VISIBLE_DEVICES": rocr}
		for _, vendor := range []string{device.NVIDIA, device.AMD} {
			machine := machineWith(vendor, "x", "y", "z")
			devices, _ := VisibleTo(env, machine)
			seen := map[string]bool{}
			for _, d := range devices {
				known := slices.ContainsFunc(machine.GPUs, func(other device.Device) bool {
					return other.ID() == d.ID()
				})
				if !known || seen[d.ID()] {
					t.Errorf("VisibleTo(%v) has %s, known %t, seen %t", env, d.ID(), known, seen[d.ID()])
				}
				seen[d.ID()] = true
			}
		}
	})
}
