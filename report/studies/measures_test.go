package studies

import (
	"testing"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// All cells of a row have the decimals that its largest figure needs.
func TestMeasureDigits(t *testing.T) {
	cell := func(value float64) compare.Cell {
		measures := []results.Measure{{Name: "x", Unit: "tok/s", Value: &value}}
		r := &results.Result{Verdict: results.OK, Measures: measures}
		return compare.Cell{Steps: []*results.Result{r}, Counted: []*results.Result{r}}
	}
	for _, tt := range []struct {
		a, b         float64
		wantA, wantB string
	}{
		{0.04567, 1.2, "0.046", "1.200"},
		{12850.316, 9.5, "12850.3", "9.5"},
		{0.00234, 0.00122, "0.00234", "0.00122"},
		{0, 0, "0.000", "0.000"},
	} {
		cells := []compare.Cell{cell(tt.a), cell(tt.b)}
		figures := catalog.MeasureFigures([]*results.Result{cells[0].Counted[0], cells[1].Counted[0]})
		row := measureRow(figures[0], cells)
		if a, b := row.Cells[2].Text, row.Cells[3].Text; a != tt.wantA || b != tt.wantB {
			t.Errorf("%v and %v are shown as %s and %s, want %s and %s", tt.a, tt.b, a, b, tt.wantA, tt.wantB)
		}
	}
}
