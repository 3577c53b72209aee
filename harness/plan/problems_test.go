package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/scenarios/schema"
)

func TestProblemsOfVariants(t *testing.T) {
	t.Parallel()
	var all findings
	for _, lacks := range [][2]string{
		{"a", "needs 8 GPUs, none detected"},
		{"b", "needs 2 GPUs, none detected"},
		{"c", "needs 8 GPUs, none detected"},
		{"c", "needs 8 GPUs, none detected"},
		{"d", `interface: no "hsn0"`},
		{"e", `interface: no "hsn0"`},
	} {
		all.add(schema.Pos{}, lacks[0], lacks[1])
	}

	var got []string
	for _, f := range all {
		got = append(got, problemOf(f.text, f.variants...))
	}
	want := []string{
		"variants a, c: each needs 8 GPUs, none detected",
		`variant "b": needs 2 GPUs, none detected`,
		`variants d, e: interface: no "hsn0"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
