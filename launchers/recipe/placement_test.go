package recipe

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/results"
)

func TestPlace(t *testing.T) {
	tests := []struct {
		name                string
		perReplica, servers int
		allowed             []int
		machine             int
		want                [][]int
		class               results.FailureClass
		message             string
	}{
		{"all", 8, 1, nil, 8, [][]int{{0, 1, 2, 3, 4, 5, 6, 7}}, "", ""},
		{"tp2x4", 2, 4, nil, 8, [][]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}}, "", ""},
		{"some are left", 2, 1, nil, 8, [][]int{{0, 1}}, "", ""},
		{"order of the list", 1, 2, []int{5, 2, 7}, 8, [][]int{{5}, {2}}, "", ""},
		{"visibility left alone", 0, 3, nil, 0, [][]int{nil, nil, nil}, "", ""},
		{
			"too few", 4, 2, nil, 4, nil, results.FailNoGPU,
			"needs 8 GPUs (4 for each of 2 replicas), this machine has 4 (0 to 3)",
		},
		{"none", 1, 1, nil, 0, nil, results.FailNoGPU, "needs 1 GPU, none detected"},
		{
			"short list", 4, 1,
			[]int{0, 1},
			8, nil, results.FailNoGPU,
			"needs 4 GPUs, gpus: allows 2 [0 1] and this machine has 8 (0 to 7)",
		},
		{"empty list", 1, 1, []int{}, 8, nil, results.FailNoGPU, "allows 0"},
		{"not there", 1, 1, []int{8}, 8, nil, results.FailNoGPU, "there is no GPU 8: this machine has 8 (0 to 7)"},
		{"negative", 1, 1, []int{-1}, 8, nil, results.FailNoGPU, "there is no GPU -1"},
		{"twice", 1, 2, []int{3, 3}, 8, nil, results.FailBadRecipe, "3 is listed twice"},
		{"no servers", 1, 0, nil, 8, nil, results.FailBadRecipe, "invalid placement"},
		{"negative need", -1, 1, nil, 8, nil, results.FailBadRecipe, "invalid placement"},
	}
	for _, test := range tests {
		got, err := Place(test.perReplica, test.servers, test.allowed, test.machine)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: Place differs (-want +got):\n%s", test.name, diff)
		}
		var failure *results.Failure
		switch {
		case test.class == "" && err != nil:
			t.Errorf("%s: Place: %v", test.name, err)
		case test.class != "" && (!errors.As(err, &failure) || failure.Class != test.class ||
			!strings.Contains(failure.Message, test.message)):
			t.Errorf("%s: Place error = %v, want class %s with %q", test.name, err, test.class, test.message)
		}
	}
}

// Sets are of the asked size, disjoint, and do not share memory.
func TestPlaceSetsAreDisjoint(t *testing.T) {
	for per := 1; per <= 4; per++ {
		for servers := 1; servers*per <= 16; servers++ {
			sets, err := Place(per, servers, nil, 16)
			if err != nil {
				t.Fatalf("Place(%d, %d): %v", per, servers, err)
			}
			for i, set := range sets {
				if len(set) != per {
					t.Errorf("Place(%d, %d): set %d is %v", per, servers, i, set)
				}
				sets[i] = append(set, -1) // must not reach into the next set
			}
			all := slices.Concat(sets...)
			all = slices.DeleteFunc(all, func(gpu int) bool { return gpu < 0 })
			slices.Sort(all)
			if len(slices.Compact(all)) != per*servers {
				t.Errorf("Place(%d, %d) = %v has a GPU twice", per, servers, sets)
			}
		}
	}
}
