package show

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// period is how often Watch writes.
const period = time.Second

// Watch writes a table once a second until ctx ends, over the one before where
// rewrite says so; or, asJSON, a line for each reading.
func Watch(ctx context.Context, out io.Writer, rewrite, asJSON bool, machine gpu.Inventory,
	samplers []device.Sampler,
) error {
	w := &watch{out: out, machine: machine, newest: map[string]gpu.Sample{}, rewrite: rewrite}
	recorder := gpu.Recorder{Samplers: samplers, Period: period, Host: true}
	emit := w.keep
	if asJSON {
		emit = w.writeJSON
	}

	recorder.Start(ctx, emit)
	defer recorder.Stop()

	ticker := time.NewTicker(period)
	defer ticker.Stop()

	for {
		select {
		case <-ctx.Done():
			return nil // the only way to end it
		case now := <-ticker.C:
			if !asJSON {
				w.print(now)
			}
		}
	}
}

// watch keeps the newest samples.
type watch struct {
	out     io.Writer
	machine gpu.Inventory
	rewrite bool
	lines   int  // of the table that stands on the terminal
	begun   bool // the head has been written

	mu     sync.Mutex
	newest map[string]gpu.Sample // by device; "" is the host
	gaps   []string              // since the last time
}

func (w *watch) keep(sample gpu.Sample) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case sample.GPU != nil:
		w.newest[sample.GPU.Device] = sample
	case sample.Host != nil:
		w.newest[""] = sample
	case sample.Gap != nil:
		w.gaps = append(w.gaps, sample.Gap.Source+": "+sample.Gap.Why)
	}
}

// writeJSON writes a line for each sample, with the moment of the reading.
func (w *watch) writeJSON(sample gpu.Sample) {
	line := struct {
		Time string                `json:"time"`
		GPU  *results.GPUReading   `json:"gpu,omitempty"`
		Host *results.HostReading  `json:"host,omitempty"`
		Gap  *results.TelemetryGap `json:"gap,omitempty"`
	}{sample.At.Format(time.RFC3339Nano), sample.GPU, sample.Host, sample.Gap}
	_ = json.NewEncoder(w.out).Encode(line) // the reader has gone; the watch ends by its signal
}

// print writes what is newest. A reading older than three periods is left out:
// it would pass for the present.
func (w *watch) print(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()

	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	stamp := now.Format("15:04:05")
	if w.rewrite || !w.begun {
		fmt.Fprintln(table, "TIME\tGPU\tVRAM GiB\tPOWER W\tBUSY\tTEMP C\tCLOCKS MHz\tTHROTTLE")
		w.begun = true
	}

	for _, device := range w.machine.GPUs {
		reading := w.newest[device.ID()]
		if now.Sub(reading.At) > 3*period {
			reading.GPU = nil
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", stamp, placeOf(device), strings.Join(figures(device, reading.GPU), "\t"))
	}

	if host := w.newest[""].Host; host != nil {
		fmt.Fprintf(table, "%s\thost\t%s\t\t%s\t\t\tload %s\n", stamp, text.Gibibytes(host.MemoryUsedBytes),
			text.Percent(host.CPUBusy), text.Number(host.Load1, 1, 2))
	}

	_ = table.Flush() // into memory
	for _, gap := range w.gaps {
		fmt.Fprintf(&out, "%s no reading: %s\n", stamp, gap)
	}

	w.gaps = nil
	w.write(out.String())
}

// write puts a table in the place of the one before, or, off a terminal, its
// lines after those before.
func (w *watch) write(text string) {
	if w.rewrite {
		if w.lines > 0 {
			fmt.Fprintf(w.out, "\x1b[%dA\x1b[J", w.lines)
		}
		w.lines = strings.Count(text, "\n")
	}
	fmt.Fprint(w.out, text)
}
