package step

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/dataset/exact"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
)

func TestScoreOf(t *testing.T) {
	questions := exact.Questions()
	var records []results.Record
	for i, q := range questions {
		r := results.Record{Index: i, Text: " " + q.Want + "\n"}
		switch i {
		case 0:
			r.Text = strings.Repeat("nonsense ", 20)
		case 1:
			r.Text, r.Content = "I think...", &q.Want // what was thought before the answer is no part of it
		case 2:
			r.Failure = results.Failf(results.FailStall, "")
		case 3:
			continue // never sent
		}
		records = append(records, r)
	}

	e := scoreOf(questions, records)
	if e.Asked != 50 || e.Right != 47 || e.Failed != 2 || e.Score != 0.94 || len(e.Wrong) != 1 ||
		e.Wrong[0].Want != questions[0].Want || len(e.Wrong[0].Got) != 83 {
		t.Errorf("evaluation = %+v", e)
	}
	if len(e.Kinds) != 3 || e.Kinds[0] != (results.KindScore{Kind: "arithmetic", Asked: 20, Right: 17}) {
		t.Errorf("kinds = %+v", e.Kinds)
	}
	for _, tt := range []struct {
		score float64
		want  bool
	}{{0, false}, {0.94, false}, {0.95, true}} {
		if e.MinScore = tt.score; e.Missed() != tt.want {
			t.Errorf("with min-score %v missed is %v", tt.score, !tt.want)
		}
	}
}

func TestReversed(t *testing.T) {
	p := load.Prompt{Text: "one two  three", TokenIDs: []int{1, 2, 3}}
	if got := reversed(p); got.Text != "three two one" || got.TokenIDs[0] != 3 || p.TokenIDs[0] != 1 {
		t.Errorf("reversed = %+v, of %+v", got, p)
	}
}
