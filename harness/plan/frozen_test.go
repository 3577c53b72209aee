package plan

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/results"
)

// frozenIn writes a set of prompts as a run keeps it.
func frozenIn(t *testing.T, dir, tokenizer string, spec dataset.Spec, text string) {
	t.Helper()
	set := &dataset.Set{Prompts: []dataset.Prompt{{Text: text}}}
	var file bytes.Buffer
	if err := dataset.Write(&file, set, dataset.Meta{Spec: spec, Tokenizer: tokenizer}); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, text+".jsonl"), file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFrozenFind(t *testing.T) {
	dir := t.TempDir()
	prompts := filepath.Join(dir, "prompts")
	one := dataset.Spec{Kind: "sharegpt", Path: "/there/x.json", Seed: 1, N: 1}
	two := dataset.Spec{Kind: "random", Seed: 2, N: 1}
	frozenIn(t, prompts, "/there/model.gguf", one, "one")
	frozenIn(t, prompts, "model-a", two, "two-a")
	frozenIn(t, prompts, "model-b", two, "two-b")
	frozenIn(t, filepath.Join(prompts, "warm-ups"), "model-a", dataset.Spec{Kind: "random", Seed: 9, N: 1}, "warm")
	f, err := OpenFrozen(dir)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := one
	elsewhere.Path = "/here/y.json"
	other := one
	other.N = 2
	tests := []struct {
		name      string
		spec      dataset.Spec
		tokenizer string
		want      string // file; "": none
	}{
		{"wherever the file lay", elsewhere, "/here/model.gguf", "one"},
		{"another number", other, "", ""},
		{"of several the one with the tokenizer", two, "model-b", "two-b"},
		{"of several none with the tokenizer", two, "model-c", ""},
		{"a warm-up", dataset.Spec{Kind: "random", Seed: 9, N: 1}, "model-a", "warm"},
	}
	for _, test := range tests {
		got, ok := f.Find(test.spec, test.tokenizer)
		if ok != (test.want != "") || ok && filepath.Base(got.Path) != test.want+".jsonl" {
			t.Errorf("%s: find = %+v, %t, want %q", test.name, got, ok, test.want)
		}
		if !ok {
			continue
		}
		if set, err := dataset.Build(t.Context(), got, nil); err != nil || set.Prompts[0].Text != test.want {
			t.Errorf("%s: Build = %v, %v", test.name, set, err)
		}
	}
	var none *Frozen
	if _, ok := none.Find(one, ""); ok {
		t.Error("no folder: found a set")
	}
	if err := os.WriteFile(filepath.Join(prompts, "bad.jsonl"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFrozen(dir); err == nil {
		t.Error("OpenFrozen took a file that is not a set of prompts")
	}
}

func TestPlanOnly(t *testing.T) {
	step := func(id string) Step { return Step{StepRef: results.StepRef{ID: id}, EstimateS: 10} }
	plan := &Plan{EstimateS: 46, LeastSteps: 4, LeastS: 46, Lives: []Life{
		{ID: "1", EstimateS: 2, Steps: []Step{step("a"), step("b")}},
		{ID: "2", EstimateS: 2, Steps: []Step{step("c")}},
		{ID: "3", EstimateS: 2, Steps: []Step{step("d")}},
	}}
	part, err := plan.Only([]string{"d", "a"})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, ref := range part.Refs() {
		ids = append(ids, ref.ID)
	}
	if want := []string{"a", "d"}; !slices.Equal(ids, want) || part.EstimateS != 24 || part.LeastSteps != 2 {
		t.Errorf("steps %q, estimate %g, least %d, want %q, 24, 2", ids, part.EstimateS, part.LeastSteps, want)
	}
	if len(plan.Refs()) != 4 {
		t.Error("the plan itself was changed")
	}
	if _, err := plan.Only([]string{"x"}); err == nil {
		t.Error("Only took a step that the plan lacks")
	}
}
