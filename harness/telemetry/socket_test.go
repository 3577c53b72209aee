package telemetry

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/harness/plan"
)

func TestSocketOfPartitions(t *testing.T) {
	m := &Monitor{Machine: plan.Machine{Devices: []device.Device{
		{Index: 0, PCI: "0000:05:00.0", PartitionIndex: new(0)},
		{Index: 1, PCI: "0000:05:00.0", PartitionIndex: new(1)},
		{Index: 2, PCI: "0000:26:00.0"},
		{Index: 3},
	}}}
	for i, want := range [][]string{
		{"0000:05:00.0/0", "0000:05:00.0/1"},
		{"0000:05:00.0/0", "0000:05:00.0/1"},
		nil,
		nil,
	} {
		if diff := cmp.Diff(want, m.socketOf(m.Machine.Devices[i])); diff != "" {
			t.Errorf("socketOf(%d) (-want +got):\n%s", i, diff)
		}
	}
}
