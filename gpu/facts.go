package gpu

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Facts are what a GPU runs and is set to: what another measurement of the
// same card must share to be comparable. Null is unknown.
type Facts struct {
	VBIOS         *string           `json:"vbios"`
	Firmware      map[string]string `json:"firmware,omitempty"` // AMD: version of each part
	Architecture  *string           `json:"architecture"`       // "sm_90", "gfx942"
	PowerLimitW   *float64          `json:"power_limit_w"`
	PowerDefaultW *float64          `json:"power_default_w"`
	PowerMinW     *float64          `json:"power_min_w"`
	PowerMaxW     *float64          `json:"power_max_w"`
	ECC           *bool             `json:"ecc"`
	ComputeMode   *string           `json:"compute_mode"` // NVIDIA: "default", "exclusive-process", "prohibited"
	MIG           *bool             `json:"mig"`          // NVIDIA: MIG mode is on
	Persistence   *bool             `json:"persistence"`  // NVIDIA: the driver stays loaded without clients
}

// addFacts completes the inventory by what files say.
func (v *Inventory) addFacts(root string) {
	v.ROCm = firstText(root, "opt/rocm/.info/version", "opt/rocm/.info/version-dev")
	for i := range v.GPUs {
		device := &v.GPUs[i]
		if device.Vendor == AMD && device.Facts == nil && device.PCI != "" {
			device.Facts = amdFacts(filepath.Join("/", root, "sys/bus/pci/devices", device.PCI))
		}
		if device.Facts == nil {
			continue
		}
		if unknown := device.Facts.unknown(device.Vendor); len(unknown) > 0 {
			v.Notes = append(v.Notes, fmt.Sprintf("%s: not known: %s", device.ID(), strings.Join(unknown, ", ")))
		}
	}
}

// unknown names the facts that a GPU of the vendor has but does not tell.
func (f *Facts) unknown(vendor string) []string {
	var names []string
	add := func(name string, missing bool) {
		if missing {
			names = append(names, name)
		}
	}
	add("vbios", f.VBIOS == nil)
	add("power limit", f.PowerLimitW == nil)
	if vendor == NVIDIA {
		add("ecc", f.ECC == nil)
		add("compute mode", f.ComputeMode == nil)
		add("persistence mode", f.Persistence == nil)
	}
	return names
}

// amdFacts reads the folder of a PCI device that amdgpu serves; nil if there
// is none.
func amdFacts(folder string) *Facts {
	if _, err := os.Stat(folder); err != nil {
		return nil
	}
	f := &Facts{VBIOS: textOf(filepath.Join(folder, "vbios_version")), Firmware: map[string]string{}}
	names, _ := filepath.Glob(filepath.Join(folder, "fw_version", "*_fw_version")) // the pattern is well formed
	for _, name := range names {
		if version := readText(name); version != "" && strings.Trim(version, "0x") != "" {
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
	n, err := strconv.ParseFloat(readText(path), 64)
	if err != nil || n < 0 || n > 1e11 || n == 0 && !strings.HasSuffix(path, "_min") {
		return nil
	}
	n /= 1e6
	return &n
}

// textOf is the trimmed text of a file; nil if it cannot be read or is empty.
func textOf(path string) *string {
	text := readText(path)
	if text == "" {
		return nil
	}
	return &text
}

// firstText is the text of the first of the files under root that has any.
func firstText(root string, names ...string) *string {
	at := slices.IndexFunc(names, func(name string) bool { return textOf(filepath.Join("/", root, name)) != nil })
	if at < 0 {
		return nil
	}
	return textOf(filepath.Join("/", root, names[at]))
}
