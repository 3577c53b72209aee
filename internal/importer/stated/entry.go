// Package stated collects what a file states of one result, and makes a result of
// it in bench's form.
//
// What goes in: values under the labels of other programs, each with its place;
// samples of single requests; what the text around says. What comes out: a
// results.Result, in which everything that was not stated is null, with warnings
// where statements contradict each other. It reads no format.
package stated

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// Entry is one result of a file while it is read. Empty fields were not stated.
type Entry struct {
	Origin  results.Origin
	Figures results.Figures
	Asked   results.Asked
	Peak    *int // concurrent requests, counted by vLLM's buckets
	found   int  // figures
	Table   int  // line where the table begins that it is a row of; 0: none

	Model        string // as the file names it
	Backend      string
	EndpointType string // of a client that has both
	Ramp, BestOf string // parts of a point's label: "ramp-linear-1-10", "best-of-2"; "": the client's default
	Date         string

	Variant, Point string // as headings or columns name them
	Engine         string // kind of server, as headings or columns name it
	Params         map[string]string
	Argv           []string // of the server
	Env            map[string]string
	Drafting       *results.Drafting
	Notes          []string // text beside it, MaxNotes lines at most of each place

	Rows       []results.LlamaBenchRow
	Measures   []results.Measure // of a program, which MeasuredBy names
	MeasuredBy string
	Own        *results.Result // a result of bench, complete
	Verdict    results.Verdict
	Commas     plain.Commas // what they mean in the file
	Simulated  bool
	Factor     int // replicas that the figures are to stand for; 0 or 1: those that ran

	Records  []results.Record
	Warnings []results.Warning
	Ref      results.StepRef // once it has a name
}

// MaxNotes is how many lines of text beside a result are kept with it.
const MaxNotes = 8

// New returns the entry of a result that begins at a line of a file.
func New(file, format string, line int) *Entry {
	return &Entry{Origin: results.Origin{File: file, Format: format, Line: line}, Params: map[string]string{}}
}

// OfProgram reports whether the figures are those of a program without a server.
func (e *Entry) OfProgram() bool { return e.Rows != nil || e.Measures != nil }

// HasFigures reports whether there is something to import.
func (e *Entry) HasFigures() bool {
	return e.found > 0 || e.OfProgram() || e.Own != nil || e.Verdict == results.Failed || e.Verdict == results.NotRun
}

// Warn adds a warning about the result.
func (e *Entry) Warn(code results.WarningCode, format string, args ...any) {
	e.Warnings = append(e.Warnings, results.Warnf(code, format, args...))
}

// State keeps a value as it was stated; as names what it stands for, "": nothing.
func (e *Entry) State(label, text string, line int, as string) {
	e.Origin.Stated = append(e.Origin.Stated, results.StatedValue{Label: label, Text: text, Line: line, As: as})
}

// Take reads a value under its label, and reports whether it became a figure.
// program says that the label is a name that a program gave (labels.Of).
func (e *Entry) Take(label, text string, line int, program bool) bool {
	t, ok := labels.Of(label, program)
	return e.Put(t, ok, label, text, line)
}

// Setting reads a setting of the load or the server that has this name in bench.
func (e *Entry) Setting(name, label, text string, line int) {
	e.Put(labels.Setting(name), true, label, text, line)
}

// Put keeps a value and sets what it stands for, if that is understood. It reports
// whether the value became a figure.
func (e *Entry) Put(t labels.Target, understood bool, label, text string, line int) bool {
	switch {
	case !understood:
		e.State(label, text, line, "")
		return false
	case t.Scale == 0:
		e.word(t.Name, plain.Cell(text), label)
		e.State(label, text, line, t.As())
		return false
	case !t.IsFigure():
		as := t.As()
		if !e.setting(t.Name, plain.Cell(text), label) {
			as = ""
		}
		e.State(label, text, line, as)
		return false
	}

	figure, doubtful := e.Commas.Plain(text, t.Counts())
	v, ok := plain.Number(figure)
	if doubtful {
		ok = ok && e.Commas != plain.Both
		e.doubt(label, text, v, ok)
	}
	if !ok {
		if trimmed := plain.Cell(text); !slices.Contains([]string{"", "null", "-", "n/a"}, strings.ToLower(trimmed)) {
			e.Warn(results.WarnImportedUnusable, "%s is %q, which is not a number: left out", label,
				plain.Shown(trimmed))
		}
		e.State(label, text, line, "")
		return false
	}
	return e.Figure(t, label, text, v, line)
}

// Figure sets a figure to a value in the unit of the file. It returns false where
// the figure has another value already, or cannot have this one.
func (e *Entry) Figure(t labels.Target, label, text string, v float64, line int) bool {
	if !e.set(t, v*t.Scale) {
		e.State(label, text, line, "")
		e.Warn(results.WarnImportedDiffers, "%s is %s, and had another value before", label, plain.Cell(text))
		return false
	}
	e.State(label, text, line, t.As())
	e.found++
	return true
}

// doubt warns that the comma of a value may separate thousands or begin a fraction.
func (e *Entry) doubt(label, text string, v float64, read bool) {
	how := "it is not read because the file's other commas are of both kinds"
	if read {
		how = fmt.Sprintf("it is read as %.0f, for nothing in the file says that its commas begin fractions", v)
	}
	e.Warn(results.WarnImportedAmbiguous, "%s is %q: %s", label, plain.Shown(plain.Cell(text)), how)
}

// Absorb takes over what another place states of the same result.
func (e *Entry) Absorb(other *Entry) {
	e.Origin.Also = append(e.Origin.Also, other.Origin.Line)
	e.Origin.Stated = append(e.Origin.Stated, other.Origin.Stated...)
	if !e.IsStated("max_concurrency") && other.IsStated("max_concurrency") {
		e.Asked.MaxConcurrency = other.Asked.MaxConcurrency
		e.stateSetting("max_concurrency")
	}

	for name, value := range other.Params {
		if _, known := e.Params[name]; !known {
			e.Params[name] = value
		}
	}

	for _, note := range other.Notes {
		if len(e.Notes) < MaxNotes {
			e.Notes = text.AppendNew(e.Notes, note)
		}
	}

	e.Model, e.Engine = cmp.Or(e.Model, other.Model), cmp.Or(e.Engine, other.Engine)
	e.Simulated = e.Simulated || other.Simulated
}

// AppendLine appends a line of a file that is not a figure, unless it is blank.
func AppendLine(lines []results.ImportedLine, no int, kind results.LineKind, text string) []results.ImportedLine {
	if text = plain.Shown(text); strings.TrimSpace(text) == "" {
		return lines
	}
	return append(lines, results.ImportedLine{Line: no, Kind: kind, Text: text})
}
