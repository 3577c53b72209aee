package gpu

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree writes files under a new folder. A value that begins with "->" is the
// target of a symbolic link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, link := strings.CutPrefix(content, "->"); link {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// card is a graphics card in sysfs: cardN links to its PCI device.
func card(n int, pci string, attributes map[string]string) map[string]string {
	device := "sys/devices/pci0000:00/" + pci
	files := map[string]string{
		fmt.Sprintf("sys/class/drm/card%d/device", n):      "->../../../devices/pci0000:00/" + pci,
		fmt.Sprintf("sys/class/drm/card%d-DP-1/status", n): "disconnected\n",
	}
	for name, value := range attributes {
		files[device+"/"+name] = value + "\n"
	}
	return files
}

func node(n int, properties, bank string) map[string]string {
	base := fmt.Sprintf("sys/class/kfd/kfd/topology/nodes/%d/", n)
	return map[string]string{base + "properties": properties, base + "mem_banks/0/properties": bank}
}

func join(parts ...map[string]string) map[string]string {
	files := map[string]string{}
	for _, part := range parts {
		maps.Copy(files, part)
	}
	return files
}

const cpuNode = "cpu_cores_count 96\nsimd_count 0\nlocation_id 0\n"

// Two MI300X whose cards and compute nodes stand in different orders, and the
// display controller of the board.
func TestDetectAMDServer(t *testing.T) {
	root := tree(t, join(
		map[string]string{"sys/module/amdgpu/version": "6.8.5\n"},
		card(0, "0000:03:00.0", map[string]string{"vendor": "0x1a03"}),
		card(1, "0000:C1:00.0", map[string]string{
			"vendor": "0x1002", "mem_info_vram_total": "206141652992", "mem_info_gtt_total": "1000", "unique_id": "a1b2c3d4e5f60718", "product_name": "AMD Instinct MI300X OAM",
		}),
		card(2, "0000:05:00.0", map[string]string{"vendor": "0x1002", "mem_info_vram_total": "206141652992", "unique_id": "00000000000000ff"}),
		node(0, cpuNode, ""),
		node(10, "simd_count 1216\nlocation_id 1280\ndomain 0\ngfx_target_version 90402\nunique_id 255\n", ""),
		node(2, "simd_count 1216\nlocation_id 49408\ndomain 0\ngfx_target_version 90402\nunique_id 11651590505119483672\n", ""),
	))
	got, err := Detect(t.Context(), Options{Root: root, RunTool: noTool})
	if err != nil {
		t.Fatalf("Detect: %v", err)
	}
	want := Inventory{
		GPUs: []Device{
			{
				Index: 0, Vendor: AMD, Name: "AMD Instinct MI300X OAM", UUID: "GPU-a1b2c3d4e5f60718", PCI: "0000:c1:00.0",
				VRAMBytes: new(int64(206141652992)), GTTBytes: new(int64(1000)),
			},
			{Index: 1, Vendor: AMD, Name: "AMD gfx942", UUID: "GPU-00000000000000ff", PCI: "0000:05:00.0", VRAMBytes: new(int64(206141652992))},
		},
		Drivers: map[string]string{AMD: "6.8.5"},
		Sources: []string{"sysfs"},
		Notes:   []string{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Detect differs (-want +got):\n%s", diff)
	}
}

// In a compute partition mode HIP counts each partition; its memory is that of
// its own bank, not of the whole card. The node's number is in the topmost
// bits of its location.
func TestDetectAMDPartitions(t *testing.T) {
	bank := "heap_type 1\nsize_in_bytes 25769803776\n"
	cardFiles := card(1, "0000:05:00.0", map[string]string{
		"vendor": "0x1002", "mem_info_vram_total": "206141652992", "current_compute_partition": "CPX", "current_memory_partition": "NPS4",
	})
	second := "simd_count 152\nlocation_id 268436736\ngfx_target_version 90402\nunique_id 8\n"
	root := tree(t, join(
		cardFiles,
		node(0, cpuNode, ""),
		node(1, "simd_count 152\nlocation_id 1280\ngfx_target_version 90402\nunique_id 7\n", bank),
		node(2, second, bank),
	))
	devices, notes := amdDevices(root)
	want := []Device{
		{
			Index: 0, Vendor: AMD, Name: "AMD gfx942", UUID: "GPU-0000000000000007", PCI: "0000:05:00.0", VRAMBytes: new(int64(25769803776)),
			Partition: "CPX", PartitionIndex: new(0), MemoryMode: "NPS4",
		},
		{
			Index: 1, Vendor: AMD, Name: "AMD gfx942", UUID: "GPU-0000000000000008", PCI: "0000:05:00.0", VRAMBytes: new(int64(25769803776)),
			Partition: "CPX", PartitionIndex: new(1), MemoryMode: "NPS4",
		},
	}
	if diff := cmp.Diff(want, devices); diff != "" || len(notes) > 0 {
		t.Errorf("amdDevices differs (-want +got), notes %q:\n%s", notes, diff)
	}
}

// An APU has a small carve-out and much GTT; without the compute driver the
// list is by PCI address and says so.
func TestDetectAMDWithoutComputeDriver(t *testing.T) {
	root := tree(t, join(
		card(1, "0000:c5:00.0", map[string]string{"vendor": "0x1002", "mem_info_vram_total": "536870912", "mem_info_gtt_total": "67645734912"}),
		card(0, "0000:05:00.0", map[string]string{"vendor": "0x1002", "mem_info_vram_total": "17163091968"}),
		card(2, "0000:01:00.0", map[string]string{"vendor": "0x10de"}),
		card(3, "0000:02:00.0", map[string]string{"vendor": "0x1002"}), // no amdgpu behind it
		card(4, "0000:06:00.0", nil),
	))
	devices, notes := amdDevices(root)
	want := []Device{
		{Index: 0, Vendor: AMD, PCI: "0000:05:00.0", VRAMBytes: new(int64(17163091968))},
		{Index: 1, Vendor: AMD, PCI: "0000:c5:00.0", VRAMBytes: new(int64(536870912)), GTTBytes: new(int64(67645734912))},
	}
	if diff := cmp.Diff(want, devices); diff != "" {
		t.Errorf("amdDevices differs (-want +got):\n%s", diff)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "PCI order") {
		t.Errorf("notes = %q, want one about the order", notes)
	}
}

// Drivers that give all partitions one unique id leave them with the address.
func TestAMDPartitionsWithOneID(t *testing.T) {
	properties := "simd_count 152\nlocation_id 1280\ngfx_target_version 90402\nunique_id 7\n"
	root := tree(t, join(node(1, properties, ""), node(2, properties, "")))
	devices, _ := amdDevices(root)
	for i, want := range []string{"0000:05:00.0/0", "0000:05:00.0/1"} {
		if got := devices[i].ID(); got != want {
			t.Errorf("ID of partition %d = %q, want %q", i, got, want)
		}
	}
}

// A GPU that shares the CPU's memory is known by its kind or by the format of
// the driver's table; a suspended one is not asked for it.
func TestUnified(t *testing.T) {
	tests := []struct {
		name, gfx, status, table string
		want                     bool
	}{
		{"Strix Halo", "gfx1151", "active", "", true},
		{"table of an APU", "gfx9999", "active", "\x78\x00\x02\x01", true},
		{"newer table of an APU", "", "active", "\x08\x01\x03\x00", true},
		{"table whose size looks like a space", "gfx942", "active", "\x20\x01\x01\x04", false},
		{"asleep", "", "suspended", "\x78\x00\x02\x01", false},
		{"no table", "gfx942", "active", "", false},
	}
	for _, test := range tests {
		root := tree(t, map[string]string{"gpu_metrics": test.table, "power/runtime_status": test.status + "\n"})
		if got := unified(root, test.gfx); got != test.want {
			t.Errorf("%s: unified = %t, want %t", test.name, got, test.want)
		}
	}
}

func TestGFXNames(t *testing.T) {
	tests := map[uint64]string{90402: "gfx942", 90010: "gfx90a", 110501: "gfx1151", 90500: "gfx950", 120001: "gfx1201", 0: ""}
	for version, want := range tests {
		if got := newKFDNode(map[string]uint64{"gfx_target_version": version}).gfx; got != want {
			t.Errorf("gfx of %d = %q, want %q", version, got, want)
		}
	}
}
