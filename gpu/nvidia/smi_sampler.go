package nvidia

import (
	"context"
	"sync"
	"time"

	"github.com/benchrig/bench/gpu/device"
)

// smiSampler reads NVIDIA GPUs through nvidia-smi: from one that keeps
// running where that works, because each start costs time and may wake the
// GPU, else by one call for each reading.
type smiSampler struct {
	run     device.ToolRunner
	meter   *device.ToolMeter // nil where somebody else runs the tool
	devices []device.Device

	mu      sync.Mutex // guards what follows, not the reading itself
	period  time.Duration
	fields  []string // what to ask for; nil before the first reading
	stream  *smiStream
	oneShot bool          // streaming does not work here
	bad     int           // streams in a row that gave nothing
	past    time.Duration // CPU time of streams that ended
}

// smiPatience is how long a stream may be silent: without persistence mode
// the driver takes seconds for each GPU at the start.
const smiPatience = 15 * time.Second

// NewSMISampler reads devices, which nvidia-smi counts in PCI order.
func NewSMISampler(options device.Options, devices []device.Device) (device.Sampler, error) {
	s := &smiSampler{run: options.RunTool, devices: devices, period: device.DefaultPeriod("nvidia-smi")}
	if s.run == nil {
		s.meter = new(device.ToolMeter)
		s.run = s.meter.Run
	}
	s.oneShot = s.meter == nil // a given runner gives whole answers only
	return s, nil
}

// Name is "nvidia-smi".
func (s *smiSampler) Name() string { return "nvidia-smi" }

// Read returns the newest round of readings that it has not returned yet, or
// waits for the next.
func (s *smiSampler) Read(ctx context.Context) ([]device.Reading, error) {
	if s.known() == nil {
		if readings, err := s.first(ctx); err != nil || len(readings) > 0 {
			return readings, err
		}
	}

	stream, err := s.running(ctx)
	if err != nil {
		return nil, err
	}
	if stream == nil {
		readings, _, err := s.query(ctx, s.known())
		return readings, err
	}

	s.mu.Lock()
	period := s.period
	s.mu.Unlock()
	readings, err := stream.next(ctx, 2*period, max(smiPatience, 4*period))
	if ctx.Err() == nil {
		s.judge(stream, err)
	}

	return readings, err
}

// first finds out what can be asked, by asking it. Its answer counts only
// where no stream will follow.
func (s *smiSampler) first(ctx context.Context) ([]device.Reading, error) {
	readings, fields, err := s.query(ctx, smiFields(ctx, s.run, SMIReadingFields()))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fields = fields
	if s.oneShot {
		return readings, nil
	}
	return nil, nil
}

func (s *smiSampler) known() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fields
}

// query calls the tool once. The moment of its readings is that of its end,
// when it prints them.
func (s *smiSampler) query(ctx context.Context, fields []string) ([]device.Reading, []string, error) {
	table, fields, err := smiAsk(ctx, s.run, fields)
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	readings := []device.Reading{}
	for place, row := range table.rows {
		readings = append(readings, smiReading(row, now, place, s.devices))
	}
	return readings, fields, nil
}

// running is the stream, started if need be; nil if there is to be none.
func (s *smiSampler) running(ctx context.Context) (*smiStream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.oneShot || s.stream != nil {
		return s.stream, nil
	}
	stream, err := startSMIStream(ctx, s.fields, s.period, s.devices)
	s.stream = stream
	return stream, err
}

// judge drops a stream that failed; the next reading starts another. After
// three in a row that gave nothing there is no more streaming.
func (s *smiSampler) judge(stream *smiStream, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.bad = 0
		return
	}
	if s.stream == stream {
		s.drop()
		s.bad++
		s.oneShot = s.bad >= 3
	}
}

// StopStreaming makes every later reading a call of its own.
func (s *smiSampler) StopStreaming() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop()
	s.oneShot = true
}

// drop ends the stream. The caller holds mu.
func (s *smiSampler) drop() {
	if s.stream != nil {
		s.stream.close()
		s.past += s.stream.cpu()
		s.stream = nil
	}
}

// SetPeriod makes the tool write at another pace.
func (s *smiSampler) SetPeriod(period time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if period != s.period {
		s.drop()
		s.period = period
	}
}

// ProgramCPU is the CPU time of every nvidia-smi so far.
func (s *smiSampler) ProgramCPU() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := s.past
	if s.meter != nil {
		total += s.meter.ProgramCPU()
	}
	if s.stream != nil {
		total += s.stream.cpu()
	}
	return total
}

// Close ends the tool.
func (s *smiSampler) Close() error {
	s.StopStreaming()
	return nil
}
