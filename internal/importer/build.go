package importer

import (
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

// Imported is what was read.
type Imported struct {
	Files []results.ImportedFile
	Steps []Step
}

// Step is one result with its records, if its file has them.
type Step struct {
	Result  *results.Result
	Records []results.Record
	Notes   []string // text beside it
	Model   string
}

// Method is the method of a step: serving, sqzb, or that of a program.
func (s Step) Method() string {
	switch {
	case s.Result.SQZB != nil:
		return results.MethodSQZB
	case s.Result.OfProgram():
		return s.Result.Method()
	}
	return results.MethodServing
}

// settable says that a setting of Options.Sets has a place of its own; the
// others are parameters.
func settable(key string) bool {
	switch key {
	case "max_concurrency", "request_rate", "num_prompts", "input_len", "output_len", "dataset", "endpoint",
		"ignore_eos", "temperature", "burstiness":
		return true
	}
	return false
}

func checkSets(sets []Setting) error {
	for _, s := range sets {
		if s.Key == "" || s.Value == "" {
			return fmt.Errorf("set %s=%s: want key=value", s.Key, s.Value)
		}
		if slices.Contains([]string{"max_concurrency", "num_prompts", "input_len", "output_len"}, s.Key) {
			if v, ok := plain.Number(s.Value); !ok || v != math.Trunc(v) || v < 0 {
				return fmt.Errorf("set %s=%s: want a whole number", s.Key, s.Value)
			}
		}
	}
	return nil
}

// assume takes what the user says where the file does not.
func (e *entry) assume(s Setting) {
	if e.own != nil {
		return
	}

	switch {
	case s.Key == "gpus" || s.Key == "driver" || s.Key == "host" || s.Key == "engine_version":
	case s.Key == "model":
		if e.model == "" {
			e.model = s.Value
		}
	case settable(s.Key):
		if e.isStated(s.Key) {
			return
		}
		t := labels.Target{Name: s.Key, Scale: 1}
		if labels.IsWord(s.Key) {
			t.Scale = 0
		}
		e.put(t, true, "--set "+s.Key, s.Value, 0)
	default:
		if _, known := e.params[s.Key]; !known {
			e.params[s.Key] = s.Value
		}
	}
}

// finish settles what follows from what was read.
func (e *entry) finish() {
	if e.own != nil || e.ofProgram() {
		return
	}

	a, f := &e.asked, &e.figures
	switch {
	case strings.Contains(e.backend, "chat") || strings.HasSuffix(a.Endpoint, "/chat/completions"):
		a.API = "chat"
	case strings.HasSuffix(a.Endpoint, "/completions"), e.backend == "vllm", e.backend == "openai":
		a.API = "completions"
	}

	if a.API != "" {
		e.stateSetting("api")
	}
	if e.peak != nil {
		f.PeakConcurrent = *e.peak
	}

	if e.factor > 1 {
		e.divide()
	} else {
		e.findFactor()
	}

	f.Asked = max(a.NumPrompts, f.Completed+f.Failed)
	if f.Failed == 0 && e.countStated() && f.Completed < f.Asked {
		f.Failed = f.Asked - f.Completed
	}
	if e.countStated() {
		for _, d := range []*results.Dist{&f.TTFT, &f.E2EL} { // by definition one a successful request
			if d.N == 0 && (d.Mean != nil || d.Median != nil || len(d.Percentiles) > 0) {
				d.N = f.Completed
			}
		}
	}

	if f.ICL.N == 0 && f.ICL.Mean == nil {
		f.ICL = f.ITL
	}
	if e.verdict == "" || e.verdict == results.OK {
		e.checkRates()
	}
}

func (e *entry) countStated() bool {
	return slices.ContainsFunc(e.origin.Stated, func(s results.StatedValue) bool { return s.As == "completed" })
}

// half is half a unit of the last digit of a stated value; ok is false where it
// is not stated.
func (e *entry) half(as string) (v, half float64, ok bool) {
	for _, s := range e.origin.Stated {
		if s.As != as {
			continue
		}
		text, _ := e.commas.Plain(s.Text, labels.Target{Name: as}.Counts())
		v, ok = plain.Number(text)
		_, decimals, _ := strings.Cut(text, ".")
		return v, 0.5 * math.Pow10(-len(decimals)), ok
	}
	return 0, 0, false
}

// checkRates holds stated rates against counts and duration, as far as these
// were printed.
func (e *entry) checkRates() {
	duration, halfD, ok := e.half("duration_s")
	if !ok || duration <= halfD {
		return
	}

	f := &e.figures
	check := func(name string, count float64) {
		v, half, ok := e.half(name)
		if !ok {
			return
		}
		const slack = 1e-9
		low, high := count/(duration+halfD)-half, count/(duration-halfD)+half
		if v < low-slack*math.Abs(low) || v > high+slack*math.Abs(high) {
			e.warn(results.WarnImportedDiffers, "%s is stated as %g, and counts and duration give %.6g to %.6g", name,
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

// step makes the result of a named entry.
func (e *entry) step(sets []Setting) Step {
	text := fmt.Sprintf("read out of %s (%s), not measured here: no telemetry, no proof of a clean start; the client "+
		"is not ours", e.origin.File, e.origin.Format)
	if e.origin.Ours() {
		text = fmt.Sprintf("read out of %s (%s): bench measured it elsewhere", e.origin.File, e.origin.Format)
	}

	e.warnings = append([]results.Warning{{Code: results.WarnImported, Message: text}}, e.warnings...)
	if e.own != nil {
		r := *e.own
		r.Step, r.Imported = e.ref, &e.origin
		r.Warnings = append(slices.Clone(r.Warnings), e.warnings...)
		return Step{Result: &r, Model: modelOf(&r)}
	}

	r := &results.Result{
		Step: e.ref, Asked: e.asked, Params: maps.Clone(e.params), Imported: &e.origin, Simulated: e.simulated,
		LlamaBench: e.rows, MeasuredBy: e.measuredBy, Measures: e.measures, Servers: []results.Server{e.serverOf(sets)},
	}

	if !e.ofProgram() {
		f := e.figures
		r.Figures = &f
		if g := e.origin.Reading; g != "" {
			r.Compat = results.Compat{g: e.reading()}
		}
	}

	if e.date != "" {
		r.Params["date"] = e.date
	}

	e.judge(r)
	e.extrapolate(r)
	return Step{Result: r, Records: e.records, Notes: e.notes, Model: e.model}
}

func modelOf(r *results.Result) string {
	if len(r.Servers) == 0 {
		return ""
	}
	return r.Servers[0].Model
}

// judge gives the verdict. Nothing is ranked that did not finish what it was
// asked.
func (e *entry) judge(r *results.Result) {
	r.Warnings = e.warnings
	switch {
	case e.ofProgram():
		r.Verdict = results.OK
		return
	case r.Figures.Failed > 0:
		why := "the file does not say why"
		if len(r.Figures.FailureSamples) > 0 {
			why = "first: " + r.Figures.FailureSamples[0]
		}
		r.Warnf(results.WarnFailures, "%d of %s did not succeed; %s", r.Figures.Failed,
			text.Count(r.Figures.Asked, "request"), why)
	}

	evidence := metrics.Evidence{Figures: *r.Figures, Asked: r.Asked}
	if !e.countStated() {
		evidence.Figures.Asked, evidence.Figures.Completed = 1, 1 // it is not told, and figures there are
	}

	r.Verdict, r.Failure = metrics.Verdict(evidence, r.Warnings, 0)
	switch e.verdict {
	case results.Failed, results.NotRun:
		r.Verdict, r.Figures = e.verdict, nil
		r.Failure = results.Failf(results.FailUnclassified, "%s", e.statedText("failure_message"))
	case results.Suspect:
		r.Verdict = results.Suspect
	default:
	}
}

func (e *entry) statedText(label string) string {
	for _, s := range e.origin.Stated {
		if s.Label == label {
			return s.Text
		}
	}
	return "the file does not say why"
}

// serverOf is what is known of the server. Each result has a life of its own:
// whether servers were shared is not told.
func (e *entry) serverOf(sets []Setting) results.Server {
	s := results.Server{
		Life: e.ref.ID, Argv: e.argv, Env: e.env, Model: e.model, Speculation: e.drafting,
		Simulated: e.simulated,
	}
	s.Launcher = e.engine
	if len(e.argv) > 0 {
		s.Launcher = commands.Launcher(e.argv)
	}
	if len(e.rows) > 0 {
		s.Launcher, s.Version = "llama-bench", e.buildOfRows()
	}
	if len(e.measures) > 0 {
		s.Launcher = e.measuredBy
	}
	for _, set := range sets {
		if set.Key == "engine_version" && s.Version == "" {
			s.Version = set.Value
		}
	}
	return s
}

// buildOfRows is the build that measured all rows; "" where there were several.
func (e *entry) buildOfRows() string {
	build := e.rows[0].Build
	if slices.ContainsFunc(e.rows, func(r results.LlamaBenchRow) bool { return r.Build != build }) {
		return ""
	}
	return build
}

// reading is the result as the reading of the client that it is by.
func (e *entry) reading() results.CompatReading {
	f := e.figures
	return results.CompatReading{Differences: []results.Difference{}, CompatFigures: results.CompatFigures{
		Completed: f.Completed, Failed: f.Failed, DurationS: f.DurationS, TotalInputTokens: f.TotalInputTokens,
		TotalOutputTokens: f.TotalOutputTokens, RequestThroughput: f.RequestThroughput,
		RequestGoodput:   f.RequestGoodput,
		OutputThroughput: f.OutputThroughput, TotalTokenThroughput: f.TotalTokenThroughput,
		MaxOutputTokensPerS: f.MaxOutputTokensPerS, MaxConcurrentRequests: e.peak,
		TTFT: f.TTFT, TPOT: f.TPOT, ITL: f.ITL, E2EL: f.E2EL,
	}}
}
