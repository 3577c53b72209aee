package detail

import (
	"io"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// Remarks prints what a reader of a step's result block must know: why it
// failed, doubts about its figures, how far the client can have moved them, and what vLLM's client would have shown.
func Remarks(w io.Writer, r *results.Result, opts table.Options) error {
	p := table.NewPrinter(opts)
	if r.Failure != nil {
		p.Section("Failure")
		p.Wrapped("  ", text.Clean(r.Failure.Error()))
	}
	if len(r.Warnings) > 0 {
		p.Section("Warnings")
		for _, warning := range r.Warnings {
			p.Wrapped("  ", string(warning.Code)+": "+text.Clean(warning.Message))
		}
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
