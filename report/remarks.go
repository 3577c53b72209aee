package report

import (
	"io"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// Remarks prints what a reader of a step's result block must know: why it
// failed, doubts about its figures, and what vLLM's client would have shown.
func Remarks(w io.Writer, r *results.Result, opts Options) error {
	p := &printer{opts: opts}
	if r.Failure != nil {
		p.section("Failure")
		p.wrapped("  ", text.Clean(r.Failure.Error()))
	}
	if len(r.Warnings) > 0 {
		p.section("Warnings")
		for _, warning := range r.Warnings {
			p.wrapped("  ", string(warning.Code)+": "+text.Clean(warning.Message))
		}
	}
	if r.Figures != nil {
		printReadings(p, r)
	}
	_, err := w.Write(p.out.Bytes())
	return err
}
