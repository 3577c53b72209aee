package mixture

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/load/spec"
)

func kinds() []spec.Kind {
	return []spec.Kind{
		{Class: 1, Adapter: "a", Share: 0.45}, {Class: 1, Adapter: "b", Share: 0.15}, {Class: 2, Share: 0.4},
	}
}

func set(class string, n int) *dataset.Set {
	s := &dataset.Set{SHA256: class, Notes: []string{"note"}}
	for i := range n {
		s.Prompts = append(s.Prompts, dataset.Prompt{Text: fmt.Sprint(class, i), At: new(float64(i))})
	}
	return s
}

// TestWhole: each class has exactly its share, its prompts in their order, and the
// same seed gives the same sequence.
func TestWhole(t *testing.T) {
	whole := func(seed uint64) *dataset.Set {
		t.Helper()
		all, err := Whole(kinds(), 20, seed, []*dataset.Set{set("x", 12), set("y", 8)})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	first, again, other := whole(7), whole(7), whole(8)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the same seed gives another mixture (-first +second):\n%s", diff)
	}
	if first.SHA256 == other.SHA256 || cmp.Equal(first.Prompts, other.Prompts) {
		t.Error("another seed gives the same mixture")
	}

	counts := map[string]int{}
	var ofX []string
	for _, p := range first.Prompts {
		counts[fmt.Sprint(p.Class, p.Adapter)]++
		if p.Class == 1 {
			ofX = append(ofX, p.Text)
		}
		if p.At != nil {
			t.Errorf("prompt %q has a time of a trace", p.Text)
		}
	}
	if diff := cmp.Diff(map[string]int{"1a": 9, "1b": 3, "2": 8}, counts); diff != "" {
		t.Errorf("requests by kind (-want +got):\n%s", diff)
	}
	if len(ofX) != 12 || ofX[0] != "x0" || ofX[11] != "x11" {
		t.Errorf("prompts of class 1: %v, want x0 to x11 in this order", ofX)
	}
	if !slices.Equal(first.Notes, []string{"note"}) {
		t.Errorf("notes %v, want each once", first.Notes)
	}
}

func TestTooFewPrompts(t *testing.T) {
	if _, err := Whole(kinds(), 20, 0, []*dataset.Set{set("x", 11), set("y", 8)}); err == nil {
		t.Error("a class has fewer prompts than requests: want an error")
	}
}

// TestOneSet: adapters alone leave the prompts of the only set as they are.
func TestOneSet(t *testing.T) {
	split := []spec.Kind{{Adapter: "a", Share: 0.5}, {Adapter: "b", Share: 0.5}}
	one := set("x", 4)
	one.NumpyDrawn = 17
	all, err := Whole(split, 4, 0, []*dataset.Set{one})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range all.Prompts {
		if p.Text != one.Prompts[i].Text || p.At == nil || p.Class != 0 || p.Adapter == "" {
			t.Errorf("prompt %d is %+v", i, p)
		}
	}
	if all.NumpyDrawn != 17 {
		t.Errorf("NumpyDrawn %d, want 17", all.NumpyDrawn)
	}
}
