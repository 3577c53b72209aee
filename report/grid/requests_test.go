package grid

import (
	"testing"

	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// A count that a file states is shown, though it does not state the other one.
func TestRequests(t *testing.T) {
	imported := func(completed, asked int, stated ...string) *results.Result {
		origin := &results.Origin{}
		for _, name := range stated {
			origin.Stated = append(origin.Stated, results.StatedValue{As: name})
			origin.StatedSettings = append(origin.StatedSettings, name)
		}
		return &results.Result{Imported: origin, Figures: &results.Figures{Completed: completed, Asked: asked}}
	}

	tests := []struct {
		name string
		step *results.Result
		want string
	}{
		{"completed alone", imported(5429, 0, "completed"), "5429/-"},
		{"asked alone", imported(0, 200, "num_prompts"), "-/200"},
		{"both", imported(190, 200, "completed", "num_prompts"), "190/200"},
		{"neither", imported(0, 0), "-"},
		{"measured", &results.Result{Figures: &results.Figures{Completed: 3, Asked: 4}}, "3/4"},
		{
			"ended early", &results.Result{
				Early: &results.EarlyEnd{}, Figures: &results.Figures{Completed: 107, Unsent: 2893, Asked: 3000},
			}, "107/3000, early",
		},
		{"no figures", &results.Result{}, "-"},
	}
	for _, tt := range tests {
		if got := requests(compare.Cell{Steps: []*results.Result{tt.step}}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
