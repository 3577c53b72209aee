package harness

import (
	"slices"
	"testing"

	"github.com/benchrig/bench/results"
)

// A tag that has moved while a run was interrupted is seen by the image's id; a
// run of an older bench has none to compare with.
func TestEngineChanges(t *testing.T) {
	t.Parallel()
	old, moved := results.Engine{Variant: "a", Image: "sha256:1"}, results.Engine{Variant: "a", Image: "sha256:2"}
	for _, c := range []struct {
		first, now results.Engine
		want       []string
	}{
		{old, old, nil},
		{old, moved, []string{`image of variant a: "sha256:2", at the start "sha256:1"`}},
		{results.Engine{Variant: "a"}, moved, nil},
		{
			results.Engine{Variant: "a", Version: "1"},
			results.Engine{Variant: "a", Version: "2"},
			[]string{`engine version of variant a: "2", at the start "1"`},
		},
	} {
		if got := engineChanges(c.first, c.now); !slices.Equal(got, c.want) {
			t.Errorf("engineChanges(%+v, %+v) = %q, want %q", c.first, c.now, got, c.want)
		}
	}
}
