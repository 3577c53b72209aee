package dialect

import (
	"math"
	"strings"
	"testing"
)

func TestTurnsThatCannotBeAsked(t *testing.T) {
	ids := []int{1, 2}
	tests := []struct {
		name   string
		prompt Prompt
		want   string
	}{
		{"no text", Prompt{Text: "a", Turns: []Turn{{}}}, "turn 1 of the conversation has no text"},
		{"both", Prompt{Text: "a", Turns: []Turn{{Text: "b", TokenIDs: ids, Whole: true}}}, "both text and token ids"},
		{"negative wait", Prompt{Text: "a", Turns: []Turn{{Text: "b", WaitS: new(-1.0)}}}, "waits -1 s"},
		{"endless wait", Prompt{Text: "a", Turns: []Turn{{Text: "b", WaitS: new(math.Inf(1))}}}, "waits +Inf s"},
		{"no number", Prompt{Text: "a", Turns: []Turn{{Text: "b", WaitS: new(math.NaN())}}}, "waits NaN s"},
		{"itself", Prompt{Text: "a", Turns: []Turn{{Text: "b", After: []int{1}}}}, "waits for number 1"},
		{"a negative number", Prompt{Text: "a", Turns: []Turn{{Text: "b", After: []int{-1}}}}, "waits for number -1"},
		{"nothing", Prompt{Text: "a", Turns: []Turn{{Text: "b", After: []int{}}}}, "continues no other turn"},
		{"ids continued", Prompt{TokenIDs: ids, Turns: []Turn{{Text: "b"}}}, "takes text, not token ids"},
		{
			"ids of a turn continued",
			Prompt{Text: "a", Turns: []Turn{{TokenIDs: ids, Whole: true}, {Text: "b"}}},
			"takes text, not token ids",
		},
		{"ids that stand alone", Prompt{TokenIDs: ids, Turns: []Turn{{TokenIDs: ids, Whole: true}}}, ""},
	}
	api, err := APINamed("completions")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := api.check(tt.prompt)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
