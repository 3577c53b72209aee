package amd

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/fakegpu"
	"github.com/benchrig/bench/results"
)

func TestAMDHolders(t *testing.T) {
	machine := fakegpu.Server(t, 3)
	for _, held := range []struct {
		pid, gpu int
		bytes    int64
	}{{300, 1, 5 << 30}, {200, 1, 7 << 30}, {200, 0, 8 << 30}, {200, 2, 9 << 30}} {
		if err := machine.HoldVRAM(held.pid, held.gpu, held.bytes); err != nil {
			t.Fatal(err)
		}
	}
	options := device.Options{Root: machine.Root()}
	devices, _ := Devices(machine.Root())
	got, err := driverHolders(options, devices[:2])
	want := []results.GPUHolder{
		{PID: 200, Device: machine.ID(0), Bytes: new(int64(8 << 30)), Name: "fake-server"},
		{PID: 200, Device: machine.ID(1), Bytes: new(int64(7 << 30)), Name: "fake-server"},
		{PID: 300, Device: machine.ID(1), Bytes: new(int64(5 << 30)), Name: "fake-server"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("amdHolders differs (-want +got), error %v:\n%s", err, diff)
	}
	if err := machine.Release(200); err != nil {
		t.Fatal(err)
	}
	got, err = driverHolders(options, devices[:2])
	if diff := cmp.Diff(want[2:], got); diff != "" || err != nil {
		t.Errorf("amdHolders after an end differs (-want +got), error %v:\n%s", err, diff)
	}
}

func TestAMDHoldersWithoutComputeDriver(t *testing.T) {
	if _, err := driverHolders(device.Options{Root: t.TempDir()}, nil); err == nil {
		t.Error("amdHolders without the compute driver gave no error")
	}
}
