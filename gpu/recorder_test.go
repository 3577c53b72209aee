package gpu

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/gpu/nvidia"
	"github.com/benchrig/bench/internal/fakegpu"
	"github.com/benchrig/bench/results"
)

// fakeSampler reads what its function says.
type fakeSampler struct {
	name string
	read func(context.Context) ([]device.Reading, error)
}

func (f fakeSampler) Name() string                                       { return f.name }
func (f fakeSampler) Read(ctx context.Context) ([]device.Reading, error) { return f.read(ctx) }
func (f fakeSampler) Close() error                                       { return nil }

func oneReading(d string, watts float64) device.Reading {
	return device.Reading{At: time.Now(), GPUReading: results.GPUReading{Device: d, PowerW: &watts}}
}

// collector keeps samples.
type collector struct {
	mu      sync.Mutex
	samples []Sample
}

func (c *collector) emit(s Sample) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.samples = append(c.samples, s)
}

func (c *collector) gaps() []string {
	var gaps []string
	for _, s := range c.samples {
		if s.Gap != nil {
			gaps = append(gaps, s.Gap.Source+": "+s.Gap.Why)
		}
	}
	return gaps
}

func (c *collector) of(device string) []Sample {
	var of []Sample
	for _, s := range c.samples {
		if s.GPU != nil && s.GPU.Device == device {
			of = append(of, s)
		}
	}
	return of
}

// Readings come at the period from the start on, and one more at the stop; a
// slow sampler neither overlaps itself nor holds up another.
func TestRecorderKeepsItsPeriods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		running := 0
		slow := fakeSampler{"rocm-smi", func(context.Context) ([]device.Reading, error) {
			running++
			if running > 1 {
				t.Error("two reads of one sampler at a time")
			}
			time.Sleep(1500 * time.Millisecond)
			running--
			return []device.Reading{oneReading("slow", 1)}, nil
		}}
		quick := fakeSampler{"sysfs", func(context.Context) ([]device.Reading, error) {
			return []device.Reading{oneReading("quick", 2), oneReading("other", 3)}, nil
		}}
		var got collector
		r := Recorder{Samplers: []device.Sampler{slow, quick}, Devices: []string{"slow", "quick"}}
		r.Start(t.Context(), got.emit)
		time.Sleep(5050 * time.Millisecond)
		cost := r.Stop()

		if n := len(got.of("quick")); n != 52 { // 0, 0.1 ... 5.0, and the last at the stop
			t.Errorf("quick sampler: %d readings in 5.05 s, want 52", n)
		}
		for i, s := range got.of("quick")[:51] {
			if at := s.At.Sub(began); at != time.Duration(i)*100*time.Millisecond {
				t.Errorf("reading %d at %v, want %v", i, at, time.Duration(i)*100*time.Millisecond)
			}
		}
		// from 0, 2 and 4 s, which ends after the stop, and one that began after it
		if n := len(got.of("slow")); n != 4 {
			t.Errorf("slow sampler: %d readings, want 4", n)
		}
		if n := len(got.of("other")); n != 0 {
			t.Errorf("%d readings of a device that nobody asked for", n)
		}
		if cost.Sources[0].LongestS != 1.5 || cost.Sources[1].Reads != 52 || cost.WallS < 5.05 {
			t.Errorf("cost = %+v", cost)
		}
	})
}

// A sampler that hangs and ignores its context: gaps, no delay for the
// other, and Stop within its bound. Nothing is emitted afterwards.
func TestRecorderWithHangingSampler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		hung := fakeSampler{"amd-smi", func(context.Context) ([]device.Reading, error) {
			<-release
			return []device.Reading{oneReading("hung", 1)}, nil
		}}
		quick := fakeSampler{"sysfs", func(context.Context) ([]device.Reading, error) {
			return []device.Reading{oneReading("quick", 2)}, nil
		}}
		var got collector
		r := Recorder{Samplers: []device.Sampler{hung, quick}}
		r.Start(t.Context(), got.emit)
		time.Sleep(12050 * time.Millisecond)
		began := time.Now()
		r.Stop()
		if took := time.Since(began); took > stopGrace+killGrace {
			t.Errorf("Stop took %v", took)
		}
		if n := len(got.of("quick")); n != 122 {
			t.Errorf("%d readings beside the hanging sampler, want 122", n)
		}
		gaps := got.gaps()
		want := []string{"amd-smi: no answer for 5 s", "amd-smi: no answer for 10 s"}
		if len(gaps) < 3 || !slices.Equal(gaps[:2], want) {
			t.Errorf("gaps = %q, want first %q and more", gaps, want)
		}
		before := len(got.samples)
		close(release)
		synctest.Wait()
		if len(got.samples) != before || len(got.of("hung")) != 0 {
			t.Error("a sample was emitted after Stop")
		}
	})
}

// A failed reading is a gap, never the value before; so is a device that a
// source no longer reports.
func TestRecorderGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		flaky := fakeSampler{"sysfs", func(context.Context) ([]device.Reading, error) {
			reads++
			switch reads {
			case 2:
				return nil, errors.New("sysfs: read power1_average: input/output error")
			case 3:
				return []device.Reading{oneReading("a", 1)}, nil
			}
			return []device.Reading{oneReading("a", 1), oneReading("b", 2)}, nil
		}}
		var got collector
		r := Recorder{Samplers: []device.Sampler{flaky}}
		r.Start(t.Context(), got.emit)
		time.Sleep(250 * time.Millisecond)
		cost := r.Stop()
		want := []string{"sysfs: sysfs: read power1_average: input/output error", "sysfs: no reading of b"}
		if gaps := got.gaps(); !slices.Equal(gaps, want) {
			t.Errorf("gaps = %q, want %q", gaps, want)
		}
		if a, b := len(got.of("a")), len(got.of("b")); a != 3 || b != 2 {
			t.Errorf("%d readings of a and %d of b, want 3 and 2", a, b)
		}
		if cost.Sources[0].Gaps != 1 || cost.Sources[0].Reads != 4 {
			t.Errorf("cost = %+v, want 4 reads and 1 gap", cost.Sources[0])
		}
	})
}

func TestRecorderEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var got collector
		patient := fakeSampler{"nvidia-smi", func(ctx context.Context) ([]device.Reading, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		r := Recorder{Samplers: []device.Sampler{patient}, Host: true}
		r.Start(ctx, got.emit)
		time.Sleep(2500 * time.Millisecond)
		cancel()
		r.Stop()
		r.Stop() // a second one is harmless
		hosts := 0
		for _, s := range got.samples {
			if s.Host != nil {
				hosts++
			}
		}
		if hosts != 3 {
			t.Errorf("%d readings of the host in 2.5 s, want 3", hosts)
		}
	})
}

// The host's figures are sane, and recording it costs little.
func TestRecorderHost(t *testing.T) {
	var got collector
	r := Recorder{Host: true}
	r.Start(t.Context(), got.emit)
	time.Sleep(150 * time.Millisecond)
	cost := r.Stop()
	if len(got.samples) < 2 {
		t.Fatalf("%d readings of the host, want one at the start and one at the stop", len(got.samples))
	}
	for _, s := range got.samples {
		h := s.Host
		if h == nil || h.MemoryUsedBytes == nil || *h.MemoryUsedBytes <= 0 || h.Load1 == nil {
			t.Errorf("host = %+v, want memory and load", h)
		}
		if h != nil && h.CPUBusy != nil && (*h.CPUBusy < 0 || *h.CPUBusy > 1) {
			t.Errorf("cpu_busy = %v, want 0 to 1", *h.CPUBusy)
		}
	}
	if len(cost.Sources) != 1 || cost.Sources[0].Name != "host" || cost.CPU < 0 || cost.CPU > 1 {
		t.Errorf("cost = %+v", cost)
	}
}

func TestCPUBusy(t *testing.T) {
	tests := []struct {
		before, now cpuSpent
		want        string
	}{
		{cpuSpent{10, 100}, cpuSpent{15, 120}, "0.25"},
		{cpuSpent{}, cpuSpent{15, 120}, "null"},
		{cpuSpent{10, 100}, cpuSpent{10, 100}, "null"},
		{cpuSpent{10, 100}, cpuSpent{9, 120}, "0"},
	}
	for _, test := range tests {
		if got := fakegpu.JSON(t, test.now.busySince(test.before)); got != test.want {
			t.Errorf("%v.busySince(%v) = %s, want %s", test.now, test.before, got, test.want)
		}
	}
}

func TestPeriods(t *testing.T) {
	tests := []struct {
		sampler     string
		asked, want time.Duration
	}{
		{"nvml", 0, 100 * time.Millisecond},
		{"sysfs", 20 * time.Millisecond, 20 * time.Millisecond},
		{"sysfs", time.Microsecond, 10 * time.Millisecond},
		{"nvidia-smi", 0, 500 * time.Millisecond},
		{"nvidia-smi", 10 * time.Millisecond, 100 * time.Millisecond},
		{"amd-smi", 0, time.Second},
		{"rocm-smi", 100 * time.Millisecond, time.Second},
		{"rocm-smi", 3 * time.Second, 3 * time.Second},
	}
	for _, test := range tests {
		if got := periodOf(test.sampler, test.asked); got != test.want {
			t.Errorf("periodOf(%q, %v) = %v, want %v", test.sampler, test.asked, got, test.want)
		}
	}
}

// The cost of a thread that works is its CPU time, not that of others.
func TestRecorderCost(t *testing.T) {
	busy := fakeSampler{"sysfs", func(context.Context) ([]device.Reading, error) {
		words := 0
		for began := threadCPU(); threadCPU()-began < 20*time.Millisecond; {
			words += len(strings.Fields(strings.Repeat("a b ", 100)))
		}
		return []device.Reading{oneReading("a", float64(words))}, nil
	}}
	var got collector
	r := Recorder{Samplers: []device.Sampler{busy}, Period: time.Hour}
	r.Start(t.Context(), got.emit)
	cost := r.Stop() // the one at the start, and perhaps one at the stop
	reads := cost.Sources[0].Reads
	if per := cost.Sources[0].CPUS / float64(reads); reads < 1 || per < 0.019 || per > 0.1 {
		t.Errorf("%d reads cost %.3f s of CPU each, want about 0.02", reads, per)
	}
}

// Recording a server with eight GPUs ten times a second takes less than a
// hundredth of a core; the bound leaves room for the race detector.
func TestRecorderCostOfServer(t *testing.T) {
	samplers, _, err := foundSamplers(t.Context(), device.Options{
		Root:    fakegpu.Server(t, 8).Root(),
		RunTool: fakegpu.NoTool,
	}, "sysfs")
	if err != nil {
		t.Fatal(err)
	}
	fakegpu.CloseAfter(t, samplers[0])
	var got collector
	r := Recorder{Samplers: samplers}
	r.Start(t.Context(), got.emit)
	time.Sleep(300 * time.Millisecond)
	cost := r.Stop()
	t.Logf("%.2f %% of a core, %d samples, slowest read %.1f ms", 100*cost.CPU, len(got.samples),
		1000*cost.Sources[0].LongestS)
	if cost.CPU > 0.1 || cost.CPU <= 0 {
		t.Errorf("recording took %.4f of a core, want some, below 0.1", cost.CPU)
	}
	if len(got.samples) < 8*2 {
		t.Errorf("%d samples, want 8 GPUs twice or more", len(got.samples))
	}
}

// However soon after a reading, or in whatever reading, Stop is called: a
// reading follows that began after it.
func TestStopReadsOnceMore(t *testing.T) {
	for _, tt := range []struct {
		name        string
		takes, stop time.Duration
	}{
		{"just after a reading", 0, 200*time.Millisecond + 50*time.Microsecond},
		{"in the middle of one", 80 * time.Millisecond, 240 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var last time.Time
				r := Recorder{Period: 100 * time.Millisecond, Samplers: []device.Sampler{timedSampler{tt.takes}}}
				r.Start(t.Context(), func(s Sample) { last = s.At })
				time.Sleep(tt.stop)
				ended := time.Now()
				r.Stop()
				if last.Before(ended) {
					t.Errorf("the last reading is of %s before the end", ended.Sub(last))
				}
			})
		})
	}
}

// timedSampler reads at once and takes its time to say so.
type timedSampler struct{ takes time.Duration }

func (timedSampler) Name() string { return "sysfs" }
func (timedSampler) Close() error { return nil }

func (s timedSampler) Read(context.Context) ([]device.Reading, error) {
	at := time.Now()
	time.Sleep(s.takes)
	return []device.Reading{{At: at, GPUReading: results.GPUReading{Device: "a"}}}, nil
}

// Readings of a GPU whose power grows with time are at the right moments:
// the energy between the first and the last is right.
func TestRecorderOfSMIStream(t *testing.T) {
	fakegpu.Tools(t, map[string]string{"nvidia-smi": `
case "$*" in *--help-query-gpu*) exit 2;; esac
echo "index, count, uuid, power.draw.instant [W]"
while :; do
  ms=$(date +%s%3N)
  echo "0, 1, GPU-a, $((100 + (ms - ` + strconv.FormatInt(time.Now().UnixMilli(), 10) + `) / 20)) W"
  case "$*" in *-lms*) sleep 0.2;; *) exit 0;; esac
done`})
	began := time.Now()
	watts := func(at time.Time) float64 { return 100 + at.Sub(began).Seconds()*50 }
	sampler, err := nvidia.NewSMISampler(device.Options{}, []device.Device{{Vendor: device.NVIDIA, UUID: "GPU-a"}})
	if err != nil {
		t.Fatal(err)
	}
	fakegpu.CloseAfter(t, sampler)
	var got collector
	r := Recorder{Samplers: []device.Sampler{sampler}, Period: 200 * time.Millisecond}
	r.Start(t.Context(), got.emit)
	time.Sleep(2 * time.Second)
	cost := r.Stop()
	samples := got.of("GPU-a")
	if len(samples) < 5 || len(got.gaps()) > 0 {
		t.Fatalf("%d readings in 2 s, gaps %q", len(samples), got.gaps())
	}
	sum := 0.0
	for i := 1; i < len(samples); i++ {
		sum += (*samples[i].GPU.PowerW + *samples[i-1].GPU.PowerW) / 2 * samples[i].At.Sub(samples[i-1].At).Seconds()
	}
	first, last := samples[0].At, samples[len(samples)-1].At
	truth := (watts(first) + watts(last)) / 2 * last.Sub(first).Seconds()
	if off := sum/truth - 1; off > 0.05 || off < -0.05 {
		t.Errorf("energy %.1f J, want %.1f J within 5 %%", sum, truth)
	}
	if cost.Sources[0].CPUS <= 0 {
		t.Errorf("cost = %+v, want the tool's CPU time in it", cost)
	}
}
