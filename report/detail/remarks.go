package detail

import (
	"io"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/codes"
)

// Remarks prints what a reader of a step's result block must know: why it
// failed, doubts about its figures, how far the client can have moved them, and what vLLM's client would have shown.
func Remarks(w io.Writer, r *results.Result, opts table.Options) error {
	p := table.NewPrinter(opts)
	if r.Failure != nil {
		p.Section("Failure")
		p.Wrapped("  ", text.Clean(r.Failure.Error()))
		printAdvice(p, []string{string(r.Failure.Class)})
	}
	printWarnings(p, r.Warnings)

	if r.Figures != nil {
		printSessions(p, r.Figures.Sessions)
	}
	printParts(p, r.Parts)
	printResent(p, r.Resent)
	printEvaluation(p, r.Evaluation)
	printCommandScore(p, r.CommandScore)
	if r.Figures != nil {
		printToolCalls(p, r.Figures.Tools)
		printClient(p, r)
		printReadings(p, r)
	}

	return p.Flush(w)
}

func printWarnings(p *table.Printer, warnings []results.Warning) {
	if len(warnings) == 0 {
		return
	}

	p.Section("Warnings")
	var named []string
	for _, warning := range warnings {
		p.Wrapped("  ", string(warning.Code)+": "+text.Clean(warning.Message))
		if warning.Code != results.WarnSimulated { // there is nothing to do
			named = text.AppendNew(named, string(warning.Code))
		}
	}
	printAdvice(p, named)
}

// printAdvice names the command that says what to do about codes. A code that is not one
// of bench's is left out: a file that anybody wrote must not make up a command to copy.
func printAdvice(p *table.Printer, named []string) {
	known := slices.DeleteFunc(named, func(code string) bool { return len(codes.Find(code)) == 0 })
	if len(known) > 0 {
		p.Wrapped("  ", "What to do: bench explain "+strings.Join(known, " "))
	}
}
