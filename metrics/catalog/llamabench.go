package catalog

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// testFigures are the tests of llama.cpp's benchmark as figures: the same test
// of one model with the same settings is one.
func testFigures(runs [][]results.LlamaBenchRow) []Figure {
	rows := slices.Concat(runs...)
	several := slices.ContainsFunc(rows, func(row results.LlamaBenchRow) bool { return modelOfTest(row) != modelOfTest(rows[0]) })
	settings := TestSettings(runs...)
	var names []string
	var figures []Figure
	for _, row := range rows {
		name, title := row.Test, row.Test+" t/s"
		if s := settings(row); s != "" {
			name, title = name+" "+strings.NewReplacer(" ", "", ",", " ").Replace(s), title+", "+s
		}
		if several {
			name, title = name+"@"+modelOfTest(row), title+", "+modelOfTest(row)
		}
		if slices.Contains(names, name) {
			continue
		}
		names = append(names, name)
		same := func(other results.LlamaBenchRow) bool {
			return other.Test == row.Test && modelOfTest(other) == modelOfTest(row) && settings(other) == settings(row)
		}
		figures = append(figures, Figure{Name: name, Title: title, Unit: "tok/s", Scale: 1, Higher: true, Of: func(r *results.Result) *float64 { return meanOfTests(r, same) }})
	}
	return figures
}

// TestSettings gives of each row the settings that one run of the program swept
// beside test and model: "fa 1, ub 512"; "" where there are none. What only
// differs between runs is not told: it may be what they are compared for.
func TestSettings(runs ...[]results.LlamaBenchRow) func(results.LlamaBenchRow) string {
	all := []func(results.LlamaBenchRow) string{
		func(r results.LlamaBenchRow) string { return named("fa", r.FlashAttn) },
		func(r results.LlamaBenchRow) string { return named("b", countText(r.Batch)) },
		func(r results.LlamaBenchRow) string { return named("ub", countText(r.MicroBatch)) },
		func(r results.LlamaBenchRow) string { return named("t", countText(r.Threads)) },
		func(r results.LlamaBenchRow) string {
			if r.GPULayers == nil {
				return ""
			}
			return named("ngl", strconv.Itoa(*r.GPULayers))
		},
	}
	vary := slices.DeleteFunc(all, func(of func(results.LlamaBenchRow) string) bool {
		return !slices.ContainsFunc(runs, func(rows []results.LlamaBenchRow) bool {
			return slices.ContainsFunc(rows, func(r results.LlamaBenchRow) bool { return of(r) != of(rows[0]) })
		})
	})
	return func(r results.LlamaBenchRow) string {
		var parts []string
		for _, of := range vary {
			if text := of(r); text != "" {
				parts = append(parts, text)
			}
		}
		return strings.Join(parts, ", ")
	}
}

func named(name, value string) string {
	if value == "" {
		return ""
	}
	return name + " " + value
}

func countText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// modelOfTest names the model of a test: its file without folder and ending,
// or what the program calls it.
func modelOfTest(row results.LlamaBenchRow) string {
	if row.File == "" {
		return row.Model
	}
	return strings.TrimSuffix(path.Base(row.File), ".gguf")
}

// meanOfTests is the mean over the rows that match; null if there is none.
func meanOfTests(r *results.Result, match func(results.LlamaBenchRow) bool) *float64 {
	var values []float64
	for _, row := range r.LlamaBench {
		if match(row) {
			values = append(values, row.TokensPerS)
		}
	}
	if values == nil {
		return nil
	}
	return new(metrics.Mean(values))
}
