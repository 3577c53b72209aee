package hooks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrig/bench/scenarios"
)

type fakeGPUs struct {
	states []GPUState
	err    error
}

func (f fakeGPUs) States(context.Context) ([]GPUState, error) { return f.states, f.err }

// tree makes a folder that looks like a machine.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestChecks(t *testing.T) {
	const commandLine = "BOOT_IMAGE=/vmlinuz ro quiet amd_iommu=on transparent-hugepage=always amd_iommu=off\n"
	machine := map[string]string{
		"proc/cmdline":                   commandLine,
		"proc/sys/kernel/numa_balancing": "1\n",
		"sys/kernel/mm/thp/enabled":      "always [madvise] never\n",
		"etc/profile":                    "throughput-performance\n",
		"sys/devices/system/cpu/cpufreq/policy0/scaling_governor": "performance\n",
		"sys/devices/system/cpu/cpufreq/policy1/scaling_governor": "powersave\n",
	}
	gpus := fakeGPUs{states: []GPUState{
		{"GPU-a", new(300.0), new(int64(20 << 30))},
		{"GPU-b", new(299.7), new(int64(70 << 30))},
	}}
	blind := fakeGPUs{states: []GPUState{{Device: "GPU-a"}}}
	for _, tc := range []struct {
		name  string
		check scenarios.Check
		gpus  GPUs
		ok    bool
		want  string
	}{
		{
			"last word counts",
			scenarios.Check{Kind: "kernel-parameter", Name: "amd_iommu", Want: "off"},
			nil, true,
			"amd_iommu=off",
		},
		{
			"dashes",
			scenarios.Check{Kind: "kernel-parameter", Name: "transparent_hugepage", Want: "always"},
			nil,
			true, "always",
		},
		{"bare word", scenarios.Check{Kind: "kernel-parameter", Name: "quiet"}, nil, true, "quiet"},
		{
			"other value",
			scenarios.Check{Kind: "kernel-parameter", Name: "amd_iommu", Want: "pt"},
			nil, false,
			"started with amd_iommu=off; want amd_iommu=pt",
		},
		{"missing", scenarios.Check{Kind: "kernel-parameter", Name: "nosmt"}, nil, false, "without nosmt"},
		{
			"no part of a word",
			scenarios.Check{Kind: "kernel-parameter", Name: "iommu", Want: "off"},
			nil, false,
			"without iommu",
		},
		{
			"governor",
			scenarios.Check{Kind: "governor", Want: "performance"},
			nil, false,
			"1 of 2 frequency policies have governor powersave",
		},
		{"numa", scenarios.Check{Kind: "numa-balancing", Want: "0"}, nil, false, `is "1"; want "0"`},
		{"numa as wanted", scenarios.Check{Kind: "numa-balancing", Want: "1"}, nil, true, `"1"`},
		{"file", scenarios.Check{Kind: "file", Name: "/etc/profile", Want: "throughput-performance"}, nil, true, ""},
		{
			"file in force",
			scenarios.Check{Kind: "file", Name: "/sys/kernel/mm/thp/enabled", Want: "madvise"},
			nil, true, "",
		},
		{"file in force, bracketed", scenarios.Check{
			Kind: "file", Name: "/sys/kernel/mm/thp/enabled",
			Want: "[madvise]",
		}, nil, true, ""},
		{
			"file not in force",
			scenarios.Check{Kind: "file", Name: "/sys/kernel/mm/thp/enabled", Want: "never"},
			nil,
			false, `want "never"`,
		},
		{
			"file missing",
			scenarios.Check{Kind: "file", Name: "/etc/none", Want: "x"},
			nil, false,
			"/etc/none is not there",
		},
		{"power", scenarios.Check{Kind: "power-limit", Want: "300"}, gpus, true, "300 W on all 2 GPUs"},
		{
			"other power",
			scenarios.Check{Kind: "power-limit", Want: "250"},
			gpus, false,
			"GPU-a has a power limit of 300 W, GPU-b has a power limit of 299.7 W; want 250 W",
		},
		{
			"unknown power",
			scenarios.Check{Kind: "power-limit", Want: "250"},
			blind, false,
			"GPU-a has an unknown power limit",
		},
		{"no GPU", scenarios.Check{Kind: "power-limit", Want: "250"}, nil, false, "no GPU"},
		{
			"GPUs that cannot be read",
			scenarios.Check{Kind: "power-limit", Want: "250"},
			fakeGPUs{err: errors.New("driver gone")},
			false, "driver gone",
		},
		{"memory", scenarios.Check{Kind: "free-vram", Want: "20GiB"}, gpus, true, "at least 20GiB"},
		{
			"too little memory",
			scenarios.Check{Kind: "free-vram", Want: "60GiB"},
			gpus, false,
			"GPU-a has 20.0 GiB free; want at least 60GiB",
		},
		{"unknown memory", scenarios.Check{Kind: "free-vram", Want: "1GiB"}, blind, false, "unknown amount"},
		{"disk", scenarios.Check{Kind: "free-disk", Want: "1B"}, nil, true, "free"},
		{"disk of a path to come", scenarios.Check{
			Kind: "free-disk", Name: filepath.Join(t.TempDir(), "a/b"),
			Want: "1B",
		}, nil, true, "free"},
		{
			"too little disk",
			scenarios.Check{Kind: "free-disk", Want: "900000TiB"},
			nil, false,
			"want at least 900000TiB",
		},
		{"command", scenarios.Check{Kind: "command", Argv: []string{"/bin/sh", "-c", "exit 0"}}, nil, true, ""},
		{"command that fails", scenarios.Check{Kind: "command", Argv: []string{
			"/bin/sh", "-c",
			"echo too hot; exit 1",
		}}, nil, false, "exit status 1: too hot"},
		{"another kind", scenarios.Check{Kind: "mood"}, nil, false, "not known"},
	} {
		r := newRunner(t)
		r.Root, r.GPUs = tree(t, machine), tc.gpus
		got := r.Check(t.Context(), tc.check)
		if got.OK != tc.ok || !strings.Contains(got.Message, tc.want) || got.When != "check" {
			t.Errorf("%s: Check(%+v) = %+v, want ok %t and %q", tc.name, tc.check, got, tc.ok, tc.want)
		}
	}
}

func TestChecksOfAPlainBox(t *testing.T) {
	r := newRunner(t)
	r.Root = tree(t, nil)
	for kind, want := range map[string]string{
		"governor": "no frequency governor", "numa-balancing": "not there",
		"kernel-parameter": "not there",
	} {
		if got := r.Check(t.Context(), scenarios.Check{Kind: kind, Name: "x", Want: "y"}); got.OK ||
			!strings.Contains(got.Message, want) {
			t.Errorf("Check(%s) = %+v, want a failure with %q", kind, got, want)
		}
	}
}

func TestCheckAsHook(t *testing.T) {
	r := newRunner(t)
	r.Root = tree(t, map[string]string{"proc/sys/kernel/numa_balancing": "0\n"})
	got := r.Run(t.Context(), scenarios.Hook{Name: "calm", Check: scenarios.Check{Kind: "numa-balancing", Want: "0"}},
		nil)
	if !got.OK || got.Name != "calm" {
		t.Errorf("Run(check) = %+v, want ok under the hook's name", got)
	}
}
