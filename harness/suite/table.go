package suite

import (
	"cmp"
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
// failed are below it.
func Table(w io.Writer, rows []Row) error {
	has := parts{
		vision: slices.ContainsFunc(rows, func(row Row) bool { return IsVision(row.Round.Profile) }),
		gpus:   slices.ContainsFunc(rows, func(row Row) bool { return readGPUs(row.Result) }),
	}
	t := table.Table{Columns: columns(has)}

	out := table.NewPrinter(table.Options{})
	if slices.ContainsFunc(rows, func(row Row) bool { return row.Result != nil && row.Result.Simulated }) {
		out.Line(Simulated)
	}
	for _, row := range rows {
		t.Rows = append(t.Rows, table.NewRow(row.cells(has)...))
	}
	out.Table(t)

	for _, row := range rows {
		if row.Problem != "" {
			r := row.Round
			out.Line(fmt.Sprintf("%s, %d at once: %s", r.Profile, r.Load.NumPrompts, row.Problem))
		}
	}

	if has.vision {
		out.Line("img tok/req is an estimate: the server's count of a prompt without its text and the chat template")
	}

	return out.Flush(w)
}

// parts are the columns that not every table has.
type parts struct{ vision, gpus bool }

func columns(has parts) []table.Column {
	all := []table.Column{
		table.Words("profile"), table.Numbers("in", ""), table.Numbers("out", ""), table.Numbers("n", ""),
		table.Numbers("ok", ""),
	}
	for _, c := range figureColumns {
		all = append(all, table.Numbers(c.head, ""))
	}
	if has.gpus {
		for _, c := range gpuColumns {
			all = append(all, table.Numbers(c.head, ""))
		}
	}
	if has.vision {
		all = append(all, table.Numbers("img tok/req", ""))
	}

	return append(all, table.Words("result"))
}

func (r Row) cells(has parts) []string {
	load := r.Round.Load
	cells := []string{
		r.Round.Profile, Tokens(load.InputLen), strconv.Itoa(load.OutputLen),
		strconv.Itoa(load.NumPrompts),
	}
	cells = append(cells, figures(r.Result)...)
	if has.gpus {
		for _, c := range gpuColumns {
			cells = append(cells, r.gpuCell(c))
		}
	}
	if has.vision {
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

// gpuColumn is a figure of this machine's GPUs together.
type gpuColumn struct {
	head, field string // field: the figure's name, and that in the round's file
	digits      int    // after the point
}

// gpuColumns are the figures of the GPUs over a round.
var gpuColumns = []gpuColumn{
	{"VRAM GiB", "vram_peak_bytes", 2}, {"power W", "power_mean_w", 0}, {"J/out tok", "j_per_output_token", 3},
}

// of is the figure of a round; nil: not known.
func (c gpuColumn) of(r *results.Result) *float64 {
	if !readGPUs(r) {
		return nil
	}
	return catalog.Must(c.field).Of(r)
}

func (r Row) gpuCell(c gpuColumn) string {
	v := c.of(r.Result)
	if v == nil {
		return missing
	}
	scale := cmp.Or(catalog.Must(c.field).Scale, 1)
	return strconv.FormatFloat(*v*scale, 'f', c.digits, 64)
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
