package stated

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/commands"
	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// Assume takes a setting that the user gives for what the file does not state. Of
// settings without a place of their own it makes parameters.
func (e *Entry) Assume(key, value string) {
	switch {
	case e.Own != nil, key == "gpus", key == "driver", key == "host", key == "engine_version":
	case key == "model":
		if e.Model == "" {
			e.Model = value
		}
	case isAssumable(key):
		if !e.IsStated(key) {
			e.Setting(key, "--set "+key, value, 0)
		}
	default:
		if _, known := e.Params[key]; !known {
			e.Params[key] = value
		}
	}
}

// isAssumable reports whether a setting that users give has a place of its own.
func isAssumable(key string) bool {
	switch key {
	case "max_concurrency", "request_rate", "num_prompts", "input_len", "output_len", "dataset", "endpoint",
		"ignore_eos", "temperature", "burstiness":
		return true
	}
	return false
}

// Finish derives what follows from what was read. It comes after all statements.
func (e *Entry) Finish() {
	if e.Own != nil || e.OfProgram() {
		return
	}

	a, f := &e.Asked, &e.Figures
	switch {
	case strings.Contains(e.Backend, "chat") || strings.HasSuffix(a.Endpoint, "/chat/completions"):
		a.API = "chat"
	case strings.HasSuffix(a.Endpoint, "/completions"), e.Backend == "vllm", e.Backend == "openai":
		a.API = "completions"
	}

	if a.API != "" {
		e.stateSetting("api")
	}
	if e.Peak != nil {
		f.PeakConcurrent = *e.Peak
	}

	if e.Factor > 1 {
		e.divide()
	} else {
		e.findFactor()
	}

	f.Asked = max(a.NumPrompts, f.Completed+f.Failed)
	if f.Failed == 0 && e.countStated() && f.Completed < f.Asked {
		f.Failed = f.Asked - f.Completed
	}
	if e.countStated() {
		for _, d := range []*results.Dist{&f.TTFT, &f.E2EL} { // by definition one per successful request
			if d.N == 0 && (d.Mean != nil || d.Median != nil || len(d.Percentiles) > 0) {
				d.N = f.Completed
			}
		}
	}

	if f.ICL.N == 0 && f.ICL.Mean == nil {
		f.ICL = f.ITL
	}
	if e.Verdict == "" || e.Verdict == results.OK {
		e.checkRates()
	}
}

func (e *Entry) countStated() bool {
	return slices.ContainsFunc(e.Origin.Stated, func(s results.StatedValue) bool { return s.As == "completed" })
}

// rounded returns a stated value in bench's unit, and half a unit of its last digit: the
// value that was rounded to it lies no further away. ok is false where it was not
// stated.
func (e *Entry) rounded(as string) (v, half float64, ok bool) {
	for _, s := range e.Origin.Stated {
		if s.As != as {
			continue
		}
		text, _ := e.Commas.Plain(s.Text, labels.Target{Name: as}.Counts())
		v, ok = plain.Number(text)
		_, decimals, _ := strings.Cut(text, ".")
		scale := 1.0
		if t, understood := labels.Of(s.Label, true); understood {
			scale = t.Scale
		}
		return scale * v, scale * 0.5 * math.Pow10(-len(decimals)), ok
	}
	return 0, 0, false
}

// checkRates compares stated rates with those that follow from counts and duration,
// within what their rounding leaves open.
func (e *Entry) checkRates() {
	duration, halfD, ok := e.rounded("duration_s")
	if !ok || duration <= halfD {
		return
	}

	f := &e.Figures
	check := func(name string, count float64) {
		v, half, ok := e.rounded(name)
		if !ok {
			return
		}
		const slack = 1e-9
		low, high := count/(duration+halfD)-half, count/(duration-halfD)+half
		if v < low-slack*math.Abs(low) || v > high+slack*math.Abs(high) {
			e.Warn(results.WarnImportedDiffers, "%s is stated as %g, and counts and duration give %.6g to %.6g", name,
				v, low, high)
		}
	}

	if e.countStated() {
		check("request_throughput", float64(f.Completed))
	}
	if f.TotalOutputTokens == nil {
		return
	}

	check("output_throughput", float64(*f.TotalOutputTokens))
	if f.TotalInputTokens != nil {
		check("total_token_throughput", float64(*f.TotalInputTokens+*f.TotalOutputTokens))
	}
}

// Result returns the result of a named entry. version is that of the engine, where the
// file does not tell it.
func (e *Entry) Result(version string) *results.Result {
	text := fmt.Sprintf("read out of %s (%s), not measured here: no telemetry, no proof of a clean start; the client "+
		"is not ours", e.Origin.File, e.Origin.Format)
	if e.Origin.Ours() {
		text = fmt.Sprintf("read out of %s (%s): bench measured it elsewhere", e.Origin.File, e.Origin.Format)
	}
	e.Warnings = append([]results.Warning{{Code: results.WarnImported, Message: text}}, e.Warnings...)

	if e.Own != nil {
		r := *e.Own
		r.Step, r.Imported = e.Ref, &e.Origin
		r.Warnings = append(slices.Clone(r.Warnings), e.Warnings...)
		return &r
	}

	r := &results.Result{
		Step: e.Ref, Asked: e.Asked, Params: maps.Clone(e.Params), Imported: &e.Origin, Simulated: e.Simulated,
		LlamaBench: e.Rows, MeasuredBy: e.MeasuredBy, Measures: e.Measures, Warnings: e.Warnings,
		Servers: []results.Server{e.server(version)},
	}
	if e.Date != "" {
		r.Params["date"] = e.Date
	}
	if e.OfProgram() {
		r.Verdict = results.OK
		return r
	}

	r.Figures = new(e.Figures)
	if g := e.Origin.Reading; g != "" {
		r.Compat = results.Compat{g: e.reading()}
	}
	e.judge(r)
	e.extrapolate(r)
	return r
}

// judge sets the verdict: what did not finish all it was asked is never ranked.
func (e *Entry) judge(r *results.Result) {
	if r.Figures.Failed > 0 {
		why := unknownCause
		if len(r.Figures.FailureSamples) > 0 {
			why = "first: " + r.Figures.FailureSamples[0]
		}
		r.Warnf(results.WarnFailures, "%d of %s did not succeed; %s", r.Figures.Failed,
			text.Count(r.Figures.Asked, "request"), why)
	}

	evidence := metrics.Evidence{Figures: *r.Figures, Asked: r.Asked}
	if !e.countStated() {
		evidence.Figures.Asked, evidence.Figures.Completed = 1, 1 // not stated, although there are figures
	}

	r.Verdict, r.Failure = metrics.Verdict(evidence, r.Warnings, 0)
	switch e.Verdict {
	case results.Failed, results.NotRun:
		r.Verdict, r.Figures = e.Verdict, nil
		r.Failure = results.Failf(results.FailUnclassified, "%s", e.failureText())
	case results.Suspect:
		r.Verdict = results.Suspect
	default:
	}
}

const unknownCause = "the file does not say why"

// failureText returns the message of a failure as it was stated.
func (e *Entry) failureText() string {
	for _, s := range e.Origin.Stated {
		if s.Label == "failure_message" {
			return s.Text
		}
	}
	return unknownCause
}

// server returns what is known of the server. Each result has a start of its own:
// files do not tell whether results share one.
func (e *Entry) server(version string) results.Server {
	s := results.Server{
		Life: e.Ref.ID, Argv: e.Argv, Env: e.Env, Model: e.Model, Speculation: e.Drafting, Simulated: e.Simulated,
	}
	s.Launcher = e.Engine
	switch {
	case e.Measures != nil:
		s.Launcher = e.MeasuredBy
	case e.Rows != nil:
		s.Launcher, s.Version = "llama-bench", e.buildOfRows()
	case len(e.Argv) > 0:
		s.Launcher = commands.Launcher(e.Argv)
	}
	s.Version = cmp.Or(s.Version, version)
	return s
}

// buildOfRows returns the build that measured all rows; "" if there were several.
func (e *Entry) buildOfRows() string {
	build := e.Rows[0].Build
	if slices.ContainsFunc(e.Rows, func(r results.LlamaBenchRow) bool { return r.Build != build }) {
		return ""
	}
	return build
}

// reading returns the figures as the reading of the client that measured them.
func (e *Entry) reading() results.CompatReading {
	f := e.Figures
	return results.CompatReading{Differences: []results.Difference{}, CompatFigures: results.CompatFigures{
		Completed: f.Completed, Failed: f.Failed, DurationS: f.DurationS, TotalInputTokens: f.TotalInputTokens,
		TotalOutputTokens: f.TotalOutputTokens, RequestThroughput: f.RequestThroughput,
		RequestGoodput:   f.RequestGoodput,
		OutputThroughput: f.OutputThroughput, TotalTokenThroughput: f.TotalTokenThroughput,
		MaxOutputTokensPerS: f.MaxOutputTokensPerS, MaxConcurrentRequests: e.Peak,
		TTFT: f.TTFT, TPOT: f.TPOT, ITL: f.ITL, E2EL: f.E2EL,
	}}
}
