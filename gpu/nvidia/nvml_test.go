//go:build linux && cgo

package nvidia

import (
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/gpu/device"
)

// fakeHandle answers as a device does; a code other than SUCCESS is for all.
type fakeHandle struct{ code nvml.Return }

func (h fakeHandle) GetName() (string, nvml.Return) { return "NVIDIA H200", h.code }
func (h fakeHandle) GetUUID() (string, nvml.Return) { return "GPU-1", h.code }

func (h fakeHandle) GetPciInfo() (nvml.PciInfo, nvml.Return) {
	return nvml.PciInfo{Domain: 0, Bus: 0xc1, Device: 1}, h.code
}

func (h fakeHandle) GetMemoryInfo() (nvml.Memory, nvml.Return) {
	return nvml.Memory{Total: 143771 << 20}, h.code
}

func TestNVMLDevice(t *testing.T) {
	tests := []struct {
		code nvml.Return
		want device.Device
	}{
		{nvml.SUCCESS, device.Device{
			Index: 3, Vendor: device.NVIDIA, Name: "NVIDIA H200", UUID: "GPU-1",
			PCI: "0000:c1:01.0", VRAMBytes: new(int64(143771 << 20)),
		}},
		{nvml.ERROR_NOT_SUPPORTED, device.Device{Index: 3, Vendor: device.NVIDIA, Unified: true}},
		{nvml.ERROR_NO_PERMISSION, device.Device{Index: 3, Vendor: device.NVIDIA}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, nvmlDevice(3, fakeHandle{test.code})); diff != "" {
			t.Errorf("nvmlDevice, code %d, differs (-want +got):\n%s", test.code, diff)
		}
	}
}
