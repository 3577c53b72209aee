package identity

import (
	"slices"
	"testing"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

// A plan that an older version wrote lacks what was added since; whatever it
// has must be as it was.
func TestDiffering(t *testing.T) {
	then := results.Asked{NumPrompts: 8, Dataset: "random"}
	newer := then
	newer.Settings = &spec.Settings{MaxConcurrency: 4}
	other := newer
	other.NumPrompts = 9

	for _, c := range []struct {
		name        string
		before, now results.Asked
		want        []string
	}{
		{"the same", newer, newer, nil},
		{"by an older version", then, newer, nil},
		{"another number of prompts", then, other, []string{"num_prompts (9, at the start 8)"}},
		{"a setting is gone", newer, then, []string{"settings"}},
	} {
		got := differing(c.before, c.now)
		match := slices.EqualFunc(got, c.want, func(got, want string) bool {
			return got == want || want == "settings" && got[:len(want)] == want
		})
		if !match {
			t.Errorf("%s: differing() = %q, want %q", c.name, got, c.want)
		}
	}
}
