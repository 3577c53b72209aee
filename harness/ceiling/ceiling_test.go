package ceiling

import (
	"math"
	"testing"

	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
)

func texts(all ...string) (out []load.Prompt) {
	for _, s := range all {
		out = append(out, load.Prompt{Text: s})
	}
	return out
}

func TestShared(t *testing.T) {
	for _, tt := range []struct {
		name  string
		in    []load.Prompt
		want  float64
		known bool
	}{
		{"nothing in common", texts("abcd", "efgh"), 0, true},
		{"half in common", texts("abcd", "abef"), 0.25, true},
		{"the same twice", texts("abcd", "abcd"), 0.5, true},
		{"a prefix of all", texts("abxx", "abyy", "abzz"), 4.0 / 12, true},
		{"ids", []load.Prompt{{TokenIDs: []int{1, 2, 3, 4}}, {TokenIDs: []int{1, 2, 9, 9}}}, 0.25, true},
		{"none", nil, 0, true},
		{"conversations", []load.Prompt{{Text: "a", Turns: []load.Turn{{Text: "b"}}}}, 0, false},
	} {
		if got, known := Shared(tt.in); math.Abs(got-tt.want) > 1e-9 || known != tt.known {
			t.Errorf("%s: Shared = %g, %t, want %g, %t", tt.name, got, known, tt.want, tt.known)
		}
	}
}

func TestOfPrompts(t *testing.T) {
	prompts := texts("abcd", "abef") // a quarter is shared
	for _, tt := range []struct {
		name     string
		warm     bool
		requests int
		want     float64
	}{
		{"each once", false, 2, 0.25},
		{"all twice", false, 4, 0.625},
		{"sent before", true, 2, 1},
	} {
		got, n := Of(prompts, make([]results.Record, tt.requests), tt.warm)
		if got == nil || math.Abs(*got-tt.want) > 1e-9 || *n != tt.requests {
			t.Errorf("%s: Of = %v of %v, want %g of %d", tt.name, got, n, tt.want, tt.requests)
		}
	}
	if got, n := Of(prompts, nil, false); got != nil || n != nil {
		t.Errorf("Of no requests = %v of %v, want none", got, n)
	}
}

// said is the record of a turn with so many tokens in and out.
func said(conversation, turn, in, out int) results.Record {
	return results.Record{
		Conversation: conversation, Turn: turn, InputTokens: &in, OutputTokens: &out,
		OutputTokensSource: results.CountUsage,
	}
}

func TestOfTurns(t *testing.T) {
	conversation := func(opening string, turns ...load.Turn) load.Prompt {
		return load.Prompt{Text: opening, Turns: turns}
	}
	next := load.Turn{Text: "next"}
	two := []load.Prompt{conversation("abcd", next), conversation("abef", next)} // a quarter of the openings is shared
	agent := load.Turn{Text: "abgh", Whole: true, After: []int{0}}
	failed := said(2, 2, 0, 0)
	failed.Failure, failed.InputTokens = results.Failf(results.FailStall, ""), nil
	silent := said(1, 1, 40, 10)
	silent.InputTokens = nil
	chunks := said(1, 1, 40, 10)
	chunks.OutputTokensSource = results.CountChunks

	for _, tt := range []struct {
		name    string
		prompts []load.Prompt
		records []results.Record
		warm    bool
		want    float64 // tokens found of total; negative: not known
		total   float64
		n       int
	}{
		{
			"history is found", two,
			[]results.Record{said(1, 1, 40, 10), said(2, 1, 40, 20), said(1, 2, 100, 10), said(2, 2, 100, 10)},
			false, 10 + 10 + 50 + 60, 280, 4,
		},
		{
			"a prompt holds less than the history", two,
			[]results.Record{said(1, 1, 40, 100), said(1, 2, 60, 1)},
			false, 10 + 60, 100, 2,
		},
		{
			"failed turns do not count", two,
			[]results.Record{said(1, 1, 40, 10), said(2, 1, 40, 10), failed},
			false, 20, 80, 2,
		},
		{"sent before", two, []results.Record{said(1, 1, 40, 10), said(1, 2, 100, 1)}, true, 140, 140, 2},
		{
			"a conversation that is sent again", two[:1],
			[]results.Record{said(1, 1, 40, 10), said(1, 2, 100, 1), said(2, 1, 40, 10), said(2, 2, 100, 1)},
			false, 0 + 50 + 40 + 100, 280, 4,
		},
		{
			"the same opening twice",
			[]load.Prompt{two[0], two[0]},
			[]results.Record{said(1, 1, 40, 10), said(1, 2, 100, 1), said(2, 1, 40, 10), said(2, 2, 100, 1)},
			false, 20 + 50 + 20 + 100, 280, 4,
		},
		{
			"sub-agents begin anew", // half of two openings is shared by one of them
			[]load.Prompt{conversation("abcd", agent, load.Turn{Text: "on", After: []int{1}})},
			[]results.Record{said(1, 1, 40, 10), said(1, 2, 40, 10), said(1, 3, 80, 1)},
			false, 10 + 10 + 50, 160, 3,
		},
		{"no count of a prompt", two, []results.Record{silent}, false, -1, 1, 0},
		{"no count of an answer", two, []results.Record{chunks, said(1, 2, 100, 1)}, false, -1, 1, 0},
		{"a turn without the one before", two, []results.Record{said(1, 2, 100, 1)}, false, -1, 1, 0},
		{"a turn of no prompt", two, []results.Record{said(1, 3, 100, 1)}, false, -1, 1, 0},
		{"a request outside conversations", two, []results.Record{said(0, 0, 100, 1)}, false, -1, 1, 0},
		{"none was answered", two, []results.Record{failed}, false, -1, 1, 0},
	} {
		share, n := Of(tt.prompts, tt.records, tt.warm)
		switch {
		case tt.want < 0:
			if share != nil || n != nil {
				t.Errorf("%s: Of = %v of %v, want none", tt.name, share, n)
			}
		case share == nil || math.Abs(*share-tt.want/tt.total) > 1e-9 || *n != tt.n:
			t.Errorf("%s: Of = %v of %v, want %g of %d", tt.name, share, n, tt.want/tt.total, tt.n)
		}
	}
}
