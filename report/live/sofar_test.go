package live

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

func step(variant, point string, repeat int, state StepState, tokensPerS float64) Step {
	s := Step{StepRef: results.StepRef{Variant: variant, Point: point, Repeat: repeat}, State: state}
	if tokensPerS > 0 {
		s.TokensPerS, s.TTFTS, s.TPOTS = new(tokensPerS), new(0.02), new(0.004)
	}

	return s
}

func TestResultsSoFar(t *testing.T) {
	v := View{Columns: []string{"c1", "c8"}, Rows: []Row{
		{Variant: "tp4", Cells: [][]Step{
			{step("tp4", "c1", 1, Done, 100), step("tp4", "c1", 2, Done, 110), step("tp4", "c1", 3, Suspect, 900)},
			{step("tp4", "c8", 1, Running, 0), step("tp4", "c8", 2, Pending, 0)},
		}},
		{Variant: "tp8", Cells: [][]Step{
			{step("tp8", "c1", 1, Failed, 0)},
			{step("tp8", "c8", 1, Suspect, 210)},
		}},
	}}

	got := resultsTable(v, 80, false)
	want := []string{
		"variant  point  n          output tok/s  TTFT ms  TPOT ms",
		"tp4      c1     2 of 3            105.0     20.0     4.00  ##########",
		"tp8      c8     1 suspect         210.0     20.0     4.00  #####################",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("results so far:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, width := range []int{20, 40, 60} {
		for _, line := range resultsTable(v, width, true) {
			if n := len([]rune(line)); n > width {
				t.Errorf("%d cells at a width of %d: %q", n, width, line)
			}
		}
	}
}

// A step is suspect for the warning that disqualifies it, not for the first
// one that it has.
func TestReasonIsTheWarningThatDisqualifies(t *testing.T) {
	ref := results.StepRef{ID: "a_c1_r1", Variant: "a", Point: "c1", Repeat: 1}
	b := newBoard(&results.Run{Manifest: results.Manifest{Planned: []results.StepRef{ref}}})
	b.Result(&results.Result{
		Step: ref, Verdict: results.Suspect, Figures: &results.Figures{},
		Warnings: []results.Warning{
			{Code: results.WarnFewSamples, Message: "p99 of 48 requests"},
			{Code: results.WarnClientLimit, Message: "the client was the limit"},
			{Code: results.WarnClientLate, Message: "sent late"},
		},
	})

	if got, want := b.Steps[0].Why, "client-limit: the client was the limit (and 1 more)"; got != want {
		t.Errorf("reason %q, want %q", got, want)
	}
}

// TestStepsThatCanBeNeeded: of the planned steps of a tuning or a bisection, those that
// nothing can need are counted neither as pending nor as not needed.
func TestStepsThatCanBeNeeded(t *testing.T) {
	for _, tt := range []struct {
		most, notNeeded           int // of 20 planned steps, 4 of which are done
		pending, counted, ofTotal int
	}{
		{most: 0, notNeeded: 6, pending: 10, counted: 6, ofTotal: 14},
		{most: 9, notNeeded: 0, pending: 5, counted: 0, ofTotal: 9},
		{most: 9, notNeeded: 13, pending: 3, counted: 2, ofTotal: 7},
		{most: 9, notNeeded: 16, pending: 0, counted: 5, ofTotal: 4},
		{most: 3, notNeeded: 16, pending: 0, counted: 0, ofTotal: 4},
	} {
		b := &Board{Manifest: results.Manifest{MostSteps: tt.most}}
		for i := range 20 {
			state := Pending
			switch {
			case i < 4:
				state = Done
			case i < 4+tt.notNeeded:
				state = NotNeeded
			}
			b.Steps = append(b.Steps, Step{State: state})
		}

		v := makeView(b, "", nil, Presence{Now: clock()})
		if v.Counts[Pending] != tt.pending || v.Counts[NotNeeded] != tt.counted || v.Total != tt.ofTotal {
			t.Errorf("%d steps at most, %d not needed: %d pending, %d not needed, %d in all, want %d, %d, %d", tt.most,
				tt.notNeeded, v.Counts[Pending], v.Counts[NotNeeded], v.Total, tt.pending, tt.counted, tt.ofTotal)
		}
	}
}
