package web

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/VictoriaMetrics/metrics"

	"github.com/benchrig/bench/report/live"
	"github.com/benchrig/bench/results"
)

// The types of families, as the text format names them.
const (
	gauge   = "gauge"
	counter = "counter" // of a pass: 0 again where a step has a second one, or is tried again
	summary = "summary" // its quantiles alone
)

// exposition is a view in Prometheus' text format: families of samples, in the
// order in which they were begun.
type exposition struct{ families []*family }

// family are the samples of one name. What is not known is left out: it is no
// zero.
type family struct {
	name, kind, help string
	samples          *metrics.Set
	points           []point // the same, for other formats
}

// point is a value with its labels.
type point struct {
	labels labels
	value  float64
}

func (e *exposition) begin(kind, name, help string) *family {
	f := &family{name: name, kind: kind, help: help, samples: metrics.NewSet()}
	e.families = append(e.families, f)
	return f
}

// write leaves out families without samples.
func (e *exposition) write(w io.Writer) {
	for _, f := range e.families {
		if len(f.samples.ListMetricNames()) > 0 {
			fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
			f.samples.WritePrometheus(w)
		}
	}
}

// labels are names and values in turn.
type labels []string

func (l labels) and(more ...string) labels { return slices.Concat(l, more) }

func (l labels) String() string {
	var pairs []string
	for pair := range slices.Chunk(l, 2) {
		pairs = append(pairs, fmt.Sprintf(`%s="%s"`, pair[0], escaped(pair[1])))
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

// escaped is a label's value as the format has it.
func escaped(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s)
}

// add takes in a value; null: it is not known.
func (f *family) add(value *float64, of labels) {
	if value != nil {
		v := *value
		f.points = append(f.points, point{of, v})
		f.samples.GetOrCreateGauge(f.name+of.String(), func() float64 { return v })
	}
}

func (h *Handler) metrics(w http.ResponseWriter) {
	view, err := h.look()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	expositionOf(view).write(w)
}

// expositionOf has the metrics of a view; docs/operations.md lists them.
func expositionOf(v live.View) *exposition {
	e := &exposition{}
	run := labels{"scenario", v.Name, "run_id", v.RunID}
	goes := 0
	if v.State == live.RunActive {
		goes = 1
	}

	e.begin(gauge, "bench_run_running", "1 while the run is active, else 0.").add(number(&goes), run)
	e.begin(gauge, "bench_run_state", "1 for the state that the run is in, which its label names.").add(new(1.0),
		run.and("state", string(v.State)))
	steps := e.begin(gauge, "bench_steps", "Steps of the run by state.")
	for _, s := range []live.StepState{
		live.Done, live.Suspect, live.Failed, live.Running, live.Pending, live.NotRun,
		live.NotNeeded,
	} {
		steps.add(new(float64(v.Counts[s])), run.and("state", string(s)))
	}

	if v.Live != nil {
		e.ofRun(run, v.Live)
		e.ofStep(stepLabels(run, v.Live.Step), v.Live)
		e.ofGPUs(run, v.Live.GPUs)
	}

	return e
}

func stepLabels(run labels, s *results.StepRef) labels {
	if s == nil {
		return run
	}
	return run.and("step", s.ID, "variant", s.Variant, "point", s.Point, "repeat", strconv.Itoa(s.Repeat))
}

func (e *exposition) ofRun(run labels, l *results.Live) {
	e.begin(gauge, "bench_run_seconds", "Seconds since this process of bench took up the run.").add(&l.RunForS, run)
	e.begin(gauge, "bench_run_left_seconds", "Seconds that the run is expected to need further.").add(l.RunS, run)
	e.begin(gauge, "bench_live_updated_timestamp_seconds",
		"Unix time in seconds at which the run last updated its state.").
		add(new(float64(l.UpdatedAt.UnixMilli())/1e3), run)
	e.begin(gauge, "bench_phase", "1 for what the run is doing, which the label names.").add(new(1.0),
		run.and("phase", string(l.Phase)))
	e.begin(gauge, "bench_phase_seconds", "Seconds since the phase began.").add(&l.PhaseS, run)
}

func (e *exposition) ofStep(step labels, l *results.Live) {
	e.begin(gauge, "bench_step_seconds", "Seconds since the step began.").add(l.StepS, step)
	e.begin(gauge, "bench_step_left_seconds", "Seconds that the step is expected to need further.").add(l.LeftS, step)
	if r := l.Requests; r != nil {
		e.begin(counter, "bench_requests_done",
			"Requests of the pass that have ended, with success or not; warm-ups apart.").add(number(&r.Done), step)
		e.begin(counter, "bench_requests_failed", "Requests of the pass that have failed.").add(number(&r.Failed), step)
		e.begin(gauge, "bench_requests_in_flight",
			"Requests that were sent and have not ended.").add(number(&r.InFlight), step)
		e.begin(gauge, "bench_requests_planned",
			"Requests that the pass will send; absent where its duration decides.").add(number(r.Total), step)
	}

	if t := l.Tokens; t != nil {
		e.begin(gauge, "bench_output_tokens_per_second",
			fmt.Sprintf("Output tokens a second, over the last %d seconds.", results.LiveWindowS)).add(t.PerS, step)
		e.begin(counter, "bench_output_tokens",
			"Output tokens of the pass's requests that have ended.").add(number(t.Output), step)
		e.quantiles("bench_ttft_seconds", "Seconds from sending a request to its first token, of the pass's requests "+
			"that have ended.", t.TTFT, step)
		e.quantiles("bench_tpot_seconds",
			"Seconds per output token after the first, of the pass's requests that have ended.", t.TPOT, step)
	}

	if s := l.Server; s != nil {
		e.begin(gauge, "bench_server_kv_cache_use_ratio",
			"Used share of the fullest server's KV cache, 0 to 1.").add(s.KVUse, step)
		e.begin(gauge, "bench_server_requests_running", "Requests that the servers say they work on.").add(s.Running,
			step)
		e.begin(gauge, "bench_server_requests_waiting",
			"Requests that the servers say wait for their turn.").add(s.Waiting, step)
	}
}

func (e *exposition) quantiles(name, help string, times results.LiveTimes, of labels) {
	f := e.begin(summary, name, help)
	f.add(times.P50, of.and("quantile", "0.5"))
	f.add(times.P99, of.and("quantile", "0.99"))
}

func (e *exposition) ofGPUs(run labels, all []results.LiveGPU) {
	for _, m := range []struct {
		name, help string
		of         func(results.LiveGPU) *float64
	}{
		{
			"bench_gpu_vram_used_bytes", "Video memory in use, in bytes.",
			func(g results.LiveGPU) *float64 { return number(g.VRAMUsed) },
		},
		{
			"bench_gpu_vram_total_bytes", "Video memory of the GPU, in bytes.",
			func(g results.LiveGPU) *float64 { return number(g.VRAMTotal) },
		},
		{
			"bench_gpu_power_watts", "Power that the GPU draws, in watts.",
			func(g results.LiveGPU) *float64 { return g.PowerW },
		},
		{
			"bench_gpu_power_limit_watts", "Power that the GPU may draw, in watts.",
			func(g results.LiveGPU) *float64 { return g.PowerLimitW },
		},
		{
			"bench_gpu_temperature_celsius", "Temperature of the GPU's hottest sensor, in degrees Celsius.",
			func(g results.LiveGPU) *float64 { return g.HottestC },
		},
		{
			"bench_gpu_busy_ratio", "Share of time in which the GPU was busy, 0 to 1.",
			func(g results.LiveGPU) *float64 { return g.Busy },
		},
	} {
		f := e.begin(gauge, m.name, m.help)
		for _, g := range all {
			f.add(m.of(g), run.and("gpu", strconv.Itoa(g.Index), "name", g.Name))
		}
	}
}

// number is a count as Prometheus has it; null: it is not known.
func number[N int | int64](n *N) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}
