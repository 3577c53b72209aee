package doctor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/results"
)

// ready is a machine that nothing is wrong with.
func ready() View {
	return View{
		Programs: []Program{
			{Name: "vllm", Kind: Engine, Path: "/bin/vllm", Version: "0.11.0"},
			{Name: "docker", Kind: ContainerEngine, Path: "/bin/docker", Version: "28.0"},
		},
		Host: gpu.HostFacts{
			CPUModel: "EPYC", Threads: new(64), Load1: new(1.0), MemoryBytes: new(int64(512 << 30)),
			FreeBytes: new(int64(500 << 30)),
			HostSettings: gpu.HostSettings{
				Governors: []string{"performance"}, NUMABalancing: new(false),
				HugePages: new("madvise"), SwapUsedBytes: new(int64(0)),
			},
		},
		GPUs: gpu.Inventory{
			GPUs:    []device.Device{{Vendor: "amd", Name: "MI300X"}, {Index: 1, Vendor: "amd", Name: "MI300X"}},
			Drivers: map[string]string{"amd": "6.10"},
		},
		Samplers: []string{"sysfs"}, OpenFiles: 1 << 20, ShmFree: new(int64(64 << 30)),
		Ports: []Port{{"vllm", 8000, false}}, Disk: Disk{Dir: "/r", Free: new(int64(500 << 30))},
		Clock: Clock{Synchronised: new(true), ErrorS: 0.004}, Cgroups: true,
		Calibration: &results.Calibration{CPU: "EPYC", MeasuredAt: "today", RequestsPerS: 50000},
	}
}

func textOf(findings []Finding, least Status) string {
	var lines []string
	for _, f := range findings {
		if f.Status == Problem || least == Note && f.Status == Note || least == OK {
			lines = append(lines, fmt.Sprintf("%s %s: %s", f.Status, f.Area, f.Text))
		}
	}
	return strings.Join(lines, "\n")
}

func TestReadyBox(t *testing.T) {
	findings := Judge(ready())
	if got := textOf(findings, Note); got != "" || !Ready(findings) {
		t.Errorf("Judge(a ready box) has\n%s", got)
	}
	all := textOf(findings, OK)
	for _, want := range []string{
		"engines: vllm 0.11.0 at /bin/vllm", "containers: docker 28.0", "GPUs: 2 x MI300X", "amd driver 6.10",
		"read by sysfs", "no process holds GPU memory",
		"limits: 1048576 open files", "500 GiB free at /r", "64 GiB free in /dev/shm", "500 GiB of 512 GiB",
		"governor performance", "huge pages: madvise",
		"load 1.0 on 64 CPUs", "synchronised, within 4ms", "default ports", "nothing is left", "control group",
		"50000 requests/s",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("Judge(a ready box) lacks %q:\n%s", want, all)
		}
	}
}

func TestWhatIsWrong(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*View)
		want   string
	}{
		{"no engine", func(v *View) { v.Programs = v.Programs[1:] }, "note engines: no inference engine on PATH"},
		{
			"engine without an answer", func(v *View) { v.Programs[0].Trouble = "killed after its time limit of 5s" },
			"note engines: vllm at /bin/vllm: killed after its time limit of 5s",
		},
		{
			"no container engine", func(v *View) { v.Programs = v.Programs[:1] },
			"note containers: no docker and no podman",
		},
		{
			"docker does not answer", func(v *View) { v.Programs[1].Trouble = "no daemon" },
			"note containers: docker at /bin/docker does not answer: no daemon",
		},
		{"no GPU", func(v *View) { v.GPUs = gpu.Inventory{} }, "note GPUs: no GPU detected"},
		{"no sampler", func(v *View) { v.Samplers = nil }, "problem GPUs: no sampler reads their power and memory"},
		{
			"notes", func(v *View) { v.Notes = []string{"NVML is of another version"} },
			"note GPUs: NVML is of another version",
		},
		{"stranger", func(v *View) {
			v.Holders = []results.GPUHolder{{PID: 42, Name: "python", Device: "GPU-1", Bytes: new(int64(70 << 30))}}
		}, "problem GPU users: pid 42 python holds 71680 MiB of GPU-1"},
		{"desktop", func(v *View) {
			v.Holders = []results.GPUHolder{{PID: 7, Name: "Xorg", Bytes: new(int64(60 << 20))}}
		}, "note GPU users: pid 7 Xorg holds 60 MiB"},
		{
			"stranger of unknown size", func(v *View) { v.Holders = []results.GPUHolder{{PID: 7, Name: "x"}} },
			"note GPU users: pid 7 x holds an unknown amount",
		},
		{
			"holders unseen", func(v *View) { v.Unseen = "not permitted" },
			"note GPU users: the processes that hold GPU memory are unknown: not permitted",
		},
		{"few files", func(v *View) { v.OpenFiles = 1024 }, "problem limits: only 1024 open files"},
		{
			"some files", func(v *View) { v.OpenFiles = 20000 },
			"note limits: 20000 open files are enough for about 10000 streams",
		},
		{"full disk", func(v *View) { v.Disk.Free = new(int64(200 << 20)) }, "problem disk: 200 MiB free at /r"},
		{"little disk", func(v *View) { v.Disk.Free = new(int64(15 << 30)) }, "note disk: 15 GiB free at /r"},
		{
			"unknown disk", func(v *View) { v.Disk = Disk{Dir: "/r", Error: "stale"} },
			"note disk: free space at /r unknown: stale",
		},
		{
			"container's shm", func(v *View) { v.ShmFree = new(int64(64 << 20)) },
			"problem disk: only 64 MiB free in /dev/shm",
		},
		{
			"container's shm, one GPU", func(v *View) { v.ShmFree, v.GPUs.GPUs = new(int64(64<<20)), v.GPUs.GPUs[:1] },
			"note disk: only 64 MiB free in /dev/shm",
		},
		{"no shm", func(v *View) { v.ShmFree = nil }, "note disk: /dev/shm is missing"},
		{
			"little memory", func(v *View) { v.Host.FreeBytes = new(int64(20 << 30)) },
			"problem memory: only 20 GiB of 512 GiB are available",
		},
		{
			"swap", func(v *View) { v.Host.SwapUsedBytes = new(int64(300 << 20)) },
			"note memory: 300 MiB are swapped out",
		},
		{
			"governor", func(v *View) { v.Host.Governors = []string{"performance", "powersave"} },
			"note CPU: frequency governor powersave",
		},
		{"NUMA balancing", func(v *View) { v.Host.NUMABalancing = new(true) }, "note CPU: NUMA balancing"},
		{"load", func(v *View) { v.Host.Load1 = new(60.0) }, "problem CPU: load 60.0 on 64 CPUs"},
		{"some load", func(v *View) { v.Host.Load1 = new(20.0) }, "note CPU: load 20.0 on 64 CPUs"},
		{"clock", func(v *View) { v.Clock.Synchronised = new(false) }, "note clock: the clock is not synchronised"},
		{
			"clock unknown", func(v *View) { v.Clock = Clock{} },
			"note clock: it is unknown whether the clock is synchronised",
		},
		{"port", func(v *View) { v.Ports[0].Taken = true }, "note ports: port 8000 of launcher vllm is taken"},
		{"busy", func(v *View) { v.Busy = "pid 9" }, "problem bench: another bench is using this machine: pid 9"},
		{"leftovers", func(v *View) { v.Leftovers = []string{"/r/a"} }, "problem bench: the run in /r/a was cut off"},
		{
			"subreaper", func(v *View) { v.Subreaper = "not permitted" },
			"problem bench: orphans of servers cannot be adopted",
		},
		{"cgroups", func(v *View) { v.Cgroups = false }, "note bench: bench cannot create control groups"},
		{"broken", func(v *View) { v.Broken = []string{"read calibration: x"} }, "problem bench: read calibration: x"},
		{
			"never calibrated", func(v *View) { v.Calibration = nil },
			"note client: the load client was never calibrated on this machine",
		},
		{
			"another CPU", func(v *View) { v.Calibration.CPU = "Xeon" },
			"note client: the calibration comes from another CPU: Xeon",
		},
		{
			"need", func(v *View) { v.Needs = []Need{{What: "variant a", Text: "no vllm"}} },
			"problem scenario: variant a: no vllm",
		},
		{
			"lesser need", func(v *View) { v.Needs = []Need{{What: "check governor", Only: true, Text: "powersave"}} },
			"note scenario: check governor: powersave",
		},
		{"need that is met", func(v *View) { v.Needs = []Need{{What: "variant a", OK: true}} }, ""},
	} {
		v := ready()
		tc.change(&v)
		findings := Judge(v)
		got := textOf(findings, Note)
		if strings.Contains(got, "\n") || !strings.HasPrefix(got, tc.want) || tc.want == "" && got != "" {
			t.Errorf("%s: Judge has\n%s\nwant only\n%s", tc.name, got, tc.want)
		}
		if wantReady := !strings.HasPrefix(tc.want, "problem"); Ready(findings) != wantReady {
			t.Errorf("%s: Ready = %t, want %t", tc.name, Ready(findings), wantReady)
		}
	}
}

// Facts that are not known make no findings up.
func TestUnknownBox(t *testing.T) {
	findings := Judge(View{})
	for _, f := range findings {
		if f.Status == Problem || strings.Contains(f.Text, "nil") || f.Text == "" || f.Area == "" {
			t.Errorf("Judge(nothing known) has %+v", f)
		}
	}
}
