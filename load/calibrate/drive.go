package calibrate

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// seen is what one drive of one reader saw.
type seen struct {
	events     int
	durationS  float64
	cpuS       float64
	ttft       []float64 // from the start of the burst; sorted, seconds, as all below
	sent       []float64 // to the first token, from the request's own send
	itl        []float64
	late       []float64 // stamp minus true write time
	lagP99S    *float64
	memory     int64
	violations int // events whose stamp lies before their write
	truth      Truth
	atMost     *bounds // of its figures; nil: not known
}

// bounds are how far a client can have moved its figures, by what it knows of
// itself, in seconds.
type bounds struct{ ttft, itlP50, itlP99 float64 }

// boundsOf are the bounds of a pass; nil: its records do not tell.
func boundsOf(records []results.Record, durationS float64) *bounds {
	f := metrics.Summarize(records, metrics.Params{DurationS: durationS, Percentiles: []float64{99}})
	b := f.ClientAtMost
	if b == nil || b.TTFT.Median.AtMostS == nil || b.ICL.Median.AtMostS == nil {
		return nil
	}
	return &bounds{*b.TTFT.Median.AtMostS, *b.ICL.Median.AtMostS, *b.ICL.Percentiles[0].AtMostS}
}

// driveClient drives the load client by one of its transports, or by ReaderHTTPS.
func driveClient(ctx context.Context, reader, addr string, p pace, width, requests int) (seen, error) {
	o := load.Options{
		Target: load.Target{
			BaseURLs: []string{"http://" + addr + p.path()}, Path: "/v1/completions", API: "completions", Model: "m",
		},
		Settings: spec.Settings{
			MaxConcurrency: width, KeepText: p.gap > 0, Transport: reader,
			Timeouts: spec.Timeouts{Connect: time.Minute, FirstToken: time.Minute, Stall: time.Minute},
		},
	}
	if reader == ReaderHTTPS {
		o.Target.BaseURLs[0], o.Transport = "https://"+addr+p.path(), spec.TransportHTTP
		o.Target.TLS, _ = load.Trust(nil, true) // the feeder's certificate is of its own making
	}

	prompts := make([]dialect.Prompt, requests)
	for i := range prompts {
		prompts[i] = dialect.Prompt{Text: "calibrate", OutputTokens: p.tokens}
	}

	records := make([]results.Record, 0, requests)
	wallToMono := monotonic() - time.Now().UnixNano()
	rss := watchMemory(ctx)
	report, err := load.Run(ctx, o, prompts, func(r results.Record) error {
		if r.Failure != nil {
			return fmt.Errorf("request %d: %w", r.Index, r.Failure)
		}
		records = append(records, r)
		return nil
	})

	memory := rss()
	if err == nil && report.Interrupted != "" {
		err = errors.New(report.Interrupted)
	}
	if err != nil {
		return seen{}, fmt.Errorf("drive client by %s: %w", reader, err)
	}

	start, err := time.Parse(time.RFC3339Nano, report.StartTime)
	if err != nil {
		return seen{}, fmt.Errorf("read start time: %w", err)
	}

	s := seen{durationS: report.DurationS, lagP99S: report.LagP99S, memory: memory}
	if report.CPUSeconds != nil {
		s.cpuS = *report.CPUSeconds
	}

	if p.gap > 0 {
		s.atMost = boundsOf(records, report.DurationS)
	}
	s.addRecords(records, start.UnixNano()+wallToMono)
	return s, nil
}

// addRecords takes in the records of a pass that began at start on the
// monotonic clock. Each event's text is the time at which it was written.
func (s *seen) addRecords(records []results.Record, start int64) {
	for _, r := range records {
		at := make([]int64, 0, len(r.ChunkS))
		for i, t := range r.ChunkS {
			if r.ChunkKinds[i] == byte(results.ChunkText) {
				at = append(at, start+int64(t*1e9))
			}
		}
		var wrote []int64
		for text := r.Text; len(text) >= timeDigits; text = text[timeDigits:] {
			wrote = append(wrote, parseTime([]byte(text[:timeDigits])))
		}
		s.addStream(at, wrote, start)
		if r.SentS != nil && len(at) > 0 {
			s.sent = append(s.sent, float64(at[0]-start)/1e9-*r.SentS)
		}
	}
	s.sort()
}

func (s *seen) addStream(at, wrote []int64, start int64) {
	s.events += len(at)
	if len(at) > 0 {
		s.ttft = append(s.ttft, float64(at[0]-start)/1e9)
	}
	for i := 1; i < len(at); i++ {
		s.itl = append(s.itl, float64(at[i]-at[i-1])/1e9)
	}
	for i := range min(len(at), len(wrote)) {
		s.late = append(s.late, float64(at[i]-wrote[i])/1e9)
		if at[i] < wrote[i] {
			s.violations++
		}
	}
}

func (s *seen) sort() {
	slices.Sort(s.ttft)
	slices.Sort(s.sent)
	slices.Sort(s.itl)
	slices.Sort(s.late)
}

// driveRaw drives the raw reader.
func driveRaw(ctx context.Context, addr string, p pace, width, requests int) (seen, error) {
	rss := watchMemory(ctx)
	conns, start, cpu, err := readRaw(ctx, addr, p, width, requests)
	memory := rss()
	if err != nil {
		return seen{}, fmt.Errorf("drive raw reader: %w", err)
	}

	s := seen{memory: memory, cpuS: cpu.Seconds()}
	end := start
	for _, c := range conns {
		s.addStream(c.at, c.wrote, start)
		if len(c.at) > 0 {
			s.sent = append(s.sent, seconds(c.at[0]-c.sent))
		}
		end = max(end, c.end)
	}

	s.events = requests * p.tokens
	s.durationS = float64(end-start) / 1e9
	s.sort()
	return s, nil
}

// quantile of sorted values by the rule of all figures, whose bounds hold for it; 0 if there are none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return metrics.Percentile(sorted, 100*q)
}

// usedCPU is the user and system time of this process.
func usedCPU() time.Duration {
	var ru unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &ru) != nil {
		return 0
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// watchMemory looks at this process's resident memory now and then; the
// function it returns ends that and gives the most that was seen.
func watchMemory(ctx context.Context) func() int64 {
	runtime.GC()
	ctx, stop := context.WithCancel(ctx)
	most := make(chan int64)
	go func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		peak := proc.System.Resident()
		for {
			select {
			case <-tick.C:
				peak = max(peak, proc.System.Resident())
			case <-ctx.Done():
				most <- max(peak, proc.System.Resident())
				return
			}
		}
	}()
	return func() int64 {
		stop()

		return <-most
	}
}
