package gpu

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/fakegpu"
)

func TestAMDFacts(t *testing.T) {
	d := "sys/bus/pci/devices/0000:05:00.0/"
	root := fakegpu.Tree(t, map[string]string{
		"opt/rocm/.info/version":          "6.4.1-83\n",
		d + "vbios_version":               "113-M3000100-102\n",
		d + "fw_version/smc_fw_version":   "0x00556700\n",
		d + "fw_version/uvd_fw_version":   "0x00000000\n",
		d + "hwmon/hwmon4/power1_cap":     "650000000\n",
		d + "hwmon/hwmon4/power1_cap_max": "750000000\n",
		d + "hwmon/hwmon4/power1_cap_min": "0\n",
	})
	machine := Inventory{GPUs: []device.Device{{Vendor: device.AMD, PCI: "0000:05:00.0"}, {
		Index: 1, Vendor: device.AMD,
		PCI: "0000:06:00.0",
	}}}
	machine.addFacts(root)
	want := &device.Facts{
		VBIOS: new("113-M3000100-102"), Firmware: map[string]string{"smc": "0x00556700"},
		PowerLimitW: new(650.0), PowerMaxW: new(750.0), PowerMinW: new(0.0),
	}
	if diff := cmp.Diff(want, machine.GPUs[0].Facts); diff != "" {
		t.Errorf("facts differ (-want +got):\n%s", diff)
	}
	if machine.GPUs[1].Facts != nil || machine.ROCm == nil || *machine.ROCm != "6.4.1-83" || len(machine.Notes) != 0 {
		t.Errorf("inventory = %s", fakegpu.JSON(t, machine))
	}
}

func TestUnknownFactsAreNoted(t *testing.T) {
	machine := Inventory{GPUs: []device.Device{{
		Vendor: device.NVIDIA, UUID: "GPU-1",
		Facts: &device.Facts{VBIOS: new("1")},
	}, {Vendor: device.AMD}}}
	machine.addFacts(t.TempDir())
	want := []string{
		"GPU-1: not known: power limit, ecc, compute mode, persistence mode",
	}
	if diff := cmp.Diff(want, machine.Notes); diff != "" {
		t.Errorf("notes differ (-want +got):\n%s", diff)
	}
}
