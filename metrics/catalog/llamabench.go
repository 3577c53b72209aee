package catalog

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// testFigures are the tests of llama.cpp's benchmark as figures: the same test
// of one model with the same settings is one.
func testFigures(runs [][]results.LlamaBenchRow) []Figure {
	rows := slices.Concat(runs...)
	several := slices.ContainsFunc(rows, func(row results.LlamaBenchRow) bool {
		return row.ModelName() != rows[0].ModelName()
	})
	settings := TestSettings(runs...)
	var names []string
	var figures []Figure
	for _, row := range rows {
		name, model := row.Test, ""
		for _, s := range settings(row) {
			name += " " + s.Name + strings.NewReplacer(" ", "", ",", " ").Replace(s.Value)
		}
		if several {
			model = row.ModelName()
			name += "@" + model
		}
		if slices.Contains(names, name) {
			continue
		}
		names = append(names, name)
		same := func(other results.LlamaBenchRow) bool {
			return other.Test == row.Test && other.ModelName() == row.ModelName() &&
				slices.Equal(settings(other), settings(row))
		}
		figures = append(figures, Figure{
			Name: name, Title: TestText(row.Test, settings(row), model) + " t/s", Unit: "tok/s", Scale: 1, Higher: true,
			Test: row.Test, Of: func(r *results.Result) *float64 { return meanOfTests(r, same) },
		})
	}

	return figures
}

// testRuns are the rows of steps, those of one variant at one load point of a
// run together: what differs among them is named.
func testRuns(steps []*results.Result) [][]results.LlamaBenchRow {
	var runs [][]results.LlamaBenchRow
	index := map[string]int{}
	for _, r := range steps {
		if len(r.LlamaBench) == 0 {
			continue
		}
		key := strings.Join([]string{r.Scenario, r.Run, r.Step.Variant, r.Step.Point}, "\x00")
		at, known := index[key]
		if !known {
			at = len(runs)
			index[key] = at
			runs = append(runs, nil)
		}
		runs[at] = append(runs[at], r.LlamaBench...)
	}

	return runs
}

// TestSettings gives of each row the settings in which the rows of one run of
// the program differ beside the test, and those in which models of one name do.
// What only differs between runs is not named: it may be what they are compared
// for.
func TestSettings(runs ...[]results.LlamaBenchRow) func(results.LlamaBenchRow) []results.RowSetting {
	vary := map[string]bool{}
	for _, rows := range runs {
		addVarying(vary, rows)
	}

	return func(r results.LlamaBenchRow) []results.RowSetting {
		return slices.DeleteFunc(r.Settings(),
			func(s results.RowSetting) bool { return !vary[s.Name] || s.Value == "" })
	}
}

// TestText is "pp512 (fa 1, type_k q8_0, llama-7b)": a test with the settings and the
// model that tell it from others of its name. A model of "" is left out.
func TestText(test string, settings []results.RowSetting, model string) string {
	var parts []string
	for _, s := range settings {
		parts = append(parts, s.Name+" "+s.Value)
	}
	if model != "" {
		parts = append(parts, model)
	}
	if parts == nil {
		return test
	}

	return test + " (" + strings.Join(parts, ", ") + ")"
}

// addVarying notes the settings that are not the same in all rows; of the
// models, those that are not the same in all rows of one name.
func addVarying(vary map[string]bool, rows []results.LlamaBenchRow) {
	named := map[string]results.LlamaBenchRow{} // the first row of each model's name
	for _, row := range rows {
		first, known := named[row.ModelName()]
		if !known {
			first, named[row.ModelName()] = row, row
		}
		addDifferences(vary, rows[0], row, false)
		addDifferences(vary, first, row, true)
	}
}

// addDifferences notes the settings in which two rows differ: those of the
// model, or all others.
func addDifferences(vary map[string]bool, a, b results.LlamaBenchRow, ofModel bool) {
	values := map[string]string{}
	for _, s := range a.Settings() {
		values[s.Name] = s.Value
	}

	for _, s := range b.Settings() {
		if s.OfModel() == ofModel && s.Value != values[s.Name] {
			vary[s.Name] = true
		}
		delete(values, s.Name)
	}
	for name := range values { // what b does not have
		if !ofModel {
			vary[name] = true
		}
	}
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
