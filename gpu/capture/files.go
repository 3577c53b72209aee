package capture

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// cardFiles are the files of a graphics card that samplers and facts read.
func cardFiles() []string {
	return []string{
		"vendor", "device", "revision", "subsystem_vendor", "subsystem_device", "product_name", "unique_id",
		"mem_info_vram_total", "mem_info_vram_used", "mem_info_vis_vram_total", "mem_info_vis_vram_used",
		"mem_info_gtt_total", "mem_info_gtt_used", "gpu_busy_percent", "mem_busy_percent", "gpu_metrics",
		"pp_dpm_sclk", "pp_dpm_mclk", "pp_dpm_fclk", "pp_dpm_socclk", "current_compute_partition",
		"current_memory_partition", "available_compute_partition", "vbios_version", "power/runtime_status",
		"fw_version/*", "hwmon/hwmon*/name", "hwmon/hwmon*/power1_*", "hwmon/hwmon*/temp*_*", "hwmon/hwmon*/freq*_*",
	}
}

// machineFiles are the other files.
func machineFiles() []string {
	kfd := "sys/class/kfd/kfd/"
	return []string{
		"proc/driver/nvidia/version", "proc/meminfo", "sys/module/amdgpu/version", "opt/rocm/.info/version",
		kfd + "topology/nodes/*/gpu_id", kfd + "topology/nodes/*/properties", kfd +
			"topology/nodes/*/mem_banks/*/properties",
		kfd + "topology/nodes/*/mem_banks/*/used_memory", kfd + "proc/*/vram_*",
	}
}

// largestFile is more than any of them has.
const largestFile = 1 << 20

// copyFiles copies the files that are read into files/, laid out as they are,
// so that the copy can stand for the machine's root.
func (c *capturer) copyFiles() {
	root := filepath.Join("/", c.options.Root)
	for _, pattern := range machineFiles() {
		c.copyMatches(root, filepath.Join(root, pattern))
	}

	cards, _ := filepath.Glob(filepath.Join(root, "sys/class/drm/card*")) // the pattern is well formed
	for _, card := range cards {
		if strings.Contains(filepath.Base(card), "-") { // a connector
			continue
		}
		folder, err := filepath.EvalSymlinks(filepath.Join(card, "device"))
		if err != nil {
			continue
		}
		before := len(c.out.Files)
		for _, pattern := range cardFiles() {
			c.copyMatches(root, filepath.Join(folder, pattern))
		}
		if len(c.out.Files) > before {
			c.link(root, filepath.Join(card, "device"), folder)
			c.link(root, filepath.Join(root, "sys/bus/pci/devices", filepath.Base(folder)), folder)
		}
	}

	if !slices.ContainsFunc(c.out.Files, func(name string) bool { return strings.HasPrefix(name, "sys/") }) {
		c.missing("files: no AMD GPU in /sys")
	}
}

// copyMatches copies the files that match. Files that cannot be read, of a
// GPU that sleeps for instance, are listed.
func (c *capturer) copyMatches(root, pattern string) {
	matches, _ := filepath.Glob(pattern)
	for _, match := range matches {
		info, err := os.Stat(match)
		if err != nil || !info.Mode().IsRegular() || info.Size() > largestFile {
			continue
		}
		name := inside(root, match)
		data, err := os.ReadFile(match)
		if err != nil {
			c.missing("%s: %v", name, err)
			continue
		}
		c.files[filepath.Join("files", name)] = data
		c.out.Files = append(c.out.Files, name)
	}
}

// link writes down a symbolic link between two places under root.
func (c *capturer) link(root, from, to string) {
	name, target := inside(root, from), inside(root, to)
	relative, err := filepath.Rel(filepath.Dir(name), target)
	if err != nil || name == target {
		return
	}
	c.links[filepath.Join("files", name)] = relative
}

func inside(root, path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, strings.TrimSuffix(root, "/")), "/")
}
