package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/scenarios"
)

func TestDevicesOf(t *testing.T) {
	t.Parallel()
	machine := Machine{Devices: []device.Device{
		{Index: 0, UUID: "GPU-a"},
		{Index: 1, PCI: "0000:01:00.0"},
		{Index: 2, Vendor: "amd"},
	}}
	all := []string{"GPU-a", "0000:01:00.0", "amd:2"}
	for _, c := range []struct {
		name  string
		kind  engines.Kind
		none  bool
		given []int
		want  []string
	}{
		{"given", engines.Kind{}, false, []int{2, 0}, []string{"GPU-a", "amd:2"}},
		{"hidden", engines.Kind{}, false, []int{}, nil},
		{"takes what it sees", engines.Kind{}, false, nil, all},
		{"gpus: none", engines.Kind{}, true, nil, all},
		{"external", engines.Kind{External: true}, false, nil, nil},
		{"simulator", engines.Kind{Simulated: true}, false, nil, nil},
	} {
		v := scenarios.Variant{Server: scenarios.Server{GPUs: scenarios.GPUs{None: c.none}}}
		if got := devicesOf(c.kind, v, machine, c.given); !slices.Equal(got, c.want) {
			t.Errorf("%s: devicesOf() = %v, want %v", c.name, got, c.want)
		}
	}
}

// A server that is not placed sees what the variables that it inherits or is
// given leave of the machine.
func TestSeenBy(t *testing.T) {
	t.Parallel()
	var devices []device.Device
	for i := range 4 {
		devices = append(devices, device.Device{
			Index: i, Vendor: device.AMD, UUID: fmt.Sprintf("GPU-%016x", i+1),
			VRAMBytes: new(int64(1 << 30)),
		})
	}
	for _, c := range []struct {
		name      string
		inherited map[string]string
		own       map[string]scenarios.EnvValue
		change    func(*Machine, *engines.Kind, *scenarios.Variant)
		want      []int
	}{
		{"nothing set", nil, nil, nil, []int{0, 1, 2, 3}},
		{"inherited", map[string]string{"HIP_VISIBLE_DEVICES": "2,0"}, nil, nil, []int{2, 0}},
		{
			"one inside of the other",
			map[string]string{"ROCR_VISIBLE_DEVICES": "1,3", "HIP_VISIBLE_DEVICES": "1"},
			nil,
			nil,
			[]int{3},
		},
		{
			"the variant's own",
			map[string]string{"HIP_VISIBLE_DEVICES": "2"},
			map[string]scenarios.EnvValue{"HIP_VISIBLE_DEVICES": {Value: "1"}},
			nil,
			[]int{1},
		},
		{
			"removed",
			map[string]string{"HIP_VISIBLE_DEVICES": "2"},
			map[string]scenarios.EnvValue{"HIP_VISIBLE_DEVICES": {Unset: true}},
			nil,
			[]int{0, 1, 2, 3},
		},
		{"none left", map[string]string{"HIP_VISIBLE_DEVICES": ""}, nil, nil, nil},
		{
			"a container inherits nothing",
			map[string]string{"HIP_VISIBLE_DEVICES": "2"},
			nil,
			func(_ *Machine, _ *engines.Kind, v *scenarios.Variant) {
				v.Server.Container.Image = "rocm/vllm"
			},
			[]int{0, 1, 2, 3},
		},
		{"external", map[string]string{"HIP_VISIBLE_DEVICES": "2"}, nil, func(_ *Machine, k *engines.Kind,
			_ *scenarios.Variant,
		) {
			k.External = true
		}, []int{0, 1, 2, 3}},
		{"granted by a scheduler", map[string]string{"HIP_VISIBLE_DEVICES": "2"}, nil, func(b *Machine, _ *engines.Kind,
			_ *scenarios.Variant,
		) {
			b.Devices, b.Granted = b.Devices[2:3], []int{2}
		}, []int{2}},
	} {
		machine, kind, v := Machine{Devices: devices, Visibility: c.inherited}, engines.Kind{},
			scenarios.Variant{Server: scenarios.Server{Env: c.own}}
		if c.change != nil {
			c.change(&machine, &kind, &v)
		}
		seen, _ := machine.VisibleTo(kind, v)
		var got []int
		for _, d := range seen {
			got = append(got, d.Index)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: seenBy() = %v, want %v", c.name, got, c.want)
		}
	}
}

// What the shell leaves of the machine bounds where servers are placed.
func TestPlaceWithinLimits(t *testing.T) {
	t.Parallel()
	whole := Machine{Vendor: device.NVIDIA, GPUs: 8}
	for i := range 8 {
		whole.Devices = append(whole.Devices, device.Device{Vendor: device.NVIDIA, Index: i})
	}
	of := func(by string, indices ...int) Machine {
		machine := whole
		machine.Allowed = &gpu.Limits{By: []string{by}}
		for _, i := range indices {
			machine.Allowed.Devices = append(machine.Allowed.Devices, whole.Devices[i])
		}
		return machine
	}
	last := of("CUDA_VISIBLE_DEVICES=7,6", 7, 6)
	part := of("CUDA_VISIBLE_DEVICES=MIG-a", 2)
	part.Allowed.Parts = []string{"MIG-a"}

	one := engines.Kind{Args: engines.Args{WorldSize: func([]recipe.Arg) int { return 1 }}}
	for _, c := range []struct {
		name    string
		machine Machine
		server  scenarios.Server
		want    [][]int
		problem string
	}{
		{"the whole machine", whole, scenarios.Server{}, [][]int{{0}}, ""},
		{"in the shell's order", last, scenarios.Server{Replicas: 2}, [][]int{{7}, {6}}, ""},
		{"listed within", last, scenarios.Server{GPUs: scenarios.GPUs{List: []int{6}}}, [][]int{{6}}, ""},
		{
			"listed outside", last,
			scenarios.Server{GPUs: scenarios.GPUs{List: []int{0}}},
			[][]int{{0}},
			"gpus: lists GPU 0, and CUDA_VISIBLE_DEVICES=7,6 leaves GPUs 7, 6",
		},
		{
			"too many", last,
			scenarios.Server{GPUs: scenarios.GPUs{Count: 4}},
			[][]int{{0, 1, 2, 3}},
			"needs 4 GPUs, and CUDA_VISIBLE_DEVICES=7,6 leaves GPUs 7, 6",
		},
		{"all hidden, one by default", of("CUDA_VISIBLE_DEVICES=-1"), scenarios.Server{}, nil, ""},
		{
			"all hidden, one asked", of("CUDA_VISIBLE_DEVICES=-1"),
			scenarios.Server{GPUs: scenarios.GPUs{Count: 1}},
			[][]int{{0}},
			"CUDA_VISIBLE_DEVICES=-1 leaves no GPU",
		},
		{"none", last, scenarios.Server{GPUs: scenarios.GPUs{None: true}}, nil, ""},
		{"a MIG device is inherited", part, scenarios.Server{}, nil, ""},
		{
			"MIG devices are not divided", part,
			scenarios.Server{Replicas: 2},
			[][]int{{0}, {1}},
			"1 MIG device (MIG-a), which bench cannot divide",
		},
	} {
		placed, problem, err := place(one, scenarios.Variant{Name: "v", Server: c.server}, c.machine)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if !slices.EqualFunc(placed, c.want, slices.Equal) {
			t.Errorf("%s: placed on %v, want %v", c.name, placed, c.want)
		}
		if (problem == "") != (c.problem == "") || !strings.Contains(problem, c.problem) {
			t.Errorf("%s: problem %q, want %q", c.name, problem, c.problem)
		}
	}
}
