package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/VictoriaMetrics/metrics"

	"benchrig/live"
	"benchrig/results"
)

// gauges writes values in Prometheus' text format. What is not known is left
// out: it is no zero.
type gauges struct {
	set    *metrics.Set
	common []string // labels of all, as name and value in turn
}

func (g gauges) add(name string, value *float64, labels ...string) {
	if value == nil {
		return
	}
	var pairs []string
	all := append(append([]string{}, g.common...), labels...)
	for i := 0; i+1 < len(all); i += 2 {
		pairs = append(pairs, fmt.Sprintf(`%s="%s"`, all[i], escaped(all[i+1])))
	}
	v := *value
	g.set.GetOrCreateGauge(name+"{"+strings.Join(pairs, ",")+"}", func() float64 { return v })
}

func (g gauges) count(name string, value int, labels ...string) {
	g.add(name, new(float64(value)), labels...)
}

// escaped is a label's value as the format has it.
func escaped(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s)
}

func (h *Handler) metrics(w http.ResponseWriter) {
	view, err := h.look()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	metricsOf(view).WritePrometheus(w)
}

// metricsOf are the gauges of a view; docs/operations.md lists them.
func metricsOf(v live.View) *metrics.Set {
	set := metrics.NewSet()
	run := gauges{set, []string{"scenario", v.Name, "run_id", v.RunID}}
	goes := 0
	if v.State == live.RunGoesOn {
		goes = 1
	}
	run.count("bench_run_running", goes)
	run.count("bench_run_state", 1, "state", string(v.State))
	for _, s := range []live.StepState{live.Done, live.Suspect, live.Failed, live.Running, live.Pending, live.NotRun, live.Spared} {
		run.count("bench_steps", v.Counts[s], "state", string(s))
	}
	l := v.Live
	if l == nil {
		return set
	}
	run.add("bench_run_seconds", &l.RunForS)
	run.add("bench_run_left_seconds", l.RunS)
	run.add("bench_live_updated_timestamp_seconds", new(float64(l.UpdatedAt.UnixMilli())/1e3))
	run.count("bench_phase", 1, "phase", string(l.Phase))
	run.add("bench_phase_seconds", &l.PhaseS)
	step := run
	if l.Step != nil {
		step.common = append(append([]string{}, run.common...),
			"step", l.Step.ID, "variant", l.Step.Variant, "point", l.Step.Point, "repeat", strconv.Itoa(l.Step.Repeat))
	}
	ofStep(step, l)
	for _, g := range l.GPUs {
		ofGPU(run, g)
	}
	return set
}

func ofStep(g gauges, l *results.Live) {
	g.add("bench_step_seconds", l.StepS)
	g.add("bench_step_left_seconds", l.LeftS)
	if r := l.Requests; r != nil {
		g.count("bench_requests_done", r.Done)
		g.count("bench_requests_in_flight", r.InFlight)
		g.count("bench_requests_failed", r.Failed)
		if r.Total != nil {
			g.count("bench_requests_planned", *r.Total)
		}
	}
	if t := l.Tokens; t != nil {
		g.add("bench_output_tokens_per_second", t.PerS)
		if t.Output != nil {
			g.add("bench_output_tokens", new(float64(*t.Output)))
		}
		for name, times := range map[string]results.LiveTimes{"bench_ttft_seconds": t.TTFT, "bench_tpot_seconds": t.TPOT} {
			g.add(name, times.P50, "quantile", "0.5")
			g.add(name, times.P99, "quantile", "0.99")
		}
	}
	if s := l.Server; s != nil {
		g.add("bench_server_kv_cache_use_ratio", s.KVUse)
		g.add("bench_server_requests_running", s.Running)
		g.add("bench_server_requests_waiting", s.Waiting)
	}
}

func ofGPU(g gauges, r results.LiveGPU) {
	gpu := []string{"gpu", strconv.Itoa(r.Index), "name", r.Name}
	bytes := func(v *int64) *float64 {
		if v == nil {
			return nil
		}
		return new(float64(*v))
	}
	g.add("bench_gpu_vram_used_bytes", bytes(r.VRAMUsed), gpu...)
	g.add("bench_gpu_vram_total_bytes", bytes(r.VRAMTotal), gpu...)
	g.add("bench_gpu_power_watts", r.PowerW, gpu...)
	g.add("bench_gpu_power_limit_watts", r.PowerLimitW, gpu...)
	g.add("bench_gpu_temperature_celsius", r.HottestC, gpu...)
	g.add("bench_gpu_busy_ratio", r.Busy, gpu...)
}
