package dataset

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const recordedSessions = `
{"session_id": "a", "timestamp": 0, "duration": 900, "input_length": 40, "output_length": 3, "hash_ids": [1, 2, 3]}
{"session_id": "b", "timestamp": 500, "duration": 100, "input_length": 33, "output_length": 3, "hash_ids": [1, 2, 9]}
{"session_id": "a", "timestamp": 90900, "duration": 900, "input_length": 60, "output_length": 4,
 "hash_ids": [1, 2, 5, 6]}
`

func TestRecordedSessions(t *testing.T) {
	spec := Spec{Kind: "sessions", Path: writeFile(t, recordedSessions), N: 5, MaxWaitS: 20}
	set, err := Build(t.Context(), spec, &words{})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Prompts) != 2 || *set.Prompts[1].At != 0.5 || len(set.Prompts[0].Turns) != 1 {
		t.Fatalf("prompts %+v, want sessions of 2 and 1 requests, the second after 0.5 s", set.Prompts)
	}

	first, second := set.Prompts[0], set.Prompts[0].Turns[0]
	if !second.Whole || second.InputTokens != 60 || second.OutputTokens != 4 || *second.WaitS != 20 ||
		!slices.Equal(second.After, []int{0}) {
		t.Errorf("second request %+v, want 60 tokens as a whole, 20 s after the first", second)
	}
	shared := strings.Fields(first.Text)[:32]
	if !slices.Equal(shared, strings.Fields(second.Text)[:32]) ||
		!slices.Equal(shared, strings.Fields(set.Prompts[1].Text)[:32]) {
		t.Error("two blocks of 16 tokens in common are not the same text")
	}
	if !noteWith(set, "the file has 2 sessions, 5 were asked") || !noteWith(set, "1 waits were longer than 20 s") {
		t.Errorf("notes %q", set.Notes)
	}

	var file bytes.Buffer
	if err := Write(&file, set, Meta{}); err != nil {
		t.Fatal(err)
	}
	again := build(t, Spec{Kind: "frozen", Path: writeFile(t, file.String()), N: 2}, nil)
	if diff := cmp.Diff(set.Prompts, again.Prompts); diff != "" {
		t.Errorf("frozen and read back:\n%s", diff)
	}
}

// A session of rows that only add to the context continues the server's answers.
func TestSessionsThatAdd(t *testing.T) {
	text := `{"session_id": "a", "timestamp": 0, "input_length": 12, "output_length": 3}
{"session_id": "a", "delay": 250, "input_length": 5, "output_length": 4}`
	set := build(t, Spec{Kind: "sessions", Path: writeFile(t, text), N: 1}, &words{})
	turn := set.Prompts[0].Turns[0]
	if turn.Whole || len(strings.Fields(turn.Text)) != 5 || turn.InputTokens != 0 || *turn.WaitS != 0.25 {
		t.Errorf("second request %+v, want 5 tokens that continue, after 0.25 s", turn)
	}
}

func TestSubAgents(t *testing.T) {
	spec := Spec{
		Kind: "conversation", N: 1, Turns: 3, PrefixLen: 4, InputLen: 6, SuffixLen: 2, OutputLen: 3, SubAgents: 2,
	}
	p := build(t, spec, &words{}).Prompts[0]
	var after [][]int
	for _, turn := range p.Turns {
		after = append(after, turn.After)
	}
	// The second turn of the conversation, then each agent's three, then the last turn.
	want := [][]int{nil, {0}, {2}, {3}, {0}, {5}, {6}, {1, 4, 7}}
	if diff := cmp.Diff(want, after); diff != "" {
		t.Errorf("what each waits for:\n%s", diff)
	}
	prefix := strings.Fields(p.Text)[:4]
	agent := p.Turns[1]
	if !agent.Whole || !slices.Equal(prefix, strings.Fields(agent.Text)[:4]) || p.Turns[2].Whole {
		t.Errorf("agent %+v, want a prompt of its own with the prefix of all", agent)
	}
	spec.Turns = 1
	if _, err := Build(t.Context(), spec, nil); err == nil || !strings.Contains(err.Error(), "one turn") {
		t.Errorf("sub-agents of one turn: error %v", err)
	}
}
