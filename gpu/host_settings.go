package gpu

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/gpu/device"
)

// HostSettings are what the machine is set to as far as it changes what
// servers do. Null is unknown, with a note.
type HostSettings struct {
	Governors     []string `json:"cpu_governors"` // distinct ones of all CPUs
	NUMANodes     *int     `json:"numa_nodes"`
	NUMABalancing *bool    `json:"numa_balancing"` // pages follow the CPU that uses them
	HugePages     *string  `json:"transparent_hugepages"`
	BIOS          *BIOS    `json:"bios"`
	// of the kernel's command line what is about IOMMU, huge pages, NUMA, mitigations and the GPU drivers
	BootOptions   []string `json:"boot_options"`
	Container     *string  `json:"container"` // "docker", "podman", "kubernetes", "lxc", "container", or "none"
	SwapBytes     *int64   `json:"swap_bytes"`
	SwapUsedBytes *int64   `json:"swap_used_bytes"`
}

// BIOS is the firmware of the board, without serial numbers.
type BIOS struct {
	Vendor  string `json:"vendor"`
	Version string `json:"version"`
	Date    string `json:"date"`
	Board   string `json:"board"`
}

// readHostSettings reads files under root, and what could not be known.
func readHostSettings(root string) (HostSettings, []string) {
	file := func(name string) string { return filepath.Join("/", root, name) }
	s := HostSettings{
		Governors:     governors(root),
		NUMANodes:     countNodes(root),
		NUMABalancing: nonZero(device.ReadText(file("proc/sys/kernel/numa_balancing"))),
		HugePages:     bracketed(device.ReadText(file("sys/kernel/mm/transparent_hugepage/enabled"))),
		BIOS:          readBIOS(root),
		BootOptions:   bootOptions(device.ReadText(file("proc/cmdline"))),
		Container:     containerKind(root),
	}

	s.SwapBytes, s.SwapUsedBytes = swap(device.ReadText(file("proc/meminfo")))
	var notes []string
	for what, missing := range map[string]bool{
		"CPU governor: no cpufreq in sysfs, as in most virtual machines": s.Governors == nil,
		"NUMA nodes: sysfs does not list them":                           s.NUMANodes == nil,
		"NUMA balancing: the kernel does not say":                        s.NUMABalancing == nil,
		"transparent huge pages: the kernel does not say":                s.HugePages == nil,
		"BIOS: /sys/class/dmi/id is not there or not readable":           s.BIOS == nil,
		"container: nothing says whether this is one":                    s.Container == nil,
		"swap: /proc/meminfo does not say":                               s.SwapBytes == nil,
	} {
		if missing {
			notes = append(notes, what)
		}
	}

	slices.Sort(notes)
	return s, notes
}

func governors(root string) []string {
	// the pattern is well formed
	files, _ := filepath.Glob(filepath.Join("/", root, "sys/devices/system/cpu/cpufreq/policy*/scaling_governor"))
	var names []string
	for _, file := range files {
		if name := device.ReadText(file); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func countNodes(root string) *int {
	entries, err := os.ReadDir(filepath.Join("/", root, "sys/devices/system/node"))
	n := 0
	for _, entry := range entries {
		if number, ok := strings.CutPrefix(entry.Name(), "node"); ok && device.Digits(number) {
			n++
		}
	}
	if err != nil || n == 0 {
		return nil
	}
	return &n
}

func nonZero(text string) *bool {
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil
	}
	return new(n != 0)
}

// bracketed is the choice in "always [madvise] never".
func bracketed(text string) *string {
	_, rest, ok := strings.Cut(text, "[")
	choice, _, closed := strings.Cut(rest, "]")
	if !ok || !closed {
		return nil
	}
	return &choice
}

func readBIOS(root string) *BIOS {
	id := func(name string) string { return device.ReadText(filepath.Join("/", root, "sys/class/dmi/id", name)) }
	bios := BIOS{Vendor: id("bios_vendor"), Version: id("bios_version"), Date: id("bios_date"), Board: id("board_name")}
	if bios == (BIOS{}) {
		return nil
	}
	return &bios
}

// bootOptions are words of the kernel's command line; all others, which may
// name disks and hosts, are left out.
func bootOptions(line string) []string {
	options := []string{}
	for word := range strings.FieldsSeq(line) {
		key, _, _ := strings.Cut(word, "=")
		for _, about := range []string{
			"iommu", "hugepage", "amdgpu.", "nvidia", "ttm.", "amdttm.", "numa",
			"mitigations",
		} {
			if strings.Contains(key, about) {
				options = append(options, word)
				break
			}
		}
	}
	return options
}

// containerKind recognises a container by what its runtime leaves inside.
func containerKind(root string) *string {
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join("/", root, name))
		return err == nil
	}

	groups := device.ReadText(filepath.Join("/", root, "proc/1/cgroup")) +
		device.ReadText(filepath.Join("/", root, "proc/self/cgroup"))
	first := device.ReadText(filepath.Join("/", root, "proc/1/comm"))
	switch {
	case strings.Contains(groups, "kubepods") || exists("var/run/secrets/kubernetes.io") ||
		exists("run/secrets/kubernetes.io"):
		return new("kubernetes")
	case exists("run/.containerenv") || strings.Contains(groups, "libpod"):
		return new("podman")
	case exists(".dockerenv") || strings.Contains(groups, "docker"):
		return new("docker")
	case strings.Contains(groups, "lxc"):
		return new("lxc")
	case exists("run/systemd/container") || strings.Contains(groups, "containerd"):
		return new("container")
	case first == "systemd" || first == "init":
		return new("none")
	}

	return nil
}

// swap reads /proc/meminfo, whose kB are 1024 bytes.
func swap(meminfo string) (total, used *int64) {
	sizes := map[string]int64{}
	for line := range strings.Lines(meminfo) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil && n >= 0 && n < 1<<50 {
			sizes[fields[0]] = n << 10
		}
	}

	size, ok := sizes["SwapTotal:"]
	if !ok {
		return nil, nil
	}
	if free, ok := sizes["SwapFree:"]; ok && free <= size {
		used = new(size - free)
	}

	return &size, used
}
