package gpu

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/internal/fakegpu"
)

func TestHostSettings(t *testing.T) {
	root := fakegpu.Tree(t, map[string]string{
		"sys/devices/system/cpu/cpufreq/policy0/scaling_governor": "performance\n",
		"sys/devices/system/cpu/cpufreq/policy1/scaling_governor": "performance\n",
		"sys/devices/system/cpu/cpufreq/policy2/scaling_governor": "ondemand\n",
		"sys/devices/system/node/node0/cpulist":                   "0-47\n",
		"sys/devices/system/node/node1/cpulist":                   "48-95\n",
		"sys/devices/system/node/possible":                        "0-1\n",
		"proc/sys/kernel/numa_balancing":                          "0\n",
		"sys/kernel/mm/transparent_hugepage/enabled":              "always [madvise] never\n",
		"sys/class/dmi/id/bios_vendor":                            "American Megatrends\n",
		"sys/class/dmi/id/bios_version":                           "1.7\n",
		"sys/class/dmi/id/bios_date":                              "03/14/2025\n",
		"sys/class/dmi/id/board_name":                             "X13\n",
		"sys/class/dmi/id/board_serial":                           "SECRET-1\n",
		"proc/cmdline": "BOOT_IMAGE=/vmlinuz root=UUID=5eec1e " +
			"amd_iommu=on iommu=pt default_hugepagesz=1G hugepages=16 quiet ip=10.0.0.7\n",
		"proc/1/comm":   "systemd\n",
		"proc/1/cgroup": "0::/init.scope\n",
		"proc/meminfo": "MemTotal: 100 kB\nSwapTotal:    2048 kB\n" +
			"SwapFree:     1024 kB\n",
	})
	got, notes := readHostSettings(root)
	want := HostSettings{
		Governors: []string{"ondemand", "performance"}, NUMANodes: new(2), NUMABalancing: new(false),
		HugePages:   new("madvise"),
		BIOS:        &BIOS{Vendor: "American Megatrends", Version: "1.7", Date: "03/14/2025", Board: "X13"},
		BootOptions: []string{"amd_iommu=on", "iommu=pt", "default_hugepagesz=1G", "hugepages=16"},
		Container:   new("none"), SwapBytes: new(int64(2 << 20)), SwapUsedBytes: new(int64(1 << 20)),
	}
	if diff := cmp.Diff(want, got); diff != "" || len(notes) > 0 {
		t.Errorf("settings differ, notes %q (-want +got):\n%s", notes, diff)
	}
	if text := fakegpu.JSON(t, got); strings.Contains(text, "SECRET") || strings.Contains(text, "5eec1e") ||
		strings.Contains(text, "10.0.0.7") {
		t.Errorf("%s holds what is nobody's business", text)
	}
}

func TestHostSettingsUnknown(t *testing.T) {
	got, notes := readHostSettings(t.TempDir())
	if want := (HostSettings{BootOptions: []string{}}); !cmp.Equal(want, got) || len(notes) != 7 {
		t.Errorf("settings of nothing = %s, notes %q, want nulls and a note for each", fakegpu.JSON(t, got), notes)
	}
}

func TestContainerKind(t *testing.T) {
	tests := []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{".dockerenv": ""}, `"docker"`},
		{map[string]string{"run/.containerenv": ""}, `"podman"`},
		{map[string]string{"proc/1/cgroup": "12:cpu:/docker/0123\n"}, `"docker"`},
		{map[string]string{"proc/1/cgroup": "0::/kubepods.slice/x\n", ".dockerenv": ""}, `"kubernetes"`},
		{map[string]string{"proc/1/cgroup": "1:name=systemd:/lxc/box\n"}, `"lxc"`},
		{map[string]string{"run/systemd/container": "systemd-nspawn\n", "proc/1/comm": "systemd\n"}, `"container"`},
		{map[string]string{"proc/1/comm": "systemd\n", "proc/1/cgroup": "0::/init.scope\n"}, `"none"`},
		{map[string]string{"proc/1/comm": "sleep\n", "proc/1/cgroup": "0::/\n"}, "null"},
	}
	for _, test := range tests {
		if got := fakegpu.JSON(t, containerKind(fakegpu.Tree(t, test.files))); got != test.want {
			t.Errorf("containerKind of %v = %s, want %s", test.files, got, test.want)
		}
	}
}

func FuzzHostText(f *testing.F) {
	f.Add("always [madvise] never", "SwapTotal: 5 kB\nSwapFree: 9 kB", "iommu=pt x")
	f.Fuzz(func(t *testing.T, pages, memory, line string) {
		if choice := bracketed(pages); choice != nil && !strings.Contains(pages, "["+*choice+"]") {
			t.Errorf("bracketed(%q) = %q", pages, *choice)
		}
		if total, used := swap(memory); used != nil && (total == nil || *used < 0 || *used > *total) {
			t.Errorf("swap(%q) = %s, %d", memory, fakegpu.JSON(t, total), *used)
		}
		for _, option := range bootOptions(line) {
			if !strings.Contains(line, option) {
				t.Errorf("bootOptions(%q) has %q", line, option)
			}
		}
	})
}
