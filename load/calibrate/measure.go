package calibrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

// Measure drives every reader at every width, in turn within each round, so
// that what else the machine does meets them alike.
func Measure(ctx context.Context, o Options) (cal results.Calibration, err error) {
	o = o.filled()
	if o.Feeder == nil {
		return cal, errors.New("calibrate: no feeder given")
	}
	if err := raiseFileLimit(slices.Max(o.Widths)); err != nil {
		return cal, err
	}

	feeder, err := startFeeder(o.Feeder(ctx))
	if err != nil {
		return cal, err
	}
	defer func() { err = errors.Join(err, feeder.stop()) }()

	cal.MeasuredAt = time.Now().UTC().Format(time.RFC3339)
	cal.CPU, cal.Cores = proc.System.CPU().Model, runtime.NumCPU()
	if cal.Requests, err = measureRequests(ctx, o, feeder.addr); err != nil {
		return cal, err
	}
	for _, r := range cal.Requests {
		if r.Reader == spec.TransportSockets {
			cal.RequestsPerS = r.RequestsPerS
		}
	}

	for _, width := range o.Widths {
		drives, err := measureWidth(ctx, o, feeder, width)
		if err != nil {
			return cal, fmt.Errorf("%d streams: %w", width, err)
		}
		cal.Drives = append(cal.Drives, drives...)
	}

	return cal, nil
}

// measureRequests drives every reader through answers of one token.
func measureRequests(ctx context.Context, o Options, addr string) ([]results.CalibratedRequests, error) {
	rates, costs := make([][]float64, len(o.Readers)), make([][]float64, len(o.Readers))
	for round := range o.Rounds {
		for i, reader := range o.Readers {
			o.Said(fmt.Sprintf("answers of one token by %s, round %d of %d", reader, round+1, o.Rounds))
			s, err := drive(ctx, reader, addr, pace{tokens: 1}, min(requestsWidth, o.Answers), o.Answers)
			if err != nil {
				return nil, err
			}
			rates[i] = append(rates[i], float64(o.Answers)/s.durationS)
			costs[i] = append(costs[i], s.cpuS/float64(o.Answers))
		}
	}

	all := make([]results.CalibratedRequests, len(o.Readers))
	for i, reader := range o.Readers {
		all[i] = results.CalibratedRequests{
			Reader: reader, RequestsPerS: median(rates[i]), CPUPerRequestS: median(costs[i]),
		}
	}
	return all, nil
}

func measureWidth(ctx context.Context, o Options, f *feederProcess, width int) ([]results.CalibratedDrive, error) {
	addr := f.addr
	paced := make([][]seen, len(o.Readers))
	unpaced, costs := make([][]float64, len(o.Readers)), make([][]float64, len(o.Readers))
	for round := range o.Rounds {
		for i, reader := range o.Readers {
			o.Said(fmt.Sprintf("%d streams by %s, round %d of %d", width, reader, round+1, o.Rounds))
			if err := f.begin(ctx, o.pace(width)); err != nil {
				return nil, err
			}
			s, err := drive(ctx, reader, addr, o.pace(width), width, width)
			if err != nil {
				return nil, err
			}
			if s.truth, err = f.truth(ctx, width); err != nil {
				return nil, err
			}
			if err := f.begin(ctx, o.pace(width)); err != nil { // what was paced is forgotten
				return nil, err
			}
			paced[i] = append(paced[i], s)
			fast := pace{tokens: max(o.Unpaced/width, 1)}
			if s, err = drive(ctx, reader, addr, fast, width, width); err != nil {
				return nil, err
			}
			events := float64(width * fast.tokens)
			unpaced[i], costs[i] = append(unpaced[i], events/s.durationS), append(costs[i], s.cpuS/events)
		}
	}

	drives := make([]results.CalibratedDrive, len(o.Readers))
	for i, reader := range o.Readers {
		drives[i] = sumUp(paced[i])
		d := &drives[i]
		d.Reader, d.Streams, d.TokenGapS = reader, width, o.pace(width).gap.Seconds()
		d.UnpacedPerS, d.UnpacedCPUPerEventS = median(unpaced[i]), median(costs[i])
	}

	return drives, nil
}

// drive sends requests at a pace, width of them at a time.
func drive(ctx context.Context, reader, addr string, p pace, width, requests int) (seen, error) {
	debug.FreeOSMemory() // what the drive before left counts for nobody
	if reader == ReaderRaw {
		return driveRaw(ctx, addr, p, width, requests)
	}
	return driveClient(ctx, reader, addr, p, width, requests)
}

// sumUp takes each figure's median over the rounds.
func sumUp(rounds []seen) results.CalibratedDrive {
	of := func(figure func(s *seen) float64) float64 {
		var all []float64
		for i := range rounds {
			all = append(all, figure(&rounds[i]))
		}
		return median(all)
	}

	d := results.CalibratedDrive{
		EventsPerS:   of(func(s *seen) float64 { return float64(s.events) / s.durationS }),
		CPUPerEventS: of(func(s *seen) float64 { return s.cpuS / float64(s.events) }),
		TTFTS:        of(func(s *seen) float64 { return quantile(s.ttft, 0.5) }),
		RequestTTFTS: of(func(s *seen) float64 { return quantile(s.sent, 0.5) }),
		ITLP50S:      of(func(s *seen) float64 { return quantile(s.itl, 0.5) }),
		ITLP99S:      of(func(s *seen) float64 { return quantile(s.itl, 0.99) }),
		StampP50S:    of(func(s *seen) float64 { return quantile(s.late, 0.5) }),
		StampP99S:    of(func(s *seen) float64 { return quantile(s.late, 0.99) }),
		StampMaxS:    of(func(s *seen) float64 { return quantile(s.late, 1) }),
		TrueTTFTS:    of(func(s *seen) float64 { return s.truth.TTFT.P50 }),
		TrueITLP50S:  of(func(s *seen) float64 { return s.truth.ITL.P50 }),
		TrueITLP99S:  of(func(s *seen) float64 { return s.truth.ITL.P99 }),
		MemoryBytes:  int64(of(func(s *seen) float64 { return float64(s.memory) })),
	}

	if !slices.ContainsFunc(rounds, func(s seen) bool { return s.atMost == nil }) {
		d.TTFTAtMostS = new(of(func(s *seen) float64 { return s.atMost.ttft }))
		d.ITLP50AtMostS = new(of(func(s *seen) float64 { return s.atMost.itlP50 }))
		d.ITLP99AtMostS = new(of(func(s *seen) float64 { return s.atMost.itlP99 }))
	}
	if !slices.ContainsFunc(rounds, func(s seen) bool { return s.lagP99S == nil }) {
		lag := of(func(s *seen) float64 { return *s.lagP99S })
		d.LagP99S = &lag
	}

	return d
}

func median(values []float64) float64 {
	slices.Sort(values)
	return quantile(values, 0.5)
}

// raiseFileLimit makes room for the descriptors of so many streams.
func raiseFileLimit(streams int) error {
	want := uint64(streams) + 256
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read limit of open files: %w", err)
	}
	if limit.Cur >= want {
		return nil
	}

	limit.Cur = min(max(want, limit.Cur), limit.Max)
	if limit.Cur < want {
		return fmt.Errorf("%d streams need %d open files, but the limit is %d; raise it with ulimit -n", streams, want,
			limit.Max)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("raise limit of open files to %d: %w", want, err)
	}

	return nil
}

// findCalibration returns the drive of a reader at a width.
func findCalibration(cal *results.Calibration, reader string, streams int) (results.CalibratedDrive, bool) {
	for _, d := range cal.Drives {
		if d.Streams == streams && d.Reader == cmp.Or(reader, spec.TransportSockets) {
			return d, true
		}
	}
	return results.CalibratedDrive{}, false
}
