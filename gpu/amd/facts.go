package amd

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/benchrig/bench/gpu/device"
)

// ReadFacts reads the folder of a PCI device that amdgpu serves; nil without
// such a folder.
func ReadFacts(folder string) *device.Facts {
	if _, err := os.Stat(folder); err != nil {
		return nil
	}

	f := &device.Facts{VBIOS: device.TextOf(filepath.Join(folder, "vbios_version")), Firmware: map[string]string{}}
	names, _ := filepath.Glob(filepath.Join(folder, "fw_version", "*_fw_version")) // the pattern is well formed
	for _, name := range names {
		if version := device.ReadText(name); version != "" && strings.Trim(version, "0x") != "" {
			f.Firmware[strings.TrimSuffix(filepath.Base(name), "_fw_version")] = version
		}
	}

	monitors, _ := filepath.Glob(filepath.Join(folder, "hwmon", "hwmon*"))
	for _, monitor := range monitors {
		f.PowerLimitW = microwatts(filepath.Join(monitor, "power1_cap"))
		f.PowerDefaultW = microwatts(filepath.Join(monitor, "power1_cap_default"))
		f.PowerMinW = microwatts(filepath.Join(monitor, "power1_cap_min"))
		f.PowerMaxW = microwatts(filepath.Join(monitor, "power1_cap_max"))
	}

	return f
}

// microwatts reads a file of microwatts. 0 is a value for a lower bound only.
func microwatts(path string) *float64 {
	n, err := strconv.ParseFloat(device.ReadText(path), 64)
	if err != nil || n < 0 || n > 1e11 || n == 0 && !strings.HasSuffix(path, "_min") {
		return nil
	}
	n /= 1e6
	return &n
}
