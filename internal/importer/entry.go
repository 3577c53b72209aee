package importer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/results"
)

// entry is one result of a file while it is read.
type entry struct {
	origin       results.Origin
	figures      results.Figures
	asked        results.Asked
	peak         *int   // concurrent requests by vLLM's buckets
	model        string // as the file names it
	backend      string
	endpointType string // of a client that has both
	ramp, bestOf string // parts of a point's label: "ramp-linear-1-10", "best-of-2"; "": the client's default
	date         string
	found        int // figures
	table        int // line where the table begins that it is a row of; 0: none

	variant, point string // as told by headings or columns; "": not
	repeat         int
	params         map[string]string
	argv           []string // of the server; nil: not told
	env            map[string]string
	drafting       *results.Drafting
	notes          []string // text beside it
	rows           []results.LlamaBenchRow
	measures       []results.Measure // of a program, which measuredBy names
	measuredBy     string
	own            *results.Result // a result of bench, whole
	verdict        results.Verdict // "": not told
	commas         plain.Commas    // what they mean in the file
	simulated      bool
	engine         string // kind of server, as headings or columns name it; "": not told
	factor         int    // replicas that the figures are to stand for; 0 or 1: those that ran

	records  []results.Record
	warnings []results.Warning
	ref      results.StepRef // once it has a name
}

// ofProgram reports whether the figures are those of a program without a server.
func (e *entry) ofProgram() bool { return e.rows != nil || e.measures != nil }

func newEntry(file, format string, line int) *entry {
	return &entry{origin: results.Origin{File: file, Format: format, Line: line}, params: map[string]string{}}
}

func (e *entry) warn(code results.WarningCode, format string, args ...any) {
	e.warnings = append(e.warnings, results.Warnf(code, format, args...))
}

// state keeps a value that becomes nothing else.
func (e *entry) state(label, text string, line int, as string) {
	e.origin.Stated = append(e.origin.Stated, results.StatedValue{Label: label, Text: text, Line: line, As: as})
}

// take reads a value under its label, and says whether it became a figure.
func (e *entry) take(label, text string, line int, program bool) bool {
	t, ok := labels.Of(label, program)
	return e.put(t, ok, label, text, line)
}

// put keeps a value, and sets what it stands for.
func (e *entry) put(t labels.Target, understood bool, label, text string, line int) bool {
	switch {
	case !understood:
		e.state(label, text, line, "")
		return false
	case t.Scale == 0:
		e.word(t, plain.Cell(text), label)
		e.state(label, text, line, t.As())
		return false
	case !t.IsFigure():
		set := e.setting(t.Name, plain.Cell(text), label)
		e.state(label, text, line, map[bool]string{true: t.As()}[set])
		return false
	}

	figure, doubtful := e.commas.Plain(text, t.Counts())
	v, ok := plain.Number(figure)
	if doubtful {
		ok = ok && e.commas != plain.Both
		e.doubt(label, text, v, ok)
	}
	if !ok {
		if trimmed := plain.Cell(text); trimmed != "" && trimmed != "null" && trimmed != "-" &&
			strings.ToLower(trimmed) != "n/a" {
			e.warn(results.WarnImportedUnusable, "%s is %q, which is not a number: left out", label,
				plain.Shown(trimmed))
		}
		e.state(label, text, line, "")
		return false
	}

	if !e.set(t, v*t.Scale) {
		e.state(label, text, line, "")
		e.warn(results.WarnImportedDiffers, "%s is %s, and had another value before", label, plain.Cell(text))
		return false
	}

	e.state(label, text, line, t.As())
	e.found++
	return true
}

// doubt tells that the comma of a value may be one of thousands or of a fraction.
func (e *entry) doubt(label, text string, v float64, read bool) {
	how := "it is not read because the file's other commas are of both kinds"
	if read {
		how = fmt.Sprintf("it is read as %.0f, for nothing in the file says that its commas begin fractions", v)
	}
	e.warn(results.WarnImportedAmbiguous, "%s is %q: %s", label, plain.Shown(plain.Cell(text)), how)
}

// set gives a figure its value; false: it has another one already, or cannot
// have this one.
func (e *entry) set(t labels.Target, v float64) bool {
	f := &e.figures
	if t.Stat != "" {
		return e.setLatency(t, v)
	}

	switch t.Name {
	case "completed":
		return setCount(&f.Completed, v)
	case "failed":
		return setCount(&f.Failed, v)
	case "duration_s":
		if f.DurationS != 0 && f.DurationS != v || v < 0 {
			return false
		}
		f.DurationS = v
		return true
	case "total_input_tokens":
		return setTotal(&f.TotalInputTokens, v)
	case "total_output_tokens":
		return setTotal(&f.TotalOutputTokens, v)
	case "peak_concurrent_requests":
		if e.peak != nil || v != math.Trunc(v) || math.Abs(v) > math.MaxInt32 {
			return false
		}
		e.peak = new(int(v))
		return true
	}

	known, err := catalog.Find(t.Name)
	return err == nil && known.At != nil && setOnce(known.At(f), v)
}

func setOnce(at **float64, v float64) bool {
	if *at != nil {
		return **at == v
	}
	*at = &v
	return true
}

func setCount(at *int, v float64) bool {
	if v != math.Trunc(v) || v < 0 || v > math.MaxInt32 || *at != 0 && *at != int(v) {
		return false
	}
	*at = int(v)
	return true
}

func setTotal(at **int64, v float64) bool {
	const most = 1 << 53
	if v != math.Trunc(v) || v < 0 || v > most || *at != nil && **at != int64(v) {
		return false
	}
	*at = new(int64(v))
	return true
}

func (e *entry) setLatency(t labels.Target, v float64) bool {
	all := catalog.Samples()
	at := slices.IndexFunc(all, func(s catalog.Sample) bool { return s.Name == t.Name })
	if at < 0 {
		return false
	}

	d := all[at].At(&e.figures)
	switch t.Stat {
	case "n":
		return setCount(&d.N, v)
	case "p":
		if known := metrics.At(*d, t.P); known != nil {
			return *known == v
		}
		at, _ := slices.BinarySearchFunc(d.Percentiles, t.P,
			func(f results.PercentileFigure, p float64) int { return int(math.Copysign(1, f.P-p)) })
		d.Percentiles = slices.Insert(d.Percentiles, at, results.PercentileFigure{P: t.P, Value: &v})
		return true
	}

	return setOnce(map[string]**float64{
		"mean": &d.Mean, "median": &d.Median, "std": &d.Std, "min": &d.Min,
		"max": &d.Max,
	}[t.Stat], v)
}

// stateSetting notes that a setting of the load is known.
func (e *entry) stateSetting(name string) {
	e.origin.StatedSettings = text.AppendNew(e.origin.StatedSettings, name)
}

func (e *entry) isStated(name string) bool { return slices.Contains(e.origin.StatedSettings, name) }

// setting sets a setting of the load that is a number; false: it is not
// understood.
func (e *entry) setting(name, text, label string) bool {
	lower := strings.ToLower(strings.TrimSuffix(strings.TrimSpace(text), "."))
	lower = strings.TrimSpace(strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(lower, " rps"),
		" (poisson process)"), "c="))
	if name == "repeat" {
		n, err := strconv.Atoi(lower)
		e.repeat = n
		return err == nil
	}

	none := lower == "null" || lower == "none" || lower == "not set" || lower == "inf" || lower == "infinity"
	v, ok := plain.Number(lower)
	if !ok && !none {
		return false
	}
	if e.isStated(name) {
		if before := e.settingText(name); before != textOf(v, none) {
			e.warn(results.WarnImportedDiffers, "%s is %s, and was before %s", label, text, before)
			return false
		}
		return true
	}

	if none {
		if name != "max_concurrency" && name != "request_rate" {
			return true // its default, which is not told
		}
		e.stateSetting(name)
		return true
	}

	if !e.setNumber(name, v) {
		return false
	}

	e.stateSetting(name)
	return true
}

func (e *entry) setNumber(name string, v float64) bool {
	a := &e.asked
	whole := map[string]**int{
		"max_concurrency": &a.MaxConcurrency, "input_len": &a.InputLen,
		"output_len": &a.OutputLen,
	}
	switch at, ok := whole[name]; {
	case ok:
		n := 0
		if !setCount(&n, v) {
			return false
		}
		*at = &n
		return true
	case name == "num_prompts":
		return setCount(&a.NumPrompts, v)
	case name == "request_rate":
		a.RequestRate = &v
	case name == "burstiness":
		a.Burstiness = &v
	case name == "temperature":
		a.Temperature = &v
	}

	return true
}

func textOf(v float64, none bool) string {
	if none {
		return "none"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// settingText is a setting as it is known.
func (e *entry) settingText(name string) string {
	a := e.asked
	for _, known := range []struct {
		name string
		v    *float64
	}{
		{"max_concurrency", float(a.MaxConcurrency)},
		{"input_len", float(a.InputLen)},
		{"output_len", float(a.OutputLen)},
		{"num_prompts", float(&a.NumPrompts)},
		{"request_rate", a.RequestRate},
		{"burstiness", a.Burstiness},
		{"temperature", a.Temperature},
	} {
		if known.name == name && known.v != nil {
			return textOf(*known.v, false)
		}
	}

	return "none"
}

func float(n *int) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

// word sets what is not a number.
func (e *entry) word(t labels.Target, text, label string) {
	if text == "" || text == "null" || text == "None" {
		return
	}

	put := func(at *string) {
		if *at != "" && *at != text {
			e.warn(results.WarnImportedDiffers, "%s is %q, and was before %q", label, text, *at)
			return
		}
		*at = text
	}

	switch t.Name {
	case "model":
		put(&e.model)
	case "backend":
		put(&e.backend)
	case "variant", "label":
		e.variant = text
	case "point":
		e.point = text
	case "date":
		e.date = text
	case "endpoint":
		put(&e.asked.Endpoint)
		e.stateSetting(t.Name)
	case "dataset":
		put(&e.asked.Dataset)
		e.stateSetting(t.Name)
	case "dataset_path":
		put(&e.asked.DatasetPath)
	case "tokenizer":
		put(&e.asked.Tokenizer)
	case "ignore_eos":
		e.asked.IgnoreEOS = strings.EqualFold(text, "true")
		e.stateSetting(t.Name)
	}
}

// hasFigures says that there is something to import.
func (e *entry) hasFigures() bool {
	return e.found > 0 || e.ofProgram() || e.own != nil || e.verdict == results.Failed || e.verdict == results.NotRun
}
