package gpu

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/results"
)

// Sample is one reading of a GPU or of the host, or why there is none.
// Exactly one of GPU, Host and Gap is set.
type Sample struct {
	At   time.Time // of the reading itself, with monotonic time
	GPU  *results.GPUReading
	Host *results.HostReading
	Gap  *results.TelemetryGap
}

// Recorder reads samplers at a period until it is stopped. Each sampler has a
// goroutine and a thread of its own, so that a tool that is slow, or hangs,
// holds up nothing but itself. A Recorder serves once; its samplers stay open.
type Recorder struct {
	Samplers []device.Sampler
	Period   time.Duration // 0: DefaultPeriod of each sampler
	Devices  []string      // ids of the devices to report; nil: all
	Host     bool          // the host too, once a second

	recording *recording
}

// How long Stop waits for a reading in progress: tools are left to finish,
// because some of them leave a lock behind when they are killed.
const (
	stopGrace = 5 * time.Second
	killGrace = time.Second
)

// recording is what a Recorder does between Start and Stop.
type recording struct {
	mu      sync.Mutex // held while emit runs
	emit    func(Sample)
	began   time.Time
	stop    chan struct{} // closed by Stop
	loops   sync.WaitGroup
	sources []*loop
	ended   bool // no emit any more
}

// Start begins to read; the first reading is taken at once. emit gets every
// sample, from several goroutines but never from two at a time, and never
// after Stop has returned. When ctx ends, so does the reading.
func (r *Recorder) Start(ctx context.Context, emit func(Sample)) {
	rec := &recording{emit: emit, began: time.Now(), stop: make(chan struct{})}
	for _, sampler := range r.Samplers {
		rec.sources = append(rec.sources, newLoop(rec, r.samplerSource(sampler)))
	}
	if r.Host {
		rec.sources = append(rec.sources, newLoop(rec, hostSource(ctx)))
	}
	for _, l := range rec.sources {
		rec.loops.Go(func() { l.run(ctx) })
	}
	r.recording = rec
}

// Stop takes a last reading, so that the end of what was watched lies between
// two of them, and returns what the recording cost. It returns within seconds
// even if a tool hangs. Stopping twice, or without a start, gives no cost.
func (r *Recorder) Stop() Cost {
	rec := r.recording
	if rec == nil {
		return Cost{}
	}
	r.recording = nil
	close(rec.stop)
	rec.loops.Wait()
	rec.mu.Lock()
	rec.ended = true
	rec.mu.Unlock()
	return rec.cost()
}

// send passes samples on, in the order of their source.
func (rec *recording) send(samples ...Sample) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if rec.ended {
		return
	}
	for _, sample := range samples {
		rec.emit(sample)
	}
}

// samplerSource makes a source of a sampler, for the devices that are asked
// for.
func (r *Recorder) samplerSource(sampler device.Sampler) source {
	period := periodOf(sampler.Name(), r.Period)
	if p, ok := sampler.(paced); ok {
		p.SetPeriod(period)
	}

	s := source{name: sampler.Name(), period: period}
	if m, ok := sampler.(metered); ok {
		s.programs = m.ProgramCPU
	}

	missing := missingDevices{source: sampler.Name()}
	s.read = func(ctx context.Context) ([]Sample, error) {
		readings, err := sampler.Read(ctx)
		if err != nil {
			return nil, err
		}
		samples := []Sample{}
		for _, reading := range readings {
			if r.Devices == nil || slices.Contains(r.Devices, reading.Device) {
				samples = append(samples, Sample{At: reading.At, GPU: &reading.GPUReading})
			}
		}
		return append(samples, missing.gaps(samples)...), nil
	}

	return s
}

// missingDevices notices devices that a source no longer reports.
type missingDevices struct {
	source string
	seen   []string
}

func (m *missingDevices) gaps(samples []Sample) []Sample {
	var present []string
	for _, sample := range samples {
		present = append(present, sample.GPU.Device)
	}

	var gaps []Sample
	for _, device := range m.seen {
		if !slices.Contains(present, device) {
			why := "no reading of " + device
			gaps = append(gaps, Sample{At: time.Now(), Gap: &results.TelemetryGap{Source: m.source, Why: why}})
		}
	}

	for _, device := range present {
		if !slices.Contains(m.seen, device) {
			m.seen = append(m.seen, device)
		}
	}

	return gaps
}
