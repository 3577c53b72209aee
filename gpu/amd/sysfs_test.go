package amd

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/fakegpu"
	"github.com/benchrig/bench/results"
)

func openTree(t testing.TB, root string) *sysfsSampler {
	t.Helper()
	devices, _ := Devices(root)
	sampler, err := NewSysfsSampler(device.Options{Root: root}, devices)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sampler.Close() })
	return sampler.(*sysfsSampler)
}

func readOnce(t testing.TB, sampler device.Sampler) []results.GPUReading {
	t.Helper()
	readings, err := sampler.Read(t.Context())
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	var out []results.GPUReading
	for _, reading := range readings {
		if reading.At.IsZero() {
			t.Errorf("reading of %s without a time", reading.Device)
		}
		out = append(out, reading.GPUReading)
	}
	return out
}

var approx = cmpopts.EquateApprox(1e-9, 1e-9)

func TestSysfsServer(t *testing.T) {
	machine := fakegpu.Server(t, 2)
	busy := fakegpu.Loaded()
	busy.Throttle = []string{"ppt", "hbm"}
	if err := machine.Set(1, busy); err != nil {
		t.Fatal(err)
	}
	if err := machine.HoldVRAM(4711, 1, 150<<30); err != nil {
		t.Fatal(err)
	}
	sampler := openTree(t, machine.Root())
	first := readOnce(t, sampler)
	if first[0].Throttle != nil {
		t.Errorf("throttle of the first reading = %v, want null: nothing to compare with", first[0].Throttle)
	}
	for gpu, values := range []fakegpu.Values{fakegpu.Idle(), busy} {
		if err := machine.Set(gpu, values); err != nil {
			t.Fatal(err)
		}
	}
	want := []results.GPUReading{
		{
			Device: machine.ID(0), VRAMUsedBytes: new(int64(298647552)), GTTUsedBytes: new(int64(14761984)),
			PowerW: new(140.0), PowerKind: "instant", EnergyJ: new(17_880_000.0), Busy: new(0.0), MemoryBusy: new(0.0),
			CoreHz: new(132e6), MemoryHz: new(900e6), HotspotC: new(38.0), MemoryC: new(33.0), PowerLimitW: new(750.0),
			Throttle: []string{},
		},
		{
			Device: machine.ID(1), VRAMUsedBytes: new(int64(298647552 + 150<<30)), GTTUsedBytes: new(int64(14761984)),
			PowerW: new(620.0), PowerKind: "instant", EnergyJ: new(17_880_000.0), Busy: new(1.0), MemoryBusy: new(0.7),
			CoreHz: new(2100e6), MemoryHz: new(1300e6), HotspotC: new(74.0), MemoryC: new(61.0),
			PowerLimitW: new(750.0),
			Throttle:    []string{results.ThrottlePower, results.ThrottleMemory},
		},
	}
	if diff := cmp.Diff(want, readOnce(t, sampler), approx); diff != "" {
		t.Errorf("readings differ (-want +got):\n%s", diff)
	}
	if got := readOnce(t, sampler)[1].Throttle; got != nil {
		t.Errorf("throttle without a cycle since the last reading = %v, want null", got)
	}
	if notes := sampler.Notes(); len(notes) > 0 {
		t.Errorf("notes = %q, want none", notes)
	}
}

// What GPUs of other kinds have, each in a machine of its own.
func TestSysfsKinds(t *testing.T) {
	const pci = "0000:05:00.0"
	tests := []struct {
		name  string
		files map[string]string // of the card's folder
		nodes map[string]string
		want  results.GPUReading
		note  string
	}{
		{
			"consumer card: average power, labels out of order, clocks from tables",
			map[string]string{
				"mem_info_vram_used": "1024", "gpu_busy_percent": "42", "hwmon/hwmon4/power1_average": "35000000",
				"hwmon/hwmon4/power1_cap": "0", "hwmon/hwmon4/temp1_label": "junction",
				"hwmon/hwmon4/temp1_input": "47000",
				"hwmon/hwmon4/temp2_label": "edge", "hwmon/hwmon4/temp2_input": "45000",
				"pp_dpm_sclk": "0: 500Mhz\n1: 2475Mhz *", "pp_dpm_mclk": "0: 96Mhz *\n1: 1000Mhz",
			},
			nil,
			results.GPUReading{
				VRAMUsedBytes: new(int64(1024)), Busy: new(0.42), PowerW: new(35.0), PowerKind: "average",
				EdgeC: new(45.0), HotspotC: new(47.0), CoreHz: new(2475e6), MemoryHz: new(96e6),
			},
			"",
		},
		{
			"second die of an MI250: its first die speaks for its power",
			map[string]string{
				"mem_info_vram_used": "10", "hwmon/hwmon4/power1_average": "0",
				"hwmon/hwmon4/temp1_input": "0", "hwmon/hwmon4/temp2_input": "40000",
			},
			nil,
			results.GPUReading{VRAMUsedBytes: new(int64(10)), HotspotC: new(40.0)},
			"",
		},
		{
			"APU: carve-out and GTT, power of the whole chip",
			map[string]string{
				"mem_info_vram_used": "154820608", "mem_info_gtt_used": "67645734912",
				"hwmon/hwmon4/power1_input": "28159000",
				"hwmon/hwmon4/freq1_input":  "2900000000", "hwmon/hwmon4/temp1_input": "49000",
			},
			nil,
			results.GPUReading{
				VRAMUsedBytes: new(int64(154820608)), GTTUsedBytes: new(int64(67645734912)), PowerW: new(28.159),
				PowerKind: "instant",
				CoreHz:    new(2900e6), EdgeC: new(49.0),
			},
			"",
		},
		{
			"values that cannot be",
			map[string]string{
				"mem_info_vram_used": "N/A", "gpu_busy_percent": "65535",
				"hwmon/hwmon4/temp1_input": "65535000", "hwmon/hwmon4/power1_average": "-1",
				"hwmon/hwmon4/freq1_input": "7",
			},
			nil,
			results.GPUReading{CoreHz: new(7.0)},
			"",
		},
		{
			"asleep",
			map[string]string{"power/runtime_status": "suspended", "mem_info_vram_used": "5", "gpu_busy_percent": "9"},
			nil,
			results.GPUReading{},
			"is suspended and was not woken",
		},
		{
			"table of a version to come",
			map[string]string{"mem_info_vram_used": "5", "gpu_metrics": "\x04\x00\x01\x09"},
			nil,
			results.GPUReading{VRAMUsedBytes: new(int64(5))},
			"version 1.9 is not known",
		},
		{
			"power only in the table, energy known for MI200",
			map[string]string{"mem_info_vram_used": "5", "gpu_metrics": table(120, 1, 3,
				map[int]uint64{22: 237, 24: 3 << 16, 112: 1<<32 | 1})},
			fakegpu.Node(1, "simd_count 416\nlocation_id 1280\ngfx_target_version 90010\n", ""),
			results.GPUReading{
				VRAMUsedBytes: new(int64(5)), PowerW: new(237.0), PowerKind: "average", EnergyJ: new(3.0),
				Throttle: []string{results.ThrottlePower, results.ThrottleThermal},
			},
			"",
		},
	}
	for _, test := range tests {
		attributes := map[string]string{"vendor": "0x1002", "mem_info_vram_total": "17163091968"}
		maps.Copy(attributes, test.files)
		sampler := openTree(t, fakegpu.Tree(t, fakegpu.Join(fakegpu.Card(1, pci, attributes), test.nodes)))
		test.want.Device = pci
		if diff := cmp.Diff([]results.GPUReading{test.want}, readOnce(t, sampler), approx); diff != "" {
			t.Errorf("%s: reading differs (-want +got):\n%s", test.name, diff)
		}
		if notes := strings.Join(sampler.Notes(), "\n"); !strings.Contains(notes, test.note) ||
			test.note == "" && notes != "" {
			t.Errorf("%s: notes = %q, want %q", test.name, notes, test.note)
		}
	}
}

// Power is counted once per socket, and so is memory where the driver does
// not tell it of each partition.
func TestSysfsPartitions(t *testing.T) {
	second := fakegpu.Join(fakegpu.Node(3, "simd_count 152\nlocation_id 1280\nunique_id 8\n", ""), map[string]string{
		"sys/class/kfd/kfd/topology/nodes/3/mem_banks/0/used_memory": "77\n",
	})
	root := fakegpu.Tree(t, fakegpu.Join(
		fakegpu.Card(1, "0000:05:00.0", map[string]string{
			"vendor": "0x1002", "mem_info_vram_total": "206141652992", "mem_info_vram_used": "1000",
			"current_compute_partition": "CPX",
			"gpu_busy_percent":          "12", "hwmon/hwmon2/power1_input": "152000000",
		}),
		fakegpu.Node(2, "simd_count 152\nlocation_id 1280\nunique_id 7\n", ""), second,
		fakegpu.Node(4, "simd_count 152\nlocation_id 1280\nunique_id 9\n", ""),
	))
	sampler := openTree(t, root)
	want := []results.GPUReading{
		{
			Device: "GPU-0000000000000007", VRAMUsedBytes: new(int64(1000)), PowerW: new(152.0), PowerKind: "instant",
			Busy: new(0.12),
		},
		{Device: "GPU-0000000000000008", VRAMUsedBytes: new(int64(77))},
		{Device: "GPU-0000000000000009"},
	}
	if diff := cmp.Diff(want, readOnce(t, sampler), approx); diff != "" {
		t.Errorf("readings differ (-want +got):\n%s", diff)
	}
	if notes := sampler.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "first partition") {
		t.Errorf("notes = %q, want one on partitions", notes)
	}
}

func TestSysfsNothing(t *testing.T) {
	if _, err := NewSysfsSampler(device.Options{Root: t.TempDir()}, nil); err == nil {
		t.Error("newSysfsSampler of an empty box gave no error")
	}
	lost := fakegpu.Tree(t, fakegpu.Card(1, "0000:05:00.0", map[string]string{
		"vendor":              "0x1002",
		"mem_info_vram_total": "17163091968",
	}))
	if _, err := openTree(t, lost).Read(t.Context()); err == nil {
		t.Error("Read of a GPU that says nothing gave no error")
	}
	sampler := openTree(t, fakegpu.Server(t, 1).Root())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sampler.Read(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Read with a canceled context: error %v", err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// table is a gpu_metrics table that has only these fields, by their offset;
// the width of a field is that of its value.
func table(size int, format, content byte, fields map[int]uint64) string {
	data := []byte(strings.Repeat("\xff", size))
	binary.LittleEndian.PutUint16(data, uint16(size))
	data[2], data[3] = format, content
	for at, value := range fields {
		switch {
		case at >= 24 && (at == 24 || at == 56 || at == 16 || at >= 112):
			binary.LittleEndian.PutUint64(data[at:], value)
		default:
			binary.LittleEndian.PutUint16(data[at:], uint16(value))
		}
	}
	return string(data)
}

func TestAMDTable(t *testing.T) {
	tests := []struct {
		name, data, gfx string
		watts, joules   *float64
		throttle        []string
		err             string
	}{
		{name: "all ones", data: table(328, 1, 5, nil)},
		{
			name: "MI300X, 1.4", data: table(288, 1, 4, map[int]uint64{10: 717, 24: 1 << 20}), watts: new(717.0),
			joules: new(16.0),
		},
		{
			name: "MI300X, 1.5", data: table(328, 1, 5, map[int]uint64{10: 140, 56: 65536}), watts: new(140.0),
			joules: new(1.0),
		},
		{
			name: "RDNA, unit of energy unknown", data: table(120, 1, 3, map[int]uint64{22: 30, 24: 99, 112: 0}),
			gfx: "gfx1030", watts: new(30.0), throttle: []string{},
		},
		{name: "bits that nobody knows", data: table(120, 1, 3, map[int]uint64{112: 1 << 60})},
		{
			name: "APU, hot", data: table(128, 2, 2, map[int]uint64{120: 1 << 36}),
			throttle: []string{results.ThrottleThermal},
		},
		{name: "energy that does not count", data: table(288, 1, 4, map[int]uint64{10: 0, 24: 0})},
		{name: "cut short", data: table(288, 1, 4, nil)[:100], err: "version 1.4 has 100 bytes"},
		{name: "another 1.6 than Linux has", data: table(368, 1, 6, nil), err: "says 368, not 1664"},
		{name: "to come", data: table(64, 4, 0, nil), err: "version 4.0 is not known"},
		{name: "nothing", data: "\x01", err: "are not a table"},
	}
	for _, test := range tests {
		got, err := parseMetricsTable([]byte(test.data), test.gfx)
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.err)
		}
		if diff := cmp.Diff([]any{test.watts, test.joules, test.throttle}, []any{
			got.powerW, got.energyJ,
			got.throttle,
		}); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestResidency(t *testing.T) {
	reasons := []string{"a", "b"}
	at := func(cycles uint32, counts ...uint32) *residency { return &residency{cycles, counts, reasons} }
	tests := []struct {
		name        string
		before, now *residency
		want        []string
	}{
		{"first reading", nil, at(5, 1, 1), nil},
		{"no table now", at(5, 1, 1), nil, nil},
		{"no cycle since", at(5, 1, 1), at(5, 1, 2), nil},
		{"nothing", at(5, 1, 1), at(6, 1, 1), []string{}},
		{"one", at(5, 1, 1), at(6, 1, 2), []string{"b"}},
		{"counters that wrapped", at(math.MaxUint32, 1, math.MaxUint32-1), at(2, 1, 3), []string{"b"}},
		{"one is not there", at(5, 1, math.MaxUint32), at(6, 2, math.MaxUint32), []string{"a"}},
		{"none is there", at(5, math.MaxUint32, math.MaxUint32), at(6, math.MaxUint32, math.MaxUint32), nil},
	}
	for _, test := range tests {
		if got := test.now.since(test.before); !slices.Equal(got, test.want) || (got == nil) != (test.want == nil) {
			t.Errorf("%s: since = %#v, want %#v", test.name, got, test.want)
		}
	}
}

func FuzzAMDTable(f *testing.F) {
	for _, seed := range []string{
		table(328, 1, 5, map[int]uint64{10: 140, 56: 65536}), table(120, 1, 3, nil),
		table(264, 3, 0, nil), "", "\x04\x00\x01\x09",
	} {
		f.Add([]byte(seed), "gfx90a")
	}
	f.Fuzz(func(t *testing.T, data []byte, gfx string) {
		table, err := parseMetricsTable(data, gfx)
		if err != nil && (table.powerW != nil || table.energyJ != nil || table.throttle != nil ||
			table.residency != nil) {
			t.Errorf("values beside the error %v", err)
		}
		for _, v := range []*float64{table.powerW, table.energyJ} {
			if v != nil && !(*v > 0 && *v < math.MaxUint64) {
				t.Errorf("value %g", *v)
			}
		}
		table.residency.since(table.residency)
	})
}

func FuzzKFDProperties(f *testing.F) {
	f.Add("cpu_cores_count 96\nsimd_count 0\nlocation_id 0\n")
	f.Add("simd_count 1216\nlocation_id 1280\ndomain 0\ngfx_target_version 90402\nunique_id 255\n")
	f.Add(
		"simd_count 18446744073709551615\nlocation_id 18446744073709551615\ngfx_target_version 18446744073709551615\n")
	f.Fuzz(func(t *testing.T, text string) {
		node := newKFDNode(parseProperties(text))
		if address := node.pci; len(address) < len("0000:00:00.0") || address != device.NormalPCI(address) {
			t.Errorf("newKFDNode(%q): address %q", text, address)
		}
		if node.gfx != "" && !strings.HasPrefix(node.gfx, "gfx") {
			t.Errorf("newKFDNode(%q): kind %q", text, node.gfx)
		}
	})
}

func FuzzSysfsText(f *testing.F) {
	f.Add("0: 500Mhz\n1: 2475Mhz *\n")
	f.Add("S: 132Mhz *")
	f.Add("1234\n5")
	f.Fuzz(func(t *testing.T, text string) {
		if hertz := selectedClock([]byte(text)); hertz != nil && !(*hertz >= 0 && *hertz < 1e25) {
			t.Errorf("selectedClock(%q) = %g", text, *hertz)
		}
		if n, ok := wholeNumber([]byte(text)); n < 0 || !ok && n != 0 {
			t.Errorf("wholeNumber(%q) = %d, %t", text, n, ok)
		}
	})
}

// BenchmarkSysfs is one reading of a server with 8 GPUs. At 10 Hz a hundredth
// of a core is 1 ms for each.
func BenchmarkSysfs(b *testing.B) {
	sampler := openTree(b, fakegpu.Server(b, 8).Root())
	for b.Loop() {
		if _, err := sampler.Read(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// What the folder of a GPU needs to be read is all that is opened.
func TestSysfsOpensOnce(t *testing.T) {
	machine := fakegpu.Server(t, 1)
	sampler := openTree(t, machine.Root())
	before := readOnce(t, sampler)
	moved := filepath.Join(filepath.Dir(machine.Root()), "moved")
	rename(t, filepath.Join(machine.Root(), "sys"), moved)
	if diff := cmp.Diff(before, readOnce(t, sampler), cmpopts.IgnoreFields(results.GPUReading{},
		"Throttle")); diff != "" {
		t.Errorf("a reading opened files anew (-before +after):\n%s", diff)
	}
}
