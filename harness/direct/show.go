package direct

import (
	"fmt"
	"io"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/load/vllmcli"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// Show prints the result block that the flags ask for, and below it what is to be
// known about the figures.
func Show(w io.Writer, f *vllmcli.Flags, r *results.Result, o table.Options) error {
	metrics, err := f.ShownMetrics()
	if err != nil {
		return usage.Mark(err)
	}

	if compat := results.Generation(f.Dataset.Compat); compat == "" {
		err = detail.Block(w, r, metrics...)
	} else {
		err = detail.CompatBlock(w, r, compat, metrics...)
	}
	if err != nil {
		return err
	}
	return detail.Remarks(w, r, o)
}

// ShowAgents says what each load agent did and how well its clock is known.
func ShowAgents(w io.Writer, r *results.Result) {
	if r.Client == nil {
		return
	}
	for _, a := range r.Client.Agents {
		limit := ""
		if a.MaxConcurrency > 0 {
			limit = fmt.Sprintf(", at most %d at once", a.MaxConcurrency)
		}
		fmt.Fprintf(w, "agent %s on %s: %s%s, clock known within %.3f ms\n", a.Name, a.Host,
			text.Count(a.Requests, "request"), limit, a.OffsetBoundS*1000)
	}
}
