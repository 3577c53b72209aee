package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFoldVariants(t *testing.T) {
	t.Parallel()
	got := foldVariants([]string{
		`f.yaml:3:4: dataset "a" is not there`,
		`variant "a": needs 8 GPUs, none detected`,
		`variant "b": needs 2 GPUs, none detected`,
		`variant "c": needs 8 GPUs, none detected`,
		`variant "d": interface: no "hsn0"`,
		`variant "e": interface: no "hsn0"`,
	})
	want := []string{
		`f.yaml:3:4: dataset "a" is not there`,
		"variants a, c: each needs 8 GPUs, none detected",
		`variant "b": needs 2 GPUs, none detected`,
		`variants d, e: interface: no "hsn0"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("foldVariants (-want +got):\n%s", diff)
	}
}
