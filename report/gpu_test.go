package report

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/report/export"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// withGPUs gives a step the telemetry of two GPUs under a load.
func withGPUs(s results.Step, meanW float64, throttle map[string]float64) results.Step {
	r := s.Result
	length := r.Figures.DurationS
	one := results.GPUFigures{
		Name: "AMD Instinct MI300X", VRAMBytes: new(int64(206141652992)),
		VRAMBaseline: new(int64(298647552)), VRAMLoaded: new(int64(170 << 30)), VRAMPeak: new(int64(171 << 30)),
		VRAMEnd: new(int64(170<<30 + 5<<20)),
		IdleW:   new(140.0), PowerKind: "average", PowerLimitW: new(750.0),
		Pass: results.GPUWindow{
			ToS: length, Readings: 1000, LongestGapS: new(0.21), PowerMeanW: new(meanW), PowerMedianW: new(meanW + 5),
			PowerMaxW: new(meanW + 90),
			EnergyJ:   new(meanW * length), AboveIdleJ: new((meanW - 140) * length),
			CounterJ:     new(meanW * length * 1.01),
			Disagreement: new(0.01),
			BusyMean:     new(0.97), CoreHzMean: new(1.9e9), CoreHzMin: new(1.4e9), TempMeanC: new(70.0),
			TempMaxC: new(81.0), MemTempMaxC: new(66.0),
			Throttle: throttle,
		},
	}
	two := one
	one.Device, two.Device, two.Index = "GPU-a", "GPU-b", 1
	sum := one
	sum.Device, sum.Name, sum.PowerKind = "", one.Name, "average"
	sum.VRAMBytes, sum.VRAMBaseline, sum.VRAMLoaded, sum.VRAMPeak = new(2**one.VRAMBytes), new(2**one.VRAMBaseline),
		new(2**one.VRAMLoaded), new(2**one.VRAMPeak)
	sum.IdleW, sum.PowerLimitW = new(280.0), new(1500.0)
	sum.Pass.PowerMeanW, sum.Pass.EnergyJ, sum.Pass.AboveIdleJ, sum.Pass.PowerMaxW = new(2*meanW), new(2*meanW*length),
		new(2*(meanW-140)*length), new(2*meanW+150)
	perToken := 2 * meanW * length / float64(*r.Figures.TotalOutputTokens)
	r.Telemetry = &results.Telemetry{
		Samplers: []string{"sysfs"}, PeriodS: new(0.1), Readings: 2000, LongestGapS: new(0.21), CPUShare: new(0.004),
		GPUs: []results.GPUFigures{one, two}, Sum: &sum,
		Host: &results.HostFigures{
			CPUBusyMean: new(0.2), CPUBusyMax: new(0.6),
			MemoryUsedPeak: new(int64(90 << 30)), Load1Max: new(14.5),
		},
		Efficiency: &results.Efficiency{
			JPerOutputToken: &perToken, JPerTotalToken: new(perToken / 5),
			JPerRequest: new(perToken * 32), TokensPerSPerW: new(1 / perToken),
		},
		Notes: []string{"power readings are averages over about a second"},
	}
	return s
}

// gpuRun has a sound step, a throttled one, one without energy, and one that
// nobody watched.
func gpuRun() *results.Run {
	valid := withGPUs(step("tp8", 8, 1, 4), 610, map[string]float64{results.ThrottlePower: 0.125})
	slow := withGPUs(step("tp2-pp4", 8, 1, 3), 580,
		map[string]float64{results.ThrottleThermal: 0.5, results.ThrottlePower: 0.01})
	slow = doubt(slow, results.WarnThrottled, "GPU 0 slowed down (thermal 50.0 %% of the time)")
	slow.Result.Verdict = results.Suspect
	unknown := withGPUs(step("tp2x4", 8, 1, 4.25), 600, nil)
	t := unknown.Result.Telemetry
	for _, g := range []*results.GPUFigures{&t.GPUs[1], t.Sum} {
		g.Pass.EnergyJ, g.Pass.PowerMeanW, g.Pass.AboveIdleJ, g.Pass.NoEnergy = nil, nil, nil,
			"GPU 1: no reading of power"
	}
	t.Efficiency = &results.Efficiency{}
	unknown = doubt(unknown, results.WarnPowerUnknown, "there is no energy: GPU 1: no reading of power")
	unwatched := step("tp8", 16, 1, 4)
	return runOf(valid, slow, unknown, unwatched)
}

func TestGPUGoldens(t *testing.T) {
	run := gpuRun()
	golden(t, "gpus.txt", print(t, func(out *bytes.Buffer) error { return Write(out, run, table.Options{}) }))
	golden(t, "gpus-100.txt", print(t,
		func(out *bytes.Buffer) error { return Write(out, run, table.Options{Width: 100}) }))
	golden(t, "gpus.md", print(t, func(out *bytes.Buffer) error { return Markdown(out, run) }))
	golden(t, "gpus.csv", print(t, func(out *bytes.Buffer) error { return export.CSV(out, run) }))
	golden(t, "step-gpus.txt", print(t, func(out *bytes.Buffer) error { return detail.Step(out, run, "tp8-c8-r1") }))
	golden(t, "step-gpus-unknown.txt",
		print(t, func(out *bytes.Buffer) error { return detail.Step(out, run, "tp2x4-c8-r1") }))
}

// A throttled GPU's joules are marked and are never the best.
func TestThrottledIsMarkedAndNotBest(t *testing.T) {
	run := gpuRun()
	run.Steps[1].Result.Telemetry.Efficiency.JPerOutputToken = new(0.001)
	c := grid.LayOutRun(run)
	at := -1
	for i, h := range c.Columns {
		if h.Unit == "J/output tok" {
			at = i
		}
	}
	if at < 0 {
		t.Fatal("no column of energy")
	}
	for _, r := range c.Rows {
		e := r.Cells[at]
		if marked := strings.Contains(e.Text, grid.ThrottleMark); marked != (r.Cells[0].Text == "tp2-pp4") {
			t.Errorf("%s: energy %q, marked %v", r.Cells[0].Text, e.Text, marked)
		}
		if e.Best && r.Cells[0].Text == "tp2-pp4" {
			t.Error("the throttled variant is best")
		}
	}
}

// Where no step has telemetry there is no column of dashes, no section and no
// file; where some have, the others' fields are empty.
func TestNoTelemetryNoColumns(t *testing.T) {
	run := runs()["ok"]
	for name, text := range map[string][]byte{
		"terminal": print(t, func(out *bytes.Buffer) error { return Write(out, run, table.Options{}) }),
		"markdown": print(t, func(out *bytes.Buffer) error { return Markdown(out, run) }),
		"csv":      print(t, func(out *bytes.Buffer) error { return export.CSV(out, run) }),
		"step":     print(t, func(out *bytes.Buffer) error { return detail.Step(out, run, "tp8-c8-r1") }),
	} {
		for _, word := range []string{"VRAM", "vram", "J/output", "j_per", "throttl"} {
			if bytes.Contains(text, []byte(word)) {
				t.Errorf("%s without telemetry has %q", name, word)
			}
		}
	}
	rows, err := csv.NewReader(bytes.NewReader(print(t,
		func(out *bytes.Buffer) error { return export.CSV(out, gpuRun()) }))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range rows[0] {
		if name == "gpus" && (rows[1][i] != "2" || rows[4][i] != "") {
			t.Errorf("gpus = %q and %q, want 2 and nothing", rows[1][i], rows[4][i])
		}
	}
}

func TestMemoryUsage(t *testing.T) {
	run := gpuRun()
	files, err := filesOf(run)
	if err != nil {
		t.Fatal(err)
	}
	const want = "GPU Name: AMD Instinct MI300X\nWarm up status:\n174080MiB 196592MiB\n174080MiB 196592MiB\n" +
		"After Benchmark status:\n174085MiB 196592MiB\n174085MiB 196592MiB\n"
	if got := string(files["steps/tp8-c8-r1/mem_usage.txt"]); got != want {
		t.Errorf("mem_usage.txt = %q, want %q", got, want)
	}
	if _, there := files["steps/tp8-c16-r1/mem_usage.txt"]; there {
		t.Error("a step without GPUs has a mem_usage.txt")
	}
	r := run.Steps[0].Result
	r.Telemetry.GPUs[1].VRAMLoaded = nil
	if got := string(detail.MemoryUsage(r)); !strings.Contains(got, "N/A 196592MiB") {
		t.Errorf("mem_usage.txt = %q, want N/A for what is not known", got)
	}
	for i := range r.Telemetry.GPUs {
		r.Telemetry.GPUs[i].VRAMLoaded, r.Telemetry.GPUs[i].VRAMEnd = nil, nil
	}
	if got := detail.MemoryUsage(r); got != nil {
		t.Errorf("mem_usage.txt = %q where nothing is known, want none", got)
	}
}

func TestStepShowsWhatWasAround(t *testing.T) {
	run := runs()["ok"]
	r := run.Steps[0].Result
	r.Changes = []string{"driver 6.12 was 6.10"}
	r.Hooks = []results.HookRecord{
		{Level: "step", When: "before", Name: "drop-caches", OK: false, Message: "exit 1:\x1b[31m no", TookS: 0.25},
		{Level: "step", When: "after", Name: "fine", OK: true},
	}
	r.Cache = &results.CacheState{
		Asked: "cold", How: []string{"reset", "salt"}, Hits: new(64.0), Queries: new(4096.0),
		HitShare: new(0.015625), Verified: new(false), VerifiedHow: "counters",
	}
	r.Servers[0].ReadyPhases = []results.Phase{{Name: "alive", AtS: 0.1}, {Name: "token", AtS: 43.25}}
	r.Servers[0].Startup = &results.Startup{
		Phases:   []results.StartupPhase{{Name: "weights", Seconds: 12.5}, {Name: "graph-capture", Seconds: 20}},
		KVTokens: new(int64(1234567)), MaxConcurrency: new(37.67), ModelBytes: new(int64(15 << 30)),
		ContextLen: new(int64(32768)),
	}
	golden(t, "step-around.txt", print(t, func(out *bytes.Buffer) error { return detail.Step(out, run, "tp8-c8-r1") }))
	golden(t, "around.txt", print(t, func(out *bytes.Buffer) error { return Write(out, run, table.Options{}) }))
}
