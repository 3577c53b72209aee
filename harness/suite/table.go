package suite

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/benchrig/bench/metrics/catalog"
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

// Table writes the rounds as a table. Latencies are means. Below it stands why
// rounds failed.
func Table(w io.Writer, rows []Row) error {
	vision := false
	var out strings.Builder
	for _, row := range rows {
		vision = vision || IsVision(row.Round.Profile)
	}

	for _, row := range rows {
		if row.Result != nil && row.Result.Simulated {
			fmt.Fprintln(&out, Simulated)
			break
		}
	}

	lines := [][]string{head(vision)}
	for _, row := range rows {
		lines = append(lines, row.cells(vision))
	}

	align(&out, lines)
	for _, row := range rows {
		if row.Problem != "" {
			r := row.Round
			fmt.Fprintf(&out, "%s, %d at once: %s\n", r.Profile, r.Load.NumPrompts, row.Problem)
		}
	}

	if vision {
		fmt.Fprintln(&out, "img tok/req is an estimate: the server's count of a prompt without its text and the chat "+
			"template")
	}

	_, err := io.WriteString(w, out.String())
	return err
}

func head(vision bool) []string {
	names := []string{"profile", "in", "out", "n", "ok"}
	for _, c := range figureColumns {
		names = append(names, c.head)
	}
	if vision {
		names = append(names, "img tok/req")
	}
	return append(names, "result")
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

// align writes lines of cells: the first and the last column to the left, the
// others to the right.
func align(out *strings.Builder, lines [][]string) {
	widths := make([]int, len(lines[0]))
	for _, cells := range lines {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}

	for _, cells := range lines {
		var line strings.Builder
		for i, cell := range cells {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch {
			case i == 0:
				line.WriteString(cell + pad)
			case i == len(cells)-1:
				line.WriteString("  " + cell)
			default:
				line.WriteString("  " + pad + cell)
			}
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
}
