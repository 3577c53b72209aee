package suite

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// Row is a round as it came out.
type Row struct {
	Round   Round
	Result  *results.Result // nil: it was not run
	Images  *Images         // nil: none, or not known
	Problem string          // why it failed or was not run; "": it succeeded
}

// Simulated is the line above figures that come from the simulator.
const Simulated = results.SimulatedMark + " these figures come from bench's simulator, not from an inference engine"

const missing = "-"

// Table writes the rounds as a table. Latencies are means. Reasons why rounds
// failed stand below it.
func Table(w io.Writer, rows []Row) error {
	t := table.Table{Columns: columns()}
	vision := slices.ContainsFunc(rows, func(row Row) bool { return IsVision(row.Round.Profile) })
	if vision {
		t.Columns = slices.Insert(t.Columns, len(t.Columns)-1, table.Numbers("img tok/req", ""))
	}

	out := table.NewPrinter(table.Options{})
	if slices.ContainsFunc(rows, func(row Row) bool { return row.Result != nil && row.Result.Simulated }) {
		out.Line(Simulated)
	}
	for _, row := range rows {
		t.Rows = append(t.Rows, table.NewRow(row.cells(vision)...))
	}
	out.Table(t)

	for _, row := range rows {
		if row.Problem != "" {
			r := row.Round
			out.Line(fmt.Sprintf("%s, %d at once: %s", r.Profile, r.Load.NumPrompts, row.Problem))
		}
	}

	if vision {
		out.Line("img tok/req is an estimate: the server's count of a prompt without its text and the chat template")
	}

	return out.Flush(w)
}

func columns() []table.Column {
	all := []table.Column{
		table.Words("profile"), table.Numbers("in", ""), table.Numbers("out", ""), table.Numbers("n", ""),
		table.Numbers("ok", ""),
	}
	for _, c := range figureColumns {
		all = append(all, table.Numbers(c.head, ""))
	}
	return append(all, table.Words("result"))
}

func (r Row) cells(vision bool) []string {
	load := r.Round.Load
	cells := []string{
		r.Round.Profile, Tokens(load.InputLen), strconv.Itoa(load.OutputLen),
		strconv.Itoa(load.NumPrompts),
	}
	cells = append(cells, figures(r.Result)...)
	if vision {
		image := missing
		if r.Images != nil {
			image = fmt.Sprintf("~%.0f", r.Images.PerPrompt())
		}
		cells = append(cells, image)
	}
	return append(cells, r.verdict())
}

// Tokens shows a length, which may not be known.
func Tokens(n int) string {
	if n == 0 {
		return missing
	}
	return strconv.Itoa(n)
}

func (r Row) verdict() string {
	switch {
	case r.Result == nil:
		return "not run"
	case r.Problem != "":
		return "failed"
	}
	return string(r.Result.Verdict)
}

// figureColumns are the figures of the table, latencies as means.
var figureColumns = []struct{ head, figure string }{
	{"time s", "duration_s"},
	{"req/s", "request_throughput"},
	{"out tok/s", "output_throughput"},
	{"all tok/s", "total_token_throughput"},
	{"TTFT ms", "mean_ttft_s"},
	{"TPOT ms", "mean_tpot_s"},
	{"ITL ms", "mean_itl_s"},
}

// figures are the cells of a result, from ok to ITL.
func figures(r *results.Result) []string {
	cells := slices.Repeat([]string{missing}, 1+len(figureColumns))
	if r == nil || r.Figures == nil {
		return cells
	}

	cells[0] = fmt.Sprintf("%d/%d", r.Figures.Completed, r.Figures.Asked)
	for i, c := range figureColumns {
		f := catalog.Must(c.figure)
		if v := f.InTable(r); v != nil {
			cells[i+1] = strconv.FormatFloat(*v*f.Scale, 'f', 2, 64)
		}
	}

	return cells
}
