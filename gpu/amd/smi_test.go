package amd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/fakegpu"
	"github.com/benchrig/bench/results"
)

// scripted answers calls of a tool by their arguments, and remembers them.
type scripted struct {
	answers map[string]string // arguments -> stdout; others fail with exit code 2
	asked   []string
}

func (s *scripted) run(_ context.Context, argv []string) ([]byte, error) {
	args := strings.Join(argv[1:], " ")
	s.asked = append(s.asked, args)
	if out, ok := s.answers[args]; ok {
		return []byte(out), nil
	}
	return []byte("usage: " + argv[0]), errors.New("exit status 2")
}

func amdSampler(t *testing.T, root string, s *scripted) *smiSampler {
	t.Helper()
	devices, _ := Devices(root)
	sampler, err := NewSMISampler(device.Options{Root: root, RunTool: s.run}, devices)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sampler.Close() })
	return sampler.(*smiSampler)
}

// A flag that failed is not asked again; the others are, by themselves.
func TestAMDSMIDropsFlags(t *testing.T) {
	machine := fakegpu.Server(t, 1)
	s := &scripted{answers: map[string]string{
		"list --json":      `[{"gpu":0,"bdf":"0000:0c:00.0"}]`,
		"metric -E --json": "\n", // no output, but the tool works
		"metric -m --json": `[{"gpu":0,"mem_usage":{"used_vram":{"value":5,"unit":"MB"}}}]`,
		"metric -p --json": `{"error":"Parameter '-p' is invalid","code":-2}`,
		"metric -c --json": `[{"gpu":0,"clock":{"gfx_0":{"clk":"132 MHz"}}}]`,
	}}
	sampler := amdSampler(t, machine.Root(), s)
	want := []results.GPUReading{{Device: machine.ID(0), VRAMUsedBytes: new(int64(5 << 20)), CoreHz: new(132e6)}}
	for i, asked := range []string{
		"list --json|metric -m -p -u -t --json|metric -c --json|metric -E --json|metric --throttle --json|static " +
			"--limit --json|" +
			"metric -m --json|metric -p --json|metric -u --json|metric -t --json|metric --violation --json",
		"metric -c --json|metric -m --json",
	} {
		if diff := cmp.Diff(want, readOnce(t, sampler)); diff != "" {
			t.Errorf("reading %d differs (-want +got):\n%s", i, diff)
		}
		if got := strings.Join(s.asked, "|"); got != asked {
			t.Errorf("reading %d asked for\n%s, want\n%s", i, got, asked)
		}
		s.asked = nil
	}
}

// A machine that is slow is read in part.
func TestAMDSMISlow(t *testing.T) {
	machine := fakegpu.Server(t, 1)
	devices, _ := Devices(machine.Root())
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	sampler, err := NewSMISampler(device.Options{Root: machine.Root(), RunTool: func(_ context.Context,
		argv []string,
	) ([]byte, error) {
		if slices.Contains(argv, "-c") {
			cancel()
			<-release
		}
		return []byte(`[{"gpu":0,"bdf":"0000:0c:00.0","power":{"socket_power":9}}]`), nil
	}}, devices)
	if err != nil {
		t.Fatal(err)
	}
	readings, err := sampler.Read(ctx)
	if err != nil || len(readings) != 1 || *readings[0].PowerW != 9 {
		t.Errorf("Read = %v, %v, want a reading of 9 W", readings, err)
	}
	close(release)
	if err := sampler.Close(); err != nil {
		t.Error(err)
	}
}

// What costs much is asked for rarely, and not repeated in between.
func TestAMDSMIAsksRarely(t *testing.T) {
	machine := fakegpu.Server(t, 1)
	s := &scripted{answers: map[string]string{
		"list --json":                  `[{"gpu":0,"bdf":"0000:0C:00.0"}]`,
		"metric -m -p -u -t --json":    `[{"gpu":0,"power":{"socket_power":{"value":700,"unit":"W"}}}]`,
		"metric -c --json":             `[{"gpu":0,"clock":"N/A"}]`,
		"metric -E --json":             `[{"gpu":0,"energy":{"total_energy_consumption":{"value":7.5,"unit":"J"}}}]`,
		"metric --throttle --json":     `[{"gpu":0,"throttle":{"ppt_violation_status":"ACTIVE","hbm_thermal_violation_status":"NOT ACTIVE"}}]`,
		"static --limit --json":        `[{"gpu":0,"limit":{"ppt0":{"socket_power_limit":{"value":750,"unit":"W"}}}}]`,
		"metric --violation --json":    ``,
		"metric -never-asked-for-this": ``,
	}}
	sampler := amdSampler(t, machine.Root(), s)
	first := results.GPUReading{
		Device: machine.ID(0), PowerW: new(700.0), EnergyJ: new(7.5), Throttle: []string{results.ThrottlePower},
		PowerLimitW: new(750.0),
	}
	later := results.GPUReading{Device: machine.ID(0), PowerW: new(700.0), EnergyJ: new(7.5)}
	fifth := later
	fifth.Throttle = first.Throttle
	for i, want := range []results.GPUReading{first, later, later, later, later, fifth} {
		if diff := cmp.Diff([]results.GPUReading{want}, readOnce(t, sampler)); diff != "" {
			t.Errorf("reading %d differs (-want +got):\n%s", i, diff)
		}
	}
	if notes := sampler.Notes(); len(notes) > 0 {
		t.Errorf("notes = %q, want none", notes)
	}
}

// Old versions repeat a socket's power for each of its partitions.
func TestAMDSMIPartitions(t *testing.T) {
	part := func(n int) map[string]string {
		return fakegpu.Node(n, fmt.Sprintf("simd_count 152\nlocation_id 1280\nunique_id %d\n", 5+n), "")
	}
	root := fakegpu.Tree(t, fakegpu.Join(fakegpu.Card(1, "0000:05:00.0", map[string]string{
		"vendor":              "0x1002",
		"mem_info_vram_total": "9",
	}), part(2), part(3)))
	s := &scripted{answers: map[string]string{
		"list --json": `[{"gpu":0,"bdf":"0000:05:00.0","node_id":2,"partition_id":0},{"gpu":1,"bdf":"0000:05:00.1","node_id":3,"partition_id":1}]`,
		"metric -m -p -u -t --json": `[{"gpu":0,"power":{"socket_power":152},"mem_usage":{"used_vram":1}},
			{"gpu":1,"power":{"socket_power":152},"mem_usage":{"used_vram":2}}]`,
	}}
	want := []results.GPUReading{
		{Device: "GPU-0000000000000007", VRAMUsedBytes: new(int64(1 << 20)), PowerW: new(152.0)},
		{Device: "GPU-0000000000000008", VRAMUsedBytes: new(int64(2 << 20))},
	}
	if diff := cmp.Diff(want, readOnce(t, amdSampler(t, root, s))); diff != "" {
		t.Errorf("readings differ (-want +got):\n%s", diff)
	}
}

// Only what was asked for is reported, and no GPU that is not in the inventory.
func TestAMDSMIDevices(t *testing.T) {
	machine := fakegpu.Server(t, 2)
	s := &scripted{answers: map[string]string{
		"list --json":               `[{"gpu":0,"bdf":"0000:0c:00.0"},{"gpu":1,"bdf":"0000:22:00.0"},{"gpu":2,"bdf":"0000:99:00.0"}]`,
		"metric -m -p -u -t --json": `{"gpu_data":[{"gpu":0,"power":{"socket_power":1}},{"gpu":1,"power":{"socket_power":2}},{"gpu":2,"power":{"socket_power":3}}]}`,
	}}
	devices, _ := Devices(machine.Root())
	sampler, err := NewSMISampler(device.Options{Root: machine.Root(), RunTool: s.run}, devices[1:])
	if err != nil {
		t.Fatal(err)
	}
	want := []results.GPUReading{{Device: machine.ID(1), PowerW: new(2.0)}}
	if diff := cmp.Diff(want, readOnce(t, sampler)); diff != "" {
		t.Errorf("readings differ (-want +got):\n%s", diff)
	}
	if notes := sampler.(*smiSampler).Notes(); !slices.ContainsFunc(notes, func(n string) bool {
		return strings.Contains(n, "its GPU 2 is not in the inventory")
	}) {
		t.Errorf("notes = %q, want one on GPU 2", notes)
	}
}

// A tool that died, or that is not there, or hangs, is an error at once.
func TestAMDSMILost(t *testing.T) {
	machine := fakegpu.Server(t, 1)
	devices, _ := Devices(machine.Root())
	for _, open := range []func(device.Options, []device.Device) (device.Sampler, error){
		NewSMISampler,
		NewROCmSMISampler,
	} {
		for name, script := range map[string]string{"signal": `kill -SEGV $$`, "nothing": ``} {
			fakegpu.Tools(t, map[string]string{"amd-smi": script, "rocm-smi": script})
			sampler, err := open(device.Options{Root: machine.Root()}, devices)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := sampler.Read(t.Context()); !errors.Is(err, errToolLost) {
					t.Errorf("%s, %s: error %v, want %v", sampler.Name(), name, err, errToolLost)
				}
			}
			_ = sampler.Close()
		}
		release := make(chan struct{})
		sampler, err := open(device.Options{Root: machine.Root(), RunTool: func(context.Context,
			[]string,
		) ([]byte, error) {
			<-release
			return nil, errors.New("late")
		}}, devices)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := sampler.Read(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s, hanging: error %v, want %v", sampler.Name(), err, context.DeadlineExceeded)
		}
		cancel()
		close(release)
		_ = sampler.Close()
		if _, err := open(device.Options{Root: t.TempDir()}, nil); err == nil {
			t.Error("a sampler for a machine without GPUs gave no error")
		}
	}
}

func TestMatchTool(t *testing.T) {
	gpu := func(index int, pci string, node int, id uint64, part *int) amdGPU {
		return amdGPU{
			Device: device.Device{Index: index, Vendor: device.AMD, PCI: pci, PartitionIndex: part},
			node:   kfdNode{number: node, folder: "x", id: id},
		}
	}
	// HIP counts otherwise than PCI
	swapped := []amdGPU{gpu(0, "0000:c1:00.0", 2, 77, nil), gpu(1, "0000:05:00.0", 3, 88, nil)}
	parts := []amdGPU{gpu(0, "0000:05:00.0", 2, 1, new(0)), gpu(1, "0000:05:00.0", 3, 2, new(1))}
	bare := []amdGPU{
		{Device: device.Device{PCI: "0000:05:00.0", PartitionIndex: new(0)}},
		{Device: device.Device{Index: 1, PCI: "0000:05:00.0", PartitionIndex: new(1)}},
	}
	tests := []struct {
		name   string
		listed []toolDevice
		gpus   []amdGPU
		want   map[int]int // index of the tool -> of the inventory
	}{
		{
			"by address",
			[]toolDevice{{index: 0, pci: "0000:05:00.0"}, {index: 1, pci: "0000:C1:00.0"}},
			swapped,
			map[int]int{0: 1, 1: 0},
		},
		{"by order of addresses", []toolDevice{{index: 0}, {index: 1}}, swapped, map[int]int{0: 1, 1: 0}},
		{"other number of GPUs", []toolDevice{{index: 0}, {index: 1}, {index: 2}}, swapped, map[int]int{}},
		{"by node", []toolDevice{{index: 0, node: new(3)}, {index: 1, node: new(2)}}, swapped, map[int]int{0: 1, 1: 0}},
		{"by id", []toolDevice{{index: 5, kfdID: new(uint64(88))}}, swapped, map[int]int{5: 1}},
		{
			"address and node disagree",
			[]toolDevice{{index: 0, pci: "0000:09:00.0", node: new(3)}},
			swapped,
			map[int]int{},
		},
		{"partitions by node", []toolDevice{
			{index: 0, pci: "0000:05:00.0", node: new(2)},
			{index: 1, pci: "0000:05:00.1", node: new(3)},
		}, parts, map[int]int{0: 0, 1: 1}},
		{
			"partitions by number",
			[]toolDevice{{index: 4, pci: "0000:05:00.0", partition: new(1)}},
			bare,
			map[int]int{4: 1},
		},
		{"which partition is not said", []toolDevice{{index: 4, pci: "0000:05:00.0"}}, bare, map[int]int{}},
		{"not here", []toolDevice{{index: 0, pci: "0000:06:00.0"}}, swapped, map[int]int{}},
	}
	for _, test := range tests {
		got := map[int]int{}
		for index, gpu := range matchTool(test.listed, test.gpus) {
			got[index] = gpu.Index
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: matchTool differs (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestMeasure(t *testing.T) {
	tests := []struct {
		in   string
		q    quantity
		want *float64
		err  string
	}{
		{`7`, inWatts, new(7.0), ""},
		{`{"value":7,"unit":"W"}`, inWatts, new(7.0), ""},
		{`{"VALUE":7,"Unit":"mW"}`, inWatts, new(0.007), ""},
		{`"138 MHz"`, inHertz, new(138e6), ""},
		{`"3422MHz"`, inHertz, new(3422e6), ""},
		{`"140.0"`, inWatts, new(140.0), ""},
		{`{"value":"12 W"}`, inWatts, new(12.0), ""},
		{`{"value":284,"unit":"MB"}`, inMiB, new(284.0 * (1 << 20)), ""},
		{`284`, inMiB, new(284.0 * (1 << 20)), ""},
		{`284`, inBytes, new(284.0), ""},
		{`{"value":42,"unit":"%"}`, inPercent, new(0.42), ""},
		{`"N/A"`, inWatts, nil, ""},
		{`"N/A (Secondary die)"`, inWatts, nil, ""},
		{`{"value":"N/A","unit":"mV"}`, inWatts, nil, ""},
		{`null`, inWatts, nil, ""},
		{`-5`, inDegrees, nil, ""},
		{`{"value":7,"unit":"hp"}`, inWatts, nil, `unit "hp" is not known`},
		{`{"value":7,"unit":"W"}`, inPercent, nil, `unit "W" is not known`},
		{`"UNKNOWN"`, inWatts, nil, "is not a number"},
		{`1e999`, inWatts, nil, "is not a number"},
		{`[1,2]`, inWatts, nil, "is not a value"},
		{`true`, inWatts, nil, "is not a value"},
		{`{"xcp_0":[1]}`, inPercent, nil, "is not a value"},
	}
	for _, test := range tests {
		value, err := decodeTool([]byte(`{"leaf":` + test.in + `}`))
		if err != nil {
			t.Fatal(err)
		}
		got, err := measure(asObject(value).field("leaf"), test.q)
		if diff := cmp.Diff(test.want, got, approx); diff != "" {
			t.Errorf("measure(%s) differs (-want +got):\n%s", test.in, diff)
		}
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("measure(%s): error %v, want %q", test.in, err, test.err)
		}
	}
}

func TestAMDEntries(t *testing.T) {
	tests := []struct {
		in   string
		want int
		err  string
	}{
		{`{"gpu":0}`, 1, ""},
		{`[{"gpu":0},{"gpu":1}]`, 2, ""},
		{`{"cpu_data":[],"core_data":[],"gpu_data":[{"gpu":0}]}`, 1, ""},
		{"WARNING: [render] is missing\n[{\"gpu\":0}]\ntail", 1, ""},
		{`{"error":"Parameter '-E' is invalid","code":-2}`, 0, "Parameter '-E' is invalid"},
		{`{"gpu_data":[]}`, 0, "is empty"},
		{`{"version":1}`, 0, "has no gpu"},
		{`[1,2]`, 0, "is empty"},
		{"ERROR: Driver not loaded\n", 0, "no JSON in its output: ERROR: Driver not loaded"},
		{"", 0, "no JSON"},
	}
	for _, test := range tests {
		got, err := parseEntries([]byte(test.in))
		if len(got) != test.want || (err == nil) != (test.err == "") || err != nil &&
			!strings.Contains(err.Error(), test.err) {
			t.Errorf("parseAMDEntries(%q) = %v, %v, want %d entries, error %q", test.in, got, err, test.want, test.err)
		}
	}
}

// Names of a version to come give null and a note.
func TestAMDSMIUnknownNames(t *testing.T) {
	entries, err := parseEntries([]byte(`[{"gpu":0,"power":{"package_power":{"value":9,"unit":"W"}},"mem_usage":[1],
		"clock":{"shader":{"clk":5}},"limit":{"tdp":5},"usage":{"gfx_activity":{"value":5,"unit":"‰"},"umc_activity":"N/A"},"temperature":"N/A"}]`))
	if err != nil {
		t.Fatal(err)
	}
	var got results.GPUReading
	var notes noteList
	readMetric(entries[0], &got, &notes)
	readStatic(entries[0], &got, &notes)
	if diff := cmp.Diff(results.GPUReading{}, got); diff != "" {
		t.Errorf("reading differs (-want +got):\n%s", diff)
	}
	want := []string{
		"amd-smi: mem_usage: [1] is not a section",
		"amd-smi: socket_power or current_power is not in its answer",
		`amd-smi: gfx_activity: unit "‰" is not known`,
		"amd-smi: clock gfx_0 or gfx is not in its answer",
		"amd-smi: clock mem_0 or mem is not in its answer",
		"amd-smi: the power limit is not in its answer",
	}
	if diff := cmp.Diff(want, notes.Notes()); diff != "" {
		t.Errorf("notes differ (-want +got):\n%s", diff)
	}
}

func TestAMDThrottle(t *testing.T) {
	tests := []struct {
		power, throttle object
		want            []string
	}{
		{nil, nil, nil},
		{object{"throttle_status": "N/A"}, nil, nil},
		{object{"throttle_status": "THROTTLED"}, nil, nil},
		{object{"throttle_status": "UNTHROTTLED"}, nil, []string{}},
		{nil, object{"ppt_violation_status": "NOT ACTIVE"}, []string{}},
		{nil, object{"ppt_violation_status": "N/A"}, nil},
		{
			nil,
			object{"PROCHOT_VIOLATION_STATUS": "ACTIVE", "vr_thermal_violation_status": "active"},
			[]string{results.ThrottleHardware, results.ThrottleRegulator},
		},
	}
	for _, test := range tests {
		if got := throttleReasons(test.power, test.throttle); !slices.Equal(got, test.want) ||
			(got == nil) != (test.want == nil) {
			t.Errorf("amdThrottle(%v, %v) = %#v, want %#v", test.power, test.throttle, got, test.want)
		}
	}
}

func TestROCmProcesses(t *testing.T) {
	in := `{"system": {"PID12": "a, b, c, 2, 500, 7, 0", "PID7": "llama-server, 1, UNKNOWN, 0, 0", "PID9": "short", "PIDx": "a, 1, 2, 3, 4", "Driver version": "6"}}`
	got, err := parseROCmProcesses([]byte(in))
	want := []results.GPUHolder{{PID: 7, Name: "llama-server"}, {PID: 9}, {
		PID: 12, Name: "a, b, c",
		Bytes: new(int64(500)),
	}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("parseROCmProcesses differs (-want +got), error %v:\n%s", err, diff)
	}
}

// The compute driver is asked first, then the tools; a folder that stands for
// a machine has none.
func TestAMDHoldersAnyway(t *testing.T) {
	s := &scripted{answers: map[string]string{"--showpids --json": `{"system": {"PID5": "vllm, 1, 9, 0, 0"}}`}}
	got, err := Holders(t.Context(), device.Options{Root: t.TempDir(), RunTool: s.run}, nil)
	if diff := cmp.Diff([]results.GPUHolder{{PID: 5, Name: "vllm", Bytes: new(int64(9))}}, got); diff != "" ||
		err != nil {
		t.Errorf("holders differ (-want +got), error %v:\n%s", err, diff)
	}
	if want := []string{"process --json", "--showpids --json"}; !slices.Equal(s.asked, want) {
		t.Errorf("asked for %q, want %q", s.asked, want)
	}
	if _, err := Holders(t.Context(), device.Options{Root: t.TempDir()}, nil); err == nil {
		t.Error("no error from a folder without the compute driver")
	}
	machine := fakegpu.Server(t, 1)
	if got, err := Holders(t.Context(), device.Options{Root: machine.Root(), RunTool: s.run}, nil); err != nil ||
		len(got) != 0 {
		t.Errorf("holders of an idle box = %v, %v, want none", got, err)
	}
}

// sane holds a reading to what every reader may rely on.
func sane(t *testing.T, text string, r results.GPUReading) {
	t.Helper()
	for name, v := range map[string]*float64{
		"power": r.PowerW, "energy": r.EnergyJ, "busy": r.Busy, "memory busy": r.MemoryBusy, "core": r.CoreHz,
		"memory clock": r.MemoryHz,
		"edge":         r.EdgeC, "hotspot": r.HotspotC, "memory temperature": r.MemoryC, "limit": r.PowerLimitW,
	} {
		if v != nil && !(*v >= 0 && *v < math.Inf(1)) {
			t.Errorf("%q: %s = %g", text, name, *v)
		}
	}
	for _, v := range []*int64{r.VRAMUsedBytes, r.GTTUsedBytes} {
		if v != nil && *v < 0 {
			t.Errorf("%q: %d bytes", text, *v)
		}
	}
	if r.Busy != nil && *r.Busy > 1 || r.MemoryBusy != nil && *r.MemoryBusy > 1 {
		t.Errorf("%q: busy for more than all of the time", text)
	}
}

func FuzzAMDSMI(f *testing.F) {
	f.Add(`{"gpu_data":[{"gpu":0,"power":{"socket_power":{"value":140,"unit":"W"}},"usage":"N/A"}]}`)
	f.Add(`WARNING [x` + "\n" +
		`[{"gpu":0,"clock":{"GFX_0":{"clk":"138 MHz"}},"limit":{"ppt0":{"socket_power_limit":5}}}]`)
	f.Add(`[{"gpu":0,"process_list":[{"process_info":{"pid":5,"name":"a","mem_usage":{"value":5,"unit":"B"}}}]}]`)
	f.Add(`{"error":"x"}`)
	f.Add(`[{"gpu":0,"bdf":"0000:c4:00.0","kfd_id":42905,"node_id":1,"partition_id":0}]`)
	gpus := []amdGPU{{Device: device.Device{PCI: "0000:c4:00.0"}}}
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := parseEntries([]byte(text))
		if err != nil && entries != nil || err == nil && len(entries) == 0 {
			t.Errorf("parseAMDEntries(%q) = %v, %v", text, entries, err)
		}
		for _, entry := range entries {
			var r results.GPUReading
			readMetric(entry, &r, &noteList{})
			readStatic(entry, &r, &noteList{})
			sane(t, text, r)
		}
		for index, gpu := range matchTool(listedDevices(entries), gpus) {
			if gpu.PCI != gpus[0].PCI || index < 0 {
				t.Errorf("%q: device %q made up", text, gpu.PCI)
			}
		}
		holders, err := parseSMIProcesses([]byte(text))
		checkHolders(t, text, holders, err)
	})
}

func FuzzROCmSMI(f *testing.F) {
	f.Add(`{"card0": {"sclk clock speed:": "(132Mhz)", "GPU use (%)": "0", "PCI Bus": "0000:C1:00.0"}}`)
	f.Add(`{"system": {"PID28389": "llama-server, 1, 2353860608, 11011, 0"}}`)
	f.Add("WARNING: low power\n\n" + `{"card0": {"Average Graphics Package Power (W)": "N/A (Secondary die)"}}`)
	f.Add(`{"card00": {}, "card0": {}, "card99999": {}}`)
	f.Fuzz(func(t *testing.T, text string) {
		cards, err := parseROCmCards([]byte(text), &noteList{})
		if err != nil && cards != nil {
			t.Errorf("parseROCmCards(%q): cards beside the error %v", text, err)
		}
		seen := map[int]bool{}
		for _, card := range cards {
			sane(t, text, card.GPUReading)
			if seen[card.index] || card.index < 0 || card.Device != "" {
				t.Errorf("%q: card %d twice, or named %q", text, card.index, card.Device)
			}
			seen[card.index] = true
		}
		holders, err := parseROCmProcesses([]byte(text))
		checkHolders(t, text, holders, err)
	})
}

func checkHolders(t *testing.T, text string, holders []results.GPUHolder, err error) {
	t.Helper()
	if err != nil && holders != nil {
		t.Errorf("%q: holders beside the error %v", text, err)
	}
	last := 0
	for _, holder := range holders {
		if holder.PID <= last || holder.Device != "" || holder.Bytes != nil && *holder.Bytes <= 0 {
			t.Errorf("%q: holder %+v after process %d", text, holder, last)
		}
		last = holder.PID
	}
}
