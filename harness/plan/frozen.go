package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/internal/userfile"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// Folders of a run with the prompts that it has sent: measured ones, and those
// of warm-ups.
const (
	PromptsName = "prompts"
	WarmupsName = "prompts/warm-ups"
)

// Frozen are the prompts that an earlier run has sent: a run that reproduces it
// sends them again, whatever the files and generators of this machine would give.
type Frozen struct {
	sets map[string][]frozenSet // by what they were made of
}

type frozenSet struct{ tokenizer, path string }

// OpenFrozen looks at the prompts that a run folder keeps. The sets are read,
// and their hashes checked, when they are needed.
func OpenFrozen(dir string) (*Frozen, error) {
	f := &Frozen{sets: map[string][]frozenSet{}}
	for _, name := range []string{PromptsName, WarmupsName} {
		if err := f.add(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// add finds the sets of one folder, if it is there.
func (f *Frozen) add(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for prompts: %w", err)
	}

	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".jsonl" || !entry.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		meta, err := readMeta(path)
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		key := promptRecipe(meta.Spec)
		f.sets[key] = append(f.sets[key], frozenSet{meta.Tokenizer, path})
	}

	return nil
}

func readMeta(path string) (dataset.Meta, error) {
	file, err := userfile.Open(path)
	if err != nil {
		return dataset.Meta{}, err
	}
	defer func() { _ = file.Close() }()
	return dataset.ReadFrozen(file)
}

// promptRecipe says what prompts are made of, wherever their file is.
func promptRecipe(spec dataset.Spec) string {
	spec.Path = ""
	key, err := json.Marshal(spec)
	if err != nil {
		return "" // no spec is NaN or a channel
	}
	return string(key)
}

// Find gives a spec that reads the prompts that spec would make. The tokenizer
// decides where several sets were made of one recipe; the name of one may be
// the path of a model, which differs between machines.
func (f *Frozen) Find(spec dataset.Spec, tokenizer string) (dataset.Spec, bool) {
	if f == nil {
		return spec, false
	}
	sets := f.sets[promptRecipe(spec)]
	at := slices.IndexFunc(sets, func(s frozenSet) bool { return s.tokenizer == tokenizer })
	if at < 0 && len(sets) != 1 {
		return spec, false
	}
	return dataset.Spec{Kind: "frozen", Path: sets[max(at, 0)].path, Seed: spec.Seed, N: spec.N}, true
}

// has reports whether there is a set for a spec, whatever counted it.
func (f *Frozen) has(spec dataset.Spec) bool { return len(f.sets[promptRecipe(spec)]) > 0 }

// Freeze makes the plan send prompts of an earlier run where they are the ones
// that it asks for.
func (p *Plan) Freeze(f *Frozen) { p.FrozenPrompts = f }

// Unfrozen lists the steps of a plan that f has no prompts for; with warm-ups
// also those whose warm-ups it lacks.
func (p *Plan) Unfrozen(sc *scenarios.Scenario, f *Frozen, warmups bool) []string {
	var lacking []string
	for _, life := range p.Lives {
		for _, step := range life.Steps {
			if !sc.Method.SendsRequests() {
				continue
			}
			l := ShareOf(sc.Variants[life.VariantIndex], sc.Points[step.PointIndex])
			if slices.ContainsFunc(Parts(l, step.Asked.Seed), func(p Part) bool {
				return !f.has(p.Measured()) || warmups && p.Load.Warmups > 0 && !f.has(p.Warm())
			}) {
				lacking = append(lacking, step.ID)
			}
		}
	}

	return lacking
}

// Only is the part of the plan with the named steps, in the same order.
func (p *Plan) Only(steps []string) (*Plan, error) {
	part := p.part(func(_ Life, s Step) bool { return slices.Contains(steps, s.ID) })
	found := part.Refs()
	for _, id := range steps {
		if !slices.ContainsFunc(found, func(ref results.StepRef) bool { return ref.ID == id }) {
			return nil, fmt.Errorf("the plan has no step %q", id)
		}
	}

	part.LeastSteps, part.LeastS = min(part.LeastSteps, len(found)), min(part.LeastS, part.EstimateS)
	return part, nil
}

// part is the plan with some of its steps, and their lives.
func (p *Plan) part(with func(Life, Step) bool) *Plan {
	part := *p
	part.Lives, part.EstimateS = nil, 0
	for _, life := range p.Lives {
		all := life.Steps
		life.Steps = nil
		for _, step := range all {
			if with(life, step) {
				life.Steps = append(life.Steps, step)
				part.EstimateS += step.EstimateS
			}
		}
		if life.Steps != nil {
			part.Lives, part.EstimateS = append(part.Lives, life), part.EstimateS+life.EstimateS
		}
	}
	return &part
}
