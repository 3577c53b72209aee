package gpu

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/gpu/device"
)

// envVulkan chooses GPUs for llama.cpp's Vulkan build.
const envVulkan = "GGML_VK_VISIBLE_DEVICES"

// VisibilityVariables are all that VisibleTo looks at.
func VisibilityVariables() []string {
	return []string{device.CUDAVisible, device.CUDAOrder, device.HIPVisible, device.ROCRVisible, envVulkan}
}

// VisibleTo lists the devices that a server with this environment sees, in
// the order in which it counts them, so that the same ones are sampled. None
// of the tools that read GPUs follows these variables. Where the variables
// alone cannot tell, notes say so, and the list holds all that may be meant.
func VisibleTo(env map[string]string, inventory Inventory) ([]device.Device, []string) {
	v := visibility{env: env}
	switch vendor := inventory.Vendor(); vendor {
	case device.NVIDIA:
		return v.ofNVIDIA(inventory.Of(vendor)), v.notes
	case device.AMD:
		return v.ofAMD(inventory.Of(vendor)), v.notes
	}
	return nil, nil
}

// visibility applies the variables one after another.
type visibility struct {
	env   map[string]string
	notes []string
}

func (v *visibility) note(format string, args ...any) {
	v.notes = append(v.notes, fmt.Sprintf(format, args...))
}

func (v *visibility) ofNVIDIA(devices []device.Device) []device.Device {
	visible := devices
	if list, ok := v.env[device.CUDAVisible]; ok {
		visible = v.pick(device.CUDAVisible, list, devices)
		v.noteOrder(list, devices)
	}
	return v.vulkan(visible, devices)
}

// noteOrder warns where an index may be another GPU for CUDA than for NVML:
// CUDA puts the fastest first unless told to go by PCI address.
func (v *visibility) noteOrder(list string, devices []device.Device) {
	byIndex := false
	for _, entry := range entriesOf(list) {
		_, err := strconv.Atoi(entry)
		byIndex = byIndex || err == nil
	}

	if !byIndex || len(devices) < 2 || v.env[device.CUDAOrder] == device.PCIOrder {
		return
	}

	same := !slices.ContainsFunc(devices, func(d device.Device) bool { return d.Name != devices[0].Name })
	if same {
		return // equal cards: CUDA goes on to PCI order
	}

	v.note("%s=%s counts by speed, not by PCI address; set %s=PCI_BUS_ID or name GPUs by UUID, or others may be "+
		"sampled than serve",
		device.CUDAVisible, list, device.CUDAOrder)
}

// ofAMD applies ROCr's list, then HIP's inside of what is left. HIP reads
// CUDA's variable where its own is not set.
func (v *visibility) ofAMD(devices []device.Device) []device.Device {
	visible := devices
	inner := device.HIPVisible
	if _, ok := v.env[inner]; !ok {
		inner = device.CUDAVisible
	}
	if list, ok := v.env[device.ROCRVisible]; ok {
		visible = v.pick(device.ROCRVisible, list, devices)
	}
	if list, ok := v.env[inner]; ok {
		before := len(visible)
		visible = v.pick(inner, list, visible)
		if outer, both := v.env[device.ROCRVisible]; both && len(visible) == 0 && before > 0 {
			v.note("%s=%s counts inside of %s=%s and leaves no GPU; set only one of them", inner, list,
				device.ROCRVisible, outer)
		}
	}

	return v.vulkan(visible, devices)
}

// vulkan notes a list by Vulkan's own numbers, which only llama.cpp's Vulkan
// build reads: their order is known to nobody else.
func (v *visibility) vulkan(visible, all []device.Device) []device.Device {
	list, ok := v.env[envVulkan]
	if !ok || len(all) < 2 {
		return visible
	}
	v.note("%s=%s uses Vulkan's own numbers, which only Vulkan knows: all %d GPUs are sampled", envVulkan, list,
		len(all))
	return all
}

// pick chooses by a list of indices, UUIDs or beginnings of UUIDs. As in CUDA
// and ROCr, what comes after an entry that names nothing is not seen.
func (v *visibility) pick(variable, list string, from []device.Device) []device.Device {
	picked := []device.Device{}
	for _, entry := range entriesOf(list) {
		d, found := v.find(variable, entry, from)
		if !found {
			if entry != "-1" && entry != "" && !strings.EqualFold(entry, "none") &&
				!strings.EqualFold(entry, "NoDevFiles") {
				v.note("%s=%s: %q names none of %d GPUs; it and what follows are not seen", variable, list, entry,
					len(from))
			}
			break
		}
		if slices.ContainsFunc(picked, func(other device.Device) bool { return other.ID() == d.ID() }) {
			if !strings.HasPrefix(entry, "MIG-") {
				v.note("%s=%s names a GPU twice; engines see none", variable, list)
				return []device.Device{}
			}
			continue
		}
		picked = append(picked, d)
	}

	return picked
}

// find is the device that an entry names: by position among those that are
// left, by UUID or the beginning of one, or as the GPU of a MIG device.
func (v *visibility) find(variable, entry string, from []device.Device) (device.Device, bool) {
	if n, err := strconv.Atoi(entry); err == nil {
		if n < 0 || n >= len(from) {
			return device.Device{}, false
		}
		if len(from[n].Parts) > 0 {
			v.note("%s names GPU %d, which is divided (MIG); engines see its first part, figures are those of the "+
				"whole GPU", variable, n)
		}
		return from[n], true
	}

	if entry == "" {
		return device.Device{}, false
	}

	for _, device := range from {
		if strings.HasPrefix(device.UUID, "GPU-") && len(entry) > len("GPU-") &&
			strings.HasPrefix(strings.ToLower(device.UUID), strings.ToLower(entry)) {
			return device, true
		}
		for _, part := range device.Parts {
			if strings.HasPrefix(entry, "MIG-") && part.UUID == entry {
				v.note("%s names a part (MIG %s) of %s; figures are those of the whole GPU", variable, part.Name,
					device.ID())
				return device, true
			}
		}
		// the form of drivers before 470: GPU, instance, instance
		if rest, ok := strings.CutPrefix(entry, "MIG-GPU-"); ok {
			uuid, _, _ := strings.Cut(rest, "/")
			if device.UUID == "GPU-"+uuid {
				v.note("%s names a part (MIG) of %s; figures are those of the whole GPU", variable, device.ID())
				return device, true
			}
		}
	}

	return device.Device{}, false
}

func entriesOf(list string) []string {
	entries := strings.Split(list, ",")
	for i := range entries {
		entries[i] = strings.TrimSpace(entries[i])
	}
	return entries
}
