// Package codes explains the codes of warnings and failures: what each means,
// why it matters, and what to do about it.
//
// A code goes in, its entry comes out. It decides nothing: which code applies is
// found where figures are computed and servers are started.
package codes

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/benchrig/bench/results"
)

// Severity says what a code does to the figures of its step.
type Severity string

// The severities of codes.
const (
	Fails        Severity = "fails"        // there are no figures, or the step is not ranked
	Disqualifies Severity = "disqualifies" // the figures are shown as suspect and never ranked
	Limits       Severity = "limits"       // some figures say less than they seem to
	Informs      Severity = "informs"      // good to know
)

// Entry explains one code.
type Entry struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Meaning  string   `json:"meaning"` // what happened
	Why      string   `json:"why"`     // why it matters for the figures
	Do       string   `json:"do"`      // what to do about it
}

// Warning is the entry of a warning's code.
func Warning(code results.WarningCode) (Entry, bool) { return find(warnings(), string(code)) }

// Failure is the entry of a failure's class.
func Failure(class results.FailureClass) (Entry, bool) { return find(failures(), string(class)) }

// Find lists the entries of a code: one, or two where a warning and a failure
// share it.
func Find(code string) []Entry {
	return slices.DeleteFunc(All(), func(e Entry) bool { return e.Code != code })
}

// All lists every entry: warnings first, then failures.
func All() []Entry { return append(Warnings(), Failures()...) }

// Warnings lists the entries of all warnings.
func Warnings() []Entry { return warnings() }

// Failures lists the entries of all failures.
func Failures() []Entry { return failures() }

// Names lists the codes, each once, sorted.
func Names() []string {
	var names []string
	for _, e := range All() {
		names = append(names, e.Code)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Like lists up to three codes that contain a word or begin like it.
func Like(word string) []string {
	const most = 3
	var near []string
	for _, name := range Names() {
		if word != "" && (strings.Contains(name, word) || strings.HasPrefix(name, word[:min(3, len(word))])) {
			near = append(near, name)
		}
	}
	return near[:min(most, len(near))]
}

func find(entries []Entry, code string) (Entry, bool) {
	at := slices.IndexFunc(entries, func(e Entry) bool { return e.Code == code })
	if at < 0 {
		return Entry{}, false
	}
	return entries[at], true
}

// Write writes one entry for a terminal.
func (e Entry) Write(w io.Writer) {
	fmt.Fprintf(w, "%s (%s)\n  meaning     %s\n  why         %s\n  what to do  %s\n", e.Code, e.Severity, e.Meaning,
		e.Why, e.Do)
}

// List writes a line for each entry.
func List(w io.Writer, entries []Entry) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		fmt.Fprintf(table, "%s\t%s\t%s\n", e.Code, e.Severity, e.Meaning)
	}
	return table.Flush()
}
