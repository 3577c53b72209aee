package telemetry

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// wave is a power over time, and its energy.
type wave struct {
	name  string
	power func(s float64) float64
	area  func(from, to float64) float64
}

func waves() []wave {
	const w = 2 * math.Pi / 5 // a period of 5 s
	ramp := func(s float64) float64 { return 140*s + 30*s*s/2 }
	sine := func(s float64) float64 { return 400*s - 250/w*math.Cos(w*s) }
	return []wave{
		{"constant", func(float64) float64 { return 612.5 }, func(from, to float64) float64 {
			return 612.5 * (to - from)
		}},
		{"ramp", func(s float64) float64 { return 140 + 30*s }, func(from, to float64) float64 {
			return ramp(to) - ramp(from)
		}},
		{"sine", func(s float64) float64 { return 400 + 250*math.Sin(w*s) }, func(from, to float64) float64 {
			return sine(to) - sine(from)
		}},
	}
}

// sampled reads a wave every period from first to last, with a jitter of a
// tenth of the period.
func sampled(device string, v wave, period, first, last float64) []results.TelemetrySample {
	random := rand.New(rand.NewPCG(1, 2))
	var out []results.TelemetrySample
	for at := first; at <= last; at += period {
		t := at + period*0.1*(random.Float64()-0.5)
		out = append(out, sample(device, t, func(r *results.GPUReading) {
			r.PowerW, r.EnergyJ = new(v.power(t)), new(1e6+v.area(0, t))
		}))
	}
	return out
}

func sample(device string, at float64, set ...func(*results.GPUReading)) results.TelemetrySample {
	r := &results.GPUReading{Device: device, PowerKind: "instant"}
	for _, f := range set {
		f(r)
	}
	return results.TelemetrySample{AtS: at, GPU: r}
}

func watts(v float64) func(*results.GPUReading) {
	return func(r *results.GPUReading) { r.PowerW = &v }
}

func counter(v float64) func(*results.GPUReading) {
	return func(r *results.GPUReading) { r.EnergyJ = &v }
}

func memory(vram, gtt int64) func(*results.GPUReading) {
	return func(r *results.GPUReading) { r.VRAMUsedBytes, r.GTTUsedBytes = &vram, &gtt }
}

func devices(ids ...string) []WatchedDevice {
	var all []WatchedDevice
	for i, id := range ids {
		all = append(all, WatchedDevice{ID: id, Index: i, Name: "MI300X"})
	}
	return all
}

func measured(samples []results.TelemetrySample, w Watched) *results.Telemetry {
	return Summarize(slices.Values(samples), w)
}

func closeTo(t *testing.T, what string, got *float64, want, tolerance float64) {
	t.Helper()
	if got == nil {
		t.Errorf("%s = null, want %v", what, want)
		return
	}
	if math.Abs(*got-want) > tolerance*math.Abs(want) {
		t.Errorf("%s = %v, want %v within %v %%", what, *got, want, 100*tolerance)
	}
}

func TestEnergyOfKnownCurves(t *testing.T) {
	for _, v := range waves() {
		for _, tt := range []struct{ hz, tolerance float64 }{{10, 0.01}, {1, 0.05}} {
			for _, to := range []float64{3, 7.77, 60.123} {
				t.Run(fmt.Sprintf("%s at %v Hz over %v s", v.name, tt.hz, to), func(t *testing.T) {
					period := 1 / tt.hz
					samples := sampled("a", v, period, -1.5*period, to+1.5*period)
					g := measured(samples, Watched{Devices: devices("a"), ToS: to, PeriodS: period}).GPUs[0].Pass
					closeTo(t, "energy", g.EnergyJ, v.area(0, to), tt.tolerance)
					closeTo(t, "counter", g.CounterJ, v.area(0, to), tt.tolerance)
					closeTo(t, "mean power", g.PowerMeanW, v.area(0, to)/to, tt.tolerance)
				})
			}
		}
	}
}

// Readings at the edges only: what lies between is a straight line, cut at the
// edges of the window.
func TestEnergyInterpolatesTheEdges(t *testing.T) {
	samples := []results.TelemetrySample{sample("a", -1, watts(100), counter(10)), sample("a", 1, watts(200),
		counter(250)), sample("a", 3, watts(100), counter(550))}
	got := measured(samples, Watched{Devices: devices("a"), ToS: 2}).GPUs[0].Pass
	closeTo(t, "energy", got.EnergyJ, 350, 1e-12) // 150 to 200 and back to 150
	closeTo(t, "counter", got.CounterJ, 270, 1e-12)
	closeTo(t, "disagreement", got.Disagreement, 270.0/350-1, 1e-9)
	closeTo(t, "median power", got.PowerMedianW, 200, 0)
	closeTo(t, "longest gap", got.LongestGapS, 1, 0)
}

func TestEnergyIsNullWithAReason(t *testing.T) {
	regular := func(from, to float64, set ...func(*results.GPUReading)) []results.TelemetrySample {
		var all []results.TelemetrySample
		for at := from; at <= to; at++ {
			all = append(all, sample("a", at, set...))
		}
		return all
	}
	for _, tt := range []struct {
		name    string
		samples []results.TelemetrySample
		periodS float64
		want    string // part of the reason; "": there is an energy
	}{
		{name: "covered", samples: regular(-1, 11, watts(100))},
		{name: "edges exactly", samples: regular(0, 10, watts(100))},
		{name: "nothing", want: "no reading of power"},
		{name: "N/A", samples: regular(-1, 11), want: "no reading of power"},
		{name: "starts late", samples: regular(1, 11, watts(100)), want: "no reading of power before second 1.00"},
		{name: "ends early", samples: regular(-1, 9, watts(100)), want: "no reading of power after second 9.00"},
		{
			name: "gap", samples: append(regular(-1, 3, watts(100)), regular(7, 11, watts(100))...),
			want: "4.0 s without a reading",
		},
		{name: "gap of N/A", samples: append(append(regular(-1, 3, watts(100)), regular(4, 6)...),
			regular(7, 11, watts(100))...), want: "4.0 s without a reading"},
		{
			name: "gap of a slow tool", samples: append(regular(-1, 3, watts(100)), regular(7, 11, watts(100))...),
			periodS: 1.5,
		},
		{
			name: "gap around the start", samples: append(regular(-5, -2, watts(100)), regular(2, 11, watts(100))...),
			want: "4.0 s without a reading",
		},
		{name: "gap before the start", samples: append(regular(-20, -19, watts(100)), regular(-1, 11, watts(100))...)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := measured(tt.samples, Watched{
				Devices: devices("a"), ToS: 10, PeriodS: tt.periodS,
				Figures: &results.Figures{Completed: 4},
			})
			pass := got.GPUs[0].Pass
			if tt.want == "" {
				closeTo(t, "energy", pass.EnergyJ, 1000, 1e-12)
				closeTo(t, "energy a request", got.Efficiency.JPerRequest, 250, 1e-12)
				return
			}
			if pass.EnergyJ != nil || pass.PowerMeanW != nil || got.Sum.Pass.EnergyJ != nil ||
				got.Efficiency.JPerRequest != nil {
				t.Errorf("energy %v, mean %v, sum %v, a request %v: want null", pass.EnergyJ, pass.PowerMeanW,
					got.Sum.Pass.EnergyJ, got.Efficiency.JPerRequest)
			}
			if !strings.Contains(pass.NoEnergy, tt.want) || !strings.Contains(got.Sum.Pass.NoEnergy, "GPU 0: ") {
				t.Errorf("reasons %q, %q, want %q and the GPU", pass.NoEnergy, got.Sum.Pass.NoEnergy, tt.want)
			}
		})
	}
}

func TestCountersThatCannotBeTrusted(t *testing.T) {
	for _, tt := range []struct {
		name  string
		value func(at float64) *float64
		want  string
		warns bool
	}{
		{"right", func(at float64) *float64 { return new(5e6 + 100*at) }, "", false},
		{"N/A", func(float64) *float64 { return nil }, "", false},
		{"does not move", func(float64) *float64 { return new(5e6) }, "did not move", false},
		{"zero", func(float64) *float64 { return new(0.0) }, "did not move", false},
		{
			"goes back", func(at float64) *float64 { return new(5e6 + 100*at - 300*math.Floor(at/5)) },
			"went back", false,
		},
		{"wraps", func(at float64) *float64 { return new(math.Mod(65000+100*at, 65536)) }, "went back", false},
		{"other unit", func(at float64) *float64 { return new(5e6 + 1.526*at) }, "it says 15.3 J", false},
		{"8 % off", func(at float64) *float64 { return new(5e6 + 108*at) }, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var samples []results.TelemetrySample
			for at := -0.5; at < 11; at += 0.5 {
				samples = append(samples, sample("a", at, watts(100), func(r *results.GPUReading) {
					r.EnergyJ = tt.value(at)
				}))
			}
			got := measured(samples, Watched{Devices: devices("a"), ToS: 10})
			pass := got.GPUs[0].Pass
			closeTo(t, "energy", pass.EnergyJ, 1000, 1e-12)
			if tt.want == "" {
				if pass.NoCounter != "" {
					t.Errorf("no counter because %q, want one or silence", pass.NoCounter)
				}
			} else if pass.CounterJ != nil || pass.Disagreement != nil || !strings.Contains(pass.NoCounter, tt.want) ||
				len(got.Notes) != 1 {
				t.Errorf("counter %v, reason %q, notes %q, want null, %q and a note", pass.CounterJ, pass.NoCounter,
					got.Notes, tt.want)
			}
			if warned := has(Warnings(got), results.WarnEnergy); warned != tt.warns {
				t.Errorf("warned %v, want %v", warned, tt.warns)
			}
		})
	}
}

func has(warnings []results.Warning, code results.WarningCode) bool {
	return slices.ContainsFunc(warnings, func(w results.Warning) bool { return w.Code == code })
}

func TestASumNeedsEveryGPU(t *testing.T) {
	var samples []results.TelemetrySample
	for at := -1.0; at <= 11; at++ {
		samples = append(samples, sample("a", at, watts(100)), sample("b", at+0.25, watts(300+10*at)))
	}
	got := measured(samples, Watched{Devices: devices("a", "b"), ToS: 10})
	closeTo(t, "energy", got.Sum.Pass.EnergyJ, 1000+10*(300-2.5)+500, 1e-12)
	closeTo(t, "most power", got.Sum.Pass.PowerMaxW, 100+300+97.5, 1e-12)
	missing := measured(samples, Watched{Devices: devices("a", "b", "c"), ToS: 10})
	if missing.Sum.Pass.EnergyJ != nil || missing.Sum.Pass.PowerMaxW != nil ||
		!strings.Contains(missing.Sum.Pass.NoEnergy, "GPU 2: no reading") {
		t.Errorf("sum without GPU 2: energy %v, reason %q, want null and a reason", missing.Sum.Pass.EnergyJ,
			missing.Sum.Pass.NoEnergy)
	}
	if !has(Warnings(missing), results.WarnPowerUnknown) {
		t.Error("no warning that power is unknown")
	}
}

// Partitions repeat the power of their socket, or only the first has it.
func TestPartitionsAreCountedOnce(t *testing.T) {
	for _, repeated := range []bool{true, false} {
		var samples []results.TelemetrySample
		for at := -1.0; at <= 11; at++ {
			for _, id := range []string{"p0", "p1", "p2"} {
				s := sample(id, at, memory(1<<30, 0))
				if repeated || id == "p0" {
					s.GPU.PowerW = new(152.0)
				}
				samples = append(samples, s)
			}
		}
		w := Watched{Devices: devices("p0", "p1", "p2"), ToS: 10}
		for i := range w.Devices {
			w.Devices[i].Socket = []string{"p0", "p1", "p2"}
		}
		got := measured(samples, w)
		closeTo(t, "energy of the socket", got.Sum.Pass.EnergyJ, 1520, 1e-12)
		closeTo(t, "energy of p0", got.GPUs[0].Pass.EnergyJ, 1520, 1e-12)
		if g := got.GPUs[1]; g.CountedWith != "p0" || g.Pass.EnergyJ != nil || g.Pass.PowerMaxW != nil {
			t.Errorf("p1: counted with %q, energy %v, want p0 and null", g.CountedWith, g.Pass.EnergyJ)
		}
		if *got.Sum.VRAMPeak != 3<<30 {
			t.Errorf("VRAM of all = %d, want 3 GiB", *got.Sum.VRAMPeak)
		}
		only := w
		only.Devices = w.Devices[2:]
		last := measured(samples, only)
		closeTo(t, "energy of the socket of p2", last.Sum.Pass.EnergyJ, 1520, 1e-12)
		if len(last.Notes) == 0 {
			t.Error("no note that the energy is that of the whole socket")
		}
	}
}

func TestMemory(t *testing.T) {
	at := func(s float64, vram int64) results.TelemetrySample { return sample("a", s, memory(vram, 1000)) }
	for _, tt := range []struct {
		name              string
		samples           []results.TelemetrySample
		loaded, peak, end int64 // 0: null
	}{
		{name: "none"},
		{
			name:    "steps",
			samples: []results.TelemetrySample{at(-1, 10), at(-0.1, 20), at(1, 50), at(2, 30), at(11, 25)},
			loaded:  20, peak: 50, end: 25,
		},
		{
			name:    "most at second 0",
			samples: []results.TelemetrySample{at(-0.1, 70), at(1, 50), at(11, 25)}, loaded: 70,
			peak: 70, end: 25,
		},
		{
			name: "more after the end", samples: []results.TelemetrySample{at(-0.1, 10), at(1, 20), at(10.5, 90)},
			loaded: 10, peak: 20, end: 90,
		},
		{
			name: "first reading late", samples: []results.TelemetrySample{at(0.5, 40), at(5, 45)}, loaded: 40,
			peak: 45, end: 45,
		},
		{name: "first reading much too late", samples: []results.TelemetrySample{at(5, 45)}, peak: 45, end: 45},
		{
			name: "not in order", samples: []results.TelemetrySample{at(11, 25), at(1, 50), at(-0.1, 20)}, loaded: 20,
			peak: 50, end: 25,
		},
		{
			name: "unknown between", samples: []results.TelemetrySample{
				at(-0.1, 20),
				sample("a", 1, watts(5)), at(2, 30),
			},
			loaded: 20, peak: 30, end: 30,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := Watched{Devices: devices("a"), ToS: 10}
			w.Devices[0].Before = AtRest{VRAMBytes: new(int64(7)), GTTBytes: new(int64(3))}
			g := measured(tt.samples, w).GPUs[0]
			for _, f := range []struct {
				name string
				got  *int64
				want int64
			}{
				{"loaded", g.VRAMLoaded, tt.loaded},
				{"peak", g.VRAMPeak, tt.peak},
				{"end", g.VRAMEnd, tt.end},
				{"baseline", g.VRAMBaseline, 7},
				{"baseline of all", g.MemoryBase, 10},
			} {
				if valueOf(f.got) != f.want {
					t.Errorf("%s = %v, want %d", f.name, valueOf(f.got), f.want)
				}
			}
			if tt.peak > 0 && *g.MemoryPeak != tt.peak+1000 {
				t.Errorf("peak with GTT = %d, want %d", *g.MemoryPeak, tt.peak+1000)
			}
		})
	}
}

func valueOf(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}

func TestThrottling(t *testing.T) {
	var samples []results.TelemetrySample
	for i := range 13 {
		s := sample("a", float64(i-1), watts(100))
		switch {
		case i < 3: // not known
		case i == 5:
			s.GPU.Throttle = []string{results.ThrottleThermal, results.ThrottlePower}
		case i < 8:
			s.GPU.Throttle = []string{results.ThrottlePower}
		default:
			s.GPU.Throttle = []string{}
		}
		samples = append(samples, s)
	}
	got := measured(samples, Watched{Devices: devices("a"), ToS: 10})
	if shares := got.GPUs[0].Pass.Throttle; shares[results.ThrottleThermal] != 1.0/9 ||
		shares[results.ThrottlePower] != 5.0/9 {
		t.Errorf("shares = %v, want 1/9 thermal, 5/9 power of the 9 readings that know", shares)
	}
	warnings := Warnings(got)
	if !has(warnings, results.WarnThrottled) || !has(warnings, results.WarnPowerCapped) {
		t.Errorf("warnings = %v, want both kinds of throttling", warnings)
	}
	e := metrics.Evidence{Figures: results.Figures{Completed: 1, Asked: 1}}
	for code, want := range map[results.WarningCode]results.Verdict{
		results.WarnThrottled: results.Suspect, results.WarnPowerLimit: results.Suspect,
		results.WarnPowerCapped: results.OK, results.WarnEnergy: results.OK,
	} {
		if verdict, _ := metrics.Verdict(e, []results.Warning{{Code: code}}, 1); verdict != want {
			t.Errorf("Verdict with %s = %s, want %s", code, verdict, want)
		}
	}
	unknown := measured([]results.TelemetrySample{sample("a", 1)}, Watched{Devices: devices("a"), ToS: 10})
	if unknown.GPUs[0].Pass.Throttle != nil {
		t.Errorf("shares = %v where nothing was said, want null", unknown.GPUs[0].Pass.Throttle)
	}
}

func TestPowerLimit(t *testing.T) {
	limit := func(at, w float64) results.TelemetrySample {
		return sample("a", at, func(r *results.GPUReading) { r.PowerLimitW = &w })
	}
	for _, tt := range []struct {
		name    string
		samples []results.TelemetrySample
		want    float64
		changed bool
	}{
		{"same", []results.TelemetrySample{limit(-1, 750), limit(5, 750), limit(11, 750)}, 750, false},
		{"set before", []results.TelemetrySample{limit(-2, 750), limit(-1, 500), limit(5, 500)}, 500, false},
		{"set during", []results.TelemetrySample{limit(-1, 750), limit(5, 500)}, 750, true},
		{"set after", []results.TelemetrySample{limit(-1, 750), limit(11, 500)}, 750, false},
	} {
		g := measured(tt.samples, Watched{Devices: devices("a"), ToS: 10}).GPUs[0]
		if g.PowerLimitW == nil || *g.PowerLimitW != tt.want || g.LimitChanged != tt.changed {
			t.Errorf("%s: limit %v, changed %v, want %v, %v", tt.name, g.PowerLimitW, g.LimitChanged,
				tt.want, tt.changed)
		}
	}
}

func TestEfficiencyAndSteadyState(t *testing.T) {
	var samples []results.TelemetrySample
	for at := -0.5; at <= 10.5; at += 0.5 {
		samples = append(samples, sample("a", at, watts(500)))
	}
	d := devices("a")
	d[0].IdleW = new(140.0)
	figures := &results.Figures{
		Completed: 20, TotalInputTokens: new(int64(3000)), TotalOutputTokens: new(int64(2000)),
		Steady: &results.SteadyState{FromS: 2, ToS: 6, OutputThroughput: new(250.0), RequestThroughput: 2},
	}
	got := measured(samples, Watched{Devices: d, ToS: 10, Figures: figures})
	closeTo(t, "above idle", got.Sum.Pass.AboveIdleJ, 3600, 1e-12)
	closeTo(t, "J per output token", got.Efficiency.JPerOutputToken, 2.5, 1e-12)
	closeTo(t, "J per token", got.Efficiency.JPerTotalToken, 1, 1e-12)
	closeTo(t, "J per request", got.Efficiency.JPerRequest, 250, 1e-12)
	closeTo(t, "tokens/s/W", got.Efficiency.TokensPerSPerW, 0.4, 1e-12) // 200 tokens/s at 500 W
	closeTo(t, "steady energy", got.Sum.Steady.EnergyJ, 2000, 1e-12)
	closeTo(t, "steady J per output token", got.Steady.JPerOutputToken, 2, 1e-12)
	closeTo(t, "steady J per request", got.Steady.JPerRequest, 250, 1e-12)
	if got.Steady.JPerTotalToken != nil {
		t.Errorf("steady J per token = %v, want null", *got.Steady.JPerTotalToken)
	}
	none := measured(samples, Watched{Devices: d, ToS: 10, Figures: &results.Figures{}})
	if e := none.Efficiency; e.JPerOutputToken != nil || e.JPerRequest != nil || e.TokensPerSPerW != nil {
		t.Errorf("efficiency of no work = %+v, want null", e)
	}
}

func TestGapsAndHost(t *testing.T) {
	samples := []results.TelemetrySample{
		sample("a", -1), sample("a", 1), sample("a", 6), sample("a", 11),
		{AtS: -1, Gap: &results.TelemetryGap{Source: "nvml"}},
		{AtS: 2, Gap: &results.TelemetryGap{Source: "nvml"}},
		{AtS: -1, Host: &results.HostReading{CPUBusy: new(1.0)}},
		{AtS: 1, Host: &results.HostReading{CPUBusy: new(0.25), MemoryUsedBytes: new(int64(5)), Load1: new(2.0)}},
		{AtS: 2, Host: &results.HostReading{CPUBusy: new(0.75), MemoryUsedBytes: new(int64(9))}},
		sample("stranger", 3, watts(1e6)),
	}
	got := measured(samples, Watched{Devices: devices("a"), ToS: 10})
	if got.Readings != 2 || got.Gaps != 1 || *got.LongestGapS != 5 {
		t.Errorf("readings %d, gaps %d, longest %v, want 2, 1, 5", got.Readings, got.Gaps, *got.LongestGapS)
	}
	if !has(Warnings(got), results.WarnTelemetryGaps) {
		t.Error("no warning of gaps")
	}
	if h := got.Host; *h.CPUBusyMean != 0.5 || *h.CPUBusyMax != 0.75 || *h.MemoryUsedPeak != 9 || *h.Load1Max != 2 {
		t.Errorf("host = %+v, want mean 0.5, most 0.75, peak 9, load 2", h)
	}
	nobody := measured(nil, Watched{ToS: 10})
	if nobody.Sum != nil || nobody.Host != nil || Warnings(nobody) != nil {
		t.Errorf("without GPUs: sum %v, host %v, want null and no warning", nobody.Sum, nobody.Host)
	}
}

// What must be known to read the figures is noted, once.
func TestNotes(t *testing.T) {
	var samples []results.TelemetrySample
	for at := -0.5; at <= 1.5; at += 0.5 {
		for _, id := range []string{"a", "b"} {
			s := sample(id, at, watts(100))
			s.GPU.PowerKind = "average"
			samples = append(samples, s)
		}
	}
	w := Watched{Devices: devices("a", "b"), ToS: 1}
	w.Devices[0].Parts, w.Devices[1].Unified = 2, true
	notes := measured(samples, w).Notes
	for _, want := range []string{
		"GPU 0 is cut into 2 MIG devices", "averages over about a second",
		"shared with the CPU", "the pass lasted 1.00 s",
	} {
		if n := len(slices.DeleteFunc(slices.Clone(notes), func(s string) bool {
			return !strings.Contains(s, want)
		})); n != 1 {
			t.Errorf("%d notes say %q, want 1: %q", n, want, notes)
		}
	}
}

// Whatever the samples, no figure is NaN or infinite, and energy lies between
// the least and the most power times the length.
func FuzzTelemetry(f *testing.F) {
	f.Add(uint64(1), 5.0)
	f.Add(uint64(7), 0.0)
	f.Fuzz(func(t *testing.T, seed uint64, to float64) {
		if !(to >= 0 && to < 1e6) {
			t.Skip()
		}
		random := rand.New(rand.NewPCG(seed, 0))
		least, most := math.Inf(1), 0.0
		var samples []results.TelemetrySample
		for at := -random.Float64(); at < to+1 && len(samples) < 1000; at += 0.01 + to/100*random.Float64() {
			p := 1000 * random.Float64()
			s := sample("a", at, watts(p), counter(1e5*random.Float64()))
			if random.IntN(10) == 0 {
				s.GPU.PowerW = new(math.NaN())
			} else {
				least, most = min(least, p), max(most, p)
			}
			samples = append(samples, s)
		}
		got := measured(samples, Watched{Devices: devices("a"), ToS: to, PeriodS: to}).Sum.Pass
		if got.EnergyJ != nil && (*got.EnergyJ < 0.999999*least*to || *got.EnergyJ > 1.000001*most*to ||
			math.IsNaN(*got.EnergyJ)) {
			t.Fatalf("energy %v of %v s between %v W and %v W", *got.EnergyJ, to, least, most)
		}
		if (got.EnergyJ == nil) != (got.NoEnergy != "") {
			t.Fatalf("energy %v, reason %q", got.EnergyJ, got.NoEnergy)
		}
		for _, v := range []*float64{got.CounterJ, got.Disagreement, got.PowerMaxW, got.PowerMedianW, got.PowerMeanW} {
			if v != nil && (math.IsNaN(*v) || math.IsInf(*v, 0)) {
				t.Fatalf("a figure is %v", *v)
			}
		}
	})
}
