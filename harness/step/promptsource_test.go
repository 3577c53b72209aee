package step

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/dataset"
)

// TestPromptsAreForgotten: a run of any number of steps keeps a bounded amount of
// prompts in memory, and the latest ones in any case.
func TestPromptsAreForgotten(t *testing.T) {
	p := newPromptSource(nil, nil)
	large := &dataset.Set{Prompts: []dataset.Prompt{{Text: strings.Repeat("x", mostSetBytes/3)}}}
	huge := &dataset.Set{Prompts: []dataset.Prompt{{Text: strings.Repeat("x", mostSetBytes+1)}}}

	for _, tt := range []struct {
		name string
		set  *dataset.Set
		want string
	}{
		{"a", large, "a"},
		{"b", large, "a b"},
		{"c", large, "b c"}, // each is a little more than its text
		{"d", huge, "d"},
		{"e", large, "e"},
	} {
		p.remember(tt.name, tt.set)
		if got := strings.Join(p.order, " "); got != tt.want || len(p.sets) != len(p.order) {
			t.Errorf("after %s: sets %q and %d in all, want %q", tt.name, got, len(p.sets), tt.want)
		}
	}
	if p.bytes != large.Bytes() {
		t.Errorf("%d bytes are counted, want the %d of the last set", p.bytes, large.Bytes())
	}
}
