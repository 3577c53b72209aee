package harness

import (
	"slices"
	"testing"

	"benchrig/gpu"
	"benchrig/launchers"
	"benchrig/scenarios"
)

func TestDevicesOf(t *testing.T) {
	t.Parallel()
	box := Box{Devices: []gpu.Device{{Index: 0, UUID: "GPU-a"}, {Index: 1, PCI: "0000:01:00.0"}, {Index: 2, Vendor: "amd"}}}
	all := []string{"GPU-a", "0000:01:00.0", "amd:2"}
	for _, c := range []struct {
		name  string
		kind  launchers.Kind
		none  bool
		given []int
		want  []string
	}{
		{"given", launchers.Kind{}, false, []int{2, 0}, []string{"GPU-a", "amd:2"}},
		{"hidden", launchers.Kind{}, false, []int{}, nil},
		{"takes what it sees", launchers.Kind{}, false, nil, all},
		{"gpus: none", launchers.Kind{}, true, nil, nil},
		{"external", launchers.Kind{External: true}, false, nil, nil},
		{"simulator", launchers.Kind{Simulated: true}, false, nil, nil},
	} {
		v := scenarios.Variant{Server: scenarios.Server{GPUs: scenarios.GPUs{None: c.none}}}
		if got := devicesOf(c.kind, v, box, c.given); !slices.Equal(got, c.want) {
			t.Errorf("%s: devicesOf() = %v, want %v", c.name, got, c.want)
		}
	}
}
