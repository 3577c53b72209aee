package gpu

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/gpu/amd"
	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/fakegpu"
)

const cpuNode = "cpu_cores_count 96\nsimd_count 0\nlocation_id 0\n"

// Two MI300X whose cards and compute nodes are in different orders, and the
// display controller of the board.
func TestDetectAMDServer(t *testing.T) {
	root := fakegpu.Tree(t, fakegpu.Join(
		map[string]string{"sys/module/amdgpu/version": "6.8.5\n"},
		fakegpu.Card(0, "0000:03:00.0", map[string]string{"vendor": "0x1a03"}),
		fakegpu.Card(1, "0000:C1:00.0", map[string]string{
			"vendor": "0x1002", "mem_info_vram_total": "206141652992", "mem_info_gtt_total": "1000",
			"unique_id": "a1b2c3d4e5f60718", "product_name": "AMD Instinct MI300X OAM",
		}),
		fakegpu.Card(2, "0000:05:00.0", map[string]string{
			"vendor": "0x1002", "mem_info_vram_total": "206141652992",
			"unique_id": "00000000000000ff",
		}),
		fakegpu.Node(0, cpuNode, ""),
		fakegpu.Node(10, "simd_count 1216\nlocation_id 1280\ndomain 0\ngfx_target_version 90402\nunique_id 255\n", ""),
		fakegpu.Node(2,
			"simd_count 1216\nlocation_id 49408\ndomain 0\ngfx_target_version 90402\nunique_id 11651590505119483672\n",
			""),
	))
	got, err := Detect(t.Context(), device.Options{Root: root, RunTool: fakegpu.NoTool})
	if err != nil {
		t.Fatalf("Detect: %v", err)
	}
	want := Inventory{
		GPUs: []device.Device{
			{
				Index: 0, Vendor: device.AMD, Name: "AMD Instinct MI300X OAM", UUID: "GPU-a1b2c3d4e5f60718",
				PCI:       "0000:c1:00.0",
				VRAMBytes: new(int64(206141652992)), GTTBytes: new(int64(1000)),
			},
			{
				Index: 1, Vendor: device.AMD, Name: "AMD gfx942", UUID: "GPU-00000000000000ff", PCI: "0000:05:00.0",
				VRAMBytes: new(int64(206141652992)),
			},
		},
		Drivers: map[string]string{device.AMD: "6.8.5"},
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
	cardFiles := fakegpu.Card(1, "0000:05:00.0", map[string]string{
		"vendor": "0x1002", "mem_info_vram_total": "206141652992", "current_compute_partition": "CPX",
		"current_memory_partition": "NPS4",
	})
	second := "simd_count 152\nlocation_id 268436736\ngfx_target_version 90402\nunique_id 8\n"
	root := fakegpu.Tree(t, fakegpu.Join(
		cardFiles,
		fakegpu.Node(0, cpuNode, ""),
		fakegpu.Node(1, "simd_count 152\nlocation_id 1280\ngfx_target_version 90402\nunique_id 7\n", bank),
		fakegpu.Node(2, second, bank),
	))
	devices, notes := amd.Devices(root)
	want := []device.Device{
		{
			Index: 0, Vendor: device.AMD, Name: "AMD gfx942", UUID: "GPU-0000000000000007", PCI: "0000:05:00.0",
			VRAMBytes: new(int64(25769803776)),
			Partition: "CPX", PartitionIndex: new(0), MemoryMode: "NPS4",
		},
		{
			Index: 1, Vendor: device.AMD, Name: "AMD gfx942", UUID: "GPU-0000000000000008", PCI: "0000:05:00.0",
			VRAMBytes: new(int64(25769803776)),
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
	root := fakegpu.Tree(t, fakegpu.Join(
		fakegpu.Card(1, "0000:c5:00.0", map[string]string{
			"vendor": "0x1002", "mem_info_vram_total": "536870912",
			"mem_info_gtt_total": "67645734912",
		}),
		fakegpu.Card(0, "0000:05:00.0", map[string]string{"vendor": "0x1002", "mem_info_vram_total": "17163091968"}),
		fakegpu.Card(2, "0000:01:00.0", map[string]string{"vendor": "0x10de"}),
		fakegpu.Card(3, "0000:02:00.0", map[string]string{"vendor": "0x1002"}), // no amdgpu behind it
		fakegpu.Card(4, "0000:06:00.0", nil),
	))
	devices, notes := amd.Devices(root)
	want := []device.Device{
		{Index: 0, Vendor: device.AMD, PCI: "0000:05:00.0", VRAMBytes: new(int64(17163091968))},
		{
			Index: 1, Vendor: device.AMD, PCI: "0000:c5:00.0", VRAMBytes: new(int64(536870912)),
			GTTBytes: new(int64(67645734912)),
		},
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
	root := fakegpu.Tree(t, fakegpu.Join(fakegpu.Node(1, properties, ""), fakegpu.Node(2, properties, "")))
	devices, _ := amd.Devices(root)
	for i, want := range []string{"0000:05:00.0/0", "0000:05:00.0/1"} {
		if got := devices[i].ID(); got != want {
			t.Errorf("ID of partition %d = %q, want %q", i, got, want)
		}
	}
}
