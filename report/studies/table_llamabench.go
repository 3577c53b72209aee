package studies

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

const gib = 1 << 30

// tested is one test of llama-bench on one variant: its rows over the repeats
// together.
type tested struct {
	cell compare.Cell
	results.LlamaBenchRow
	mean float64
	sd   *float64 // over the repeats of the program, or of the test within one; nil: not known
}

// testsOf lists the tests of all variants, in the order of the run.
func testsOf(run *results.Run) []tested {
	var all []tested
	for _, cell := range compare.CellsOf(run.Manifest, run.Results()) {
		var found []tested
		for _, r := range cell.Counted {
			for _, line := range r.LlamaBench {
				if !slices.ContainsFunc(found, func(t tested) bool { return t.SameTest(line) }) {
					found = append(found, tested{cell: cell, LlamaBenchRow: line})
				}
			}
		}
		for i := range found {
			found[i].summarize()
		}
		all = append(all, found...)
	}

	return all
}

func (t *tested) summarize() {
	var values []float64
	for _, r := range t.cell.Counted {
		for _, line := range r.LlamaBench {
			if t.SameTest(line) {
				values = append(values, line.TokensPerS)
			}
		}
	}
	s := compare.Sample{Values: values}.Summarize(compare.DefaultRule().Confidence)
	t.mean, t.sd = *s.Mean, t.TokensPerSD
	if s.SD != nil {
		t.sd = s.SD
	}
}

func (t *tested) speed() string {
	if t.sd == nil {
		return table.Number(&t.mean, studyDigits)
	}
	return table.Number(&t.mean, studyDigits) + " ± " + table.Number(t.sd, studyDigits)
}

// LlamaBenchParts are the tables of a run of llama-bench; none without a test.
func LlamaBenchParts(run *results.Run) []table.Piece {
	all := testsOf(run)
	if len(all) == 0 {
		return nil
	}
	parts := []table.Piece{{Title: "llama-bench", Table: testTable(all), Notes: buildsOf(all)}}
	parts = append(parts, switchParts(run, all)...)
	return append(parts, sweepParts(all)...)
}

// testTable has the columns of llama-bench's own table, the variant before and
// memory and power behind them.
func testTable(all []tested) table.Table {
	c := table.Table{Keys: []int{0, 7}, Columns: []table.Column{
		table.Words("variant"),
		table.Words("model"),
		table.Numbers("size", "GiB"),
		table.Numbers("params", "B"),
		table.Words("backend"),
		table.Numbers("ngl", ""),
		table.Numbers("fa", ""),
		table.Words("test"),
		table.Numbers("t/s", "mean ± sd"),
		table.Numbers("memory", "peak GiB"),
		table.Numbers("power", "mean W"),
	}}

	settings := settingsOf(all)
	costs := costsOfTests(all)
	if costs != nil {
		c.Columns = append(c.Columns, table.Numbers("cost "+versus.CurrencyOf(all[0].cell), "/1M tok"))
		c.Legend = append(c.Legend, grid.TestCostLegend)
	}

	for i, t := range all {
		memory := t.cell.MeanOf(catalog.Must("vram_peak_bytes").Of)
		power := t.cell.MeanOf(catalog.Must("power_mean_w").Of)
		c.Rows = append(c.Rows, table.Row{
			NewGroup: i > 0 && t.cell.Variant != all[i-1].cell.Variant,
			Cells: []table.Cell{
				{Text: grid.VariantName(t.cell)},
				{Text: text.Clean(t.Model)},
				{Text: scaled(t.SizeBytes, gib)},
				{Text: scaled(t.Parameters, 1e9)},
				{Text: text.Clean(t.Backend)},
				{Text: cmp.Or(textOfInt(t.GPULayers), table.Missing)},
				{Text: cmp.Or(text.Clean(t.FlashAttn), table.Missing)},
				{Text: testText(t, withoutColumns(settings))},
				{Text: t.speed()},
				{Text: scaledFloat(memory, gib)},
				{Text: table.Number(power, 1)},
			},
		})
		if costs != nil {
			c.Rows[i].Cells = append(c.Rows[i].Cells, table.Cell{Text: costs[i]})
		}
	}

	if slices.ContainsFunc(all, func(t tested) bool { return t.cell.IsSimulated() }) {
		c.Legend = append(c.Legend, grid.SimLegend)
	}

	return c
}

func textOfInt(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

func scaled(n int64, unit float64) string {
	if n == 0 {
		return table.Missing
	}
	return scaledFloat(new(float64(n)), unit)
}

// scaledFloat is a value in a unit. One that would read as zero has two
// significant digits.
func scaledFloat(v *float64, unit float64) string {
	if v == nil {
		return table.Missing
	}

	const least = 0.005 // that is not rounded to 0.00
	in := *v / unit
	if in == 0 || !(math.Abs(in) < least) {
		return table.Number(&in, studyDigits)
	}
	digits := 1 - int(math.Floor(math.Log10(math.Abs(in))))
	return strconv.FormatFloat(in, 'f', digits, 64)
}

func buildsOf(all []tested) []string {
	var builds []string
	for _, t := range all {
		if t.Build != "" {
			builds = text.AppendNew(builds, "build "+text.Clean(t.Build))
		}
	}
	return builds
}

// switchParts set variants that differ in one environment variable side by
// side: unset against 1, with the gain.
func switchParts(run *results.Run, all []tested) []table.Piece {
	var names []string // of the variables, in the order of the run
	tables := make(map[string]*table.Table)
	settings := settingsOf(all)
	for _, with := range all {
		for _, without := range all {
			name, from, to := switched(run, without, with)
			if name == "" || !sameTitle(without, with, settings) {
				continue
			}
			title := fmt.Sprintf("%s: %s and %s", name, from, to)
			c := tables[title]
			if c == nil {
				c = &table.Table{Columns: []table.Column{
					table.Words("model"), table.Words("test"),
					table.Numbers(from, "t/s"), table.Numbers(to, "t/s"), table.Numbers("gain", ""),
				}, Keys: []int{0, 1}}
				tables[title] = c
				names = append(names, title)
			}
			gain := table.Missing
			if without.mean != 0 {
				gain = versus.ChangeText(new(with.mean/without.mean - 1))
			}
			c.Rows = append(c.Rows, table.NewRow(text.Clean(with.Model), testText(with, settings), without.speed(),
				with.speed(), gain))
		}
	}

	var parts []table.Piece
	for _, title := range names {
		parts = append(parts, table.Piece{Title: title, Below: true, Table: *tables[title]})
	}

	return parts
}

// switched names the one environment variable in which two variants differ,
// the first of them the one without it, or first in the run; "" otherwise.
func switched(run *results.Run, a, b tested) (name, from, to string) {
	if a.cell.Variant == b.cell.Variant || a.cell.Point != b.cell.Point {
		return "", "", ""
	}

	changes := slices.DeleteFunc(versus.RecipeChanges(a.cell, b.cell), func(c versus.Change) bool {
		return strings.HasPrefix(c.What, "argument --sim-") // what the simulator assumes of the variable
	})

	if len(changes) != 1 {
		return "", "", ""
	}

	variable, isEnv := strings.CutPrefix(changes[0].What, "environment ")
	variants := versus.VariantsOf(run)
	later := slices.Index(variants, a.cell.Variant) < slices.Index(variants, b.cell.Variant)
	forward := changes[0].From == versus.Unset || changes[0].To != versus.Unset && later
	if !isEnv || !forward {
		return "", "", ""
	}

	return text.Clean(variable), text.Clean(changes[0].From), text.Clean(changes[0].To)
}

// sweepParts are the speeds over the length of the prompt, and of the answer,
// where several were run.
func sweepParts(all []tested) []table.Piece {
	var parts []table.Piece
	for _, kind := range []struct {
		title string
		of    func(results.LlamaBenchRow) int // 0: not of this kind
	}{
		{
			"Prompt processing (pp), t/s by tokens",
			func(r results.LlamaBenchRow) int { return onlyOne(r.Prompt, r.Generated) },
		},
		{"Generation (tg), t/s by tokens", func(r results.LlamaBenchRow) int { return onlyOne(r.Generated, r.Prompt) }},
	} {
		if c := sweep(all, kind.of); len(c.Rows) > 1 {
			parts = append(parts, table.Piece{Title: kind.title, Below: true, Table: c})
		}
	}
	return parts
}

func onlyOne(n, other int) int {
	if other != 0 {
		return 0
	}
	return n
}

// settingsOf names the settings in which the tests of one variant differ beside
// test and model.
func settingsOf(all []tested) func(results.LlamaBenchRow) []results.RowSetting {
	var cells [][]results.LlamaBenchRow
	for i, t := range all {
		if i > 0 && t.cell.Variant == all[i-1].cell.Variant && t.cell.Point == all[i-1].cell.Point {
			continue // the same cell
		}
		var rows []results.LlamaBenchRow
		for _, r := range t.cell.Counted {
			rows = append(rows, r.LlamaBench...)
		}
		cells = append(cells, rows)
	}
	return catalog.TestSettings(cells...)
}

// withoutColumns leaves out the settings that have a column of their own.
func withoutColumns(
	settings func(results.LlamaBenchRow) []results.RowSetting,
) func(results.LlamaBenchRow) []results.RowSetting {
	return func(row results.LlamaBenchRow) []results.RowSetting {
		return slices.DeleteFunc(settings(row), func(s results.RowSetting) bool {
			return slices.Contains([]string{"backend", "ngl", "fa", "model", "size", "params"}, s.Name)
		})
	}
}

// sameTitle reports whether two tests of different variants are the same one.
func sameTitle(a, b tested, settings func(results.LlamaBenchRow) []results.RowSetting) bool {
	return a.Test == b.Test && a.File == b.File && a.Model == b.Model &&
		slices.Equal(settings(a.LlamaBenchRow), settings(b.LlamaBenchRow))
}

// testText is a test with what distinguishes it from others of its name.
func testText(t tested, settings func(results.LlamaBenchRow) []results.RowSetting) string {
	return text.Clean(catalog.TestText(t.Test, settings(t.LlamaBenchRow), ""))
}

func sweep(all []tested, of func(results.LlamaBenchRow) int) table.Table {
	settings := settingsOf(all)
	var lengths []int
	var lines []string // a column each
	for _, t := range all {
		if n := of(t.LlamaBenchRow); n > 0 && t.Depth == 0 {
			if !slices.Contains(lengths, n) {
				lengths = append(lengths, n)
			}
			lines = text.AppendNew(lines, sweepLine(t, settings))
		}
	}

	slices.Sort(lengths)
	c := table.Table{Columns: []table.Column{table.Numbers("tokens", "")}, Keys: []int{0}}
	for _, line := range lines {
		c.Columns = append(c.Columns, table.Numbers(line, ""))
	}

	for _, n := range lengths {
		r := table.NewRow(strconv.Itoa(n))
		for _, line := range lines {
			text := table.Missing
			for _, t := range all {
				if of(t.LlamaBenchRow) == n && t.Depth == 0 && sweepLine(t, settings) == line {
					text = table.Number(&t.mean, studyDigits)
				}
			}
			r.Cells = append(r.Cells, table.Cell{Text: text})
		}
		c.Rows = append(c.Rows, r)
	}

	return c
}

// sweepLine names a line of a sweep.
func sweepLine(t tested, settings func(results.LlamaBenchRow) []results.RowSetting) string {
	return text.Clean(t.cell.Variant + ": " + catalog.TestText(t.Model, settings(t.LlamaBenchRow), ""))
}

// costsOfTests are the costs of a million tokens of each test, in the order
// given; null where none is known.
func costsOfTests(all []tested) []string {
	texts, any := make([]string, len(all)), false
	for i, t := range all {
		texts[i] = table.Missing
		for _, r := range t.cell.Counted {
			if v := catalog.CostOfTest(r.Cost, t.mean); v != nil {
				texts[i], any = table.Number(v, table.DigitsOf(*v)), true
				break
			}
		}
	}
	if !any {
		return nil
	}
	return texts
}
