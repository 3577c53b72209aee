package codes

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Term is a word of reports that is not a code.
type Term struct {
	Name    string `json:"term"`
	Meaning string `json:"meaning"`
}

// terms lists the words that reports and plans use.
func terms() []Term {
	return []Term{
		{"variant", "One way to start a server: an entry under variants: in the scenario, " +
			"or one combination of its matrix."},
		{"load point", "One load of the sweep, such as c32: at most 32 requests in flight."},
		{"step", "One variant at one load point, measured once."},
		{"pass", "One execution of a step's load. A step has one pass, or several in methods such as sqzb."},
		{"server start", "One launch of a variant's servers. Speeds differ from launch to launch, " +
			"so repeats and intervals count server starts, not requests."},
		{
			"baseline",
			"The variant or run that the others are compared with: baseline: in the scenario, else the first.",
		},
		{"suspect", "A measured step with a warning that disqualifies it: its figures are shown but never ranked."},
		{"cannot tell", "The verdict if neither a difference nor its absence is established. It says how many more " +
			"repeats would decide."},
	}
}

// FindTerm is the term of a name, whose words may be joined by signs.
func FindTerm(name string) (Term, bool) {
	name = strings.ToLower(strings.NewReplacer("-", " ", "_", " ").Replace(name))
	all := terms()
	at := slices.IndexFunc(all, func(t Term) bool { return t.Name == name || t.Name+"s" == name })
	if at < 0 {
		return Term{}, false
	}
	return all[at], true
}

// Write writes a term for a terminal.
func (t Term) Write(w io.Writer) { fmt.Fprintf(w, "%s\n  meaning     %s\n", t.Name, t.Meaning) }

// TermNames are the terms as one word each, for the shell.
func TermNames() []string {
	var names []string
	for _, t := range terms() {
		names = append(names, strings.ReplaceAll(t.Name, " ", "-"))
	}
	return names
}
