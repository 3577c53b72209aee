package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// promptCache keeps prompt sets of a run: variants of one model get the very
// same prompts without making them again.
type promptCache map[string]*dataset.Set

// prompts makes the measured prompts and the warm-ups of a step. Warm-up
// prompts are never measured ones: those would be warm in a prefix cache.
func (r *Runner) prompts(ctx context.Context, l scenarios.Load, seed uint64, server Server) (measured, warm *dataset.Set, err error) {
	if r.sets == nil {
		r.sets = promptCache{}
	}
	counter, err := r.counter(l.Dataset.Tokenizer, server)
	if err != nil {
		return nil, nil, err
	}
	if measured, err = r.promptSet(ctx, plan.PromptSpec(l, seed, l.NumPrompts), counter); err != nil {
		return nil, nil, err
	}
	if err = r.freeze(plan.PromptsName, measured, plan.PromptSpec(l, seed, l.NumPrompts), counter); err != nil || l.Warmups == 0 {
		return measured, &dataset.Set{}, err
	}
	spec := plan.PromptSpec(l, seed+plan.WarmupSeed, plan.WarmupCount(l))
	if warm, err = r.promptSet(ctx, spec, counter); err != nil {
		return nil, nil, err
	}
	if err = r.freeze(plan.WarmupsName, warm, spec, counter); err != nil {
		return nil, nil, err
	}
	warm = without(warm, measured)
	warm.Prompts = warm.Prompts[:min(len(warm.Prompts), l.Warmups)]
	return measured, warm, nil
}

// freeze stores a set in a folder of the run, once: kind frozen reads it back.
func (r *Runner) freeze(folder string, set *dataset.Set, spec dataset.Spec, c TokenCounter) error {
	if r.frozen == nil {
		r.frozen = map[string]bool{}
	}
	if r.frozen[set.SHA256] {
		return nil
	}
	var file bytes.Buffer
	meta := dataset.Meta{Spec: spec, Tokenizer: c.Name, TokenizerSHA256: c.SHA256}
	if err := dataset.Write(&file, set, meta); err != nil {
		return results.Failf(results.FailDataset, "%v", err)
	}
	if err := r.Folder.WriteFile(folder+"/"+set.SHA256+".jsonl", file.Bytes()); err != nil {
		return results.Failf(results.FailDisk, "%v", err)
	}
	r.frozen[set.SHA256] = true
	return nil
}

// CheckDatasets reads every dataset file and tokenizer of a scenario once, so
// that a broken one is known before the first server is launched.
func CheckDatasets(ctx context.Context, sc *scenarios.Scenario) error {
	seen := map[string]bool{}
	var errs []error
	known := tokenizers{}
	for _, point := range sc.Points {
		d := point.Dataset
		tok, err := known.load(d.Tokenizer)
		if err != nil && !seen[d.Tokenizer] {
			errs = append(errs, err)
		}
		seen[d.Tokenizer] = true
		if d.Path == "" || seen[d.Path] || err != nil {
			continue
		}
		seen[d.Path] = true
		if _, err := dataset.Build(ctx, plan.PromptSpec(point, d.Seed, 1), tok.Tokenizer); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (r *Runner) promptSet(ctx context.Context, spec dataset.Spec, c TokenCounter) (*dataset.Set, error) {
	key, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("make prompts: %w", err)
	}
	name := string(key) + " " + c.Name + " " + c.SHA256
	if set, ok := r.sets[name]; ok {
		return set, nil
	}
	from, _ := r.Plan.FrozenPrompts.Find(spec, c.Name)
	set, err := dataset.Build(ctx, from, c.Tokenizer)
	if err != nil {
		return nil, results.Failf(results.FailDataset, "%v", err)
	}
	r.sets[name] = set
	return set, nil
}

// without leaves out the prompts that stand in other too.
func without(set, other *dataset.Set) *dataset.Set {
	seen := map[string]bool{}
	for _, p := range other.Prompts {
		seen[promptKey(p)] = true
	}
	out := &dataset.Set{SHA256: set.SHA256}
	for _, p := range set.Prompts {
		if !seen[promptKey(p)] {
			out.Prompts = append(out.Prompts, p)
		}
	}
	return out
}

func promptKey(p dataset.Prompt) string { return fmt.Sprint(p.Text, p.TokenIDs) }

// LoadPrompts are the prompts of a set as the client takes them.
func LoadPrompts(set *dataset.Set) []load.Prompt {
	out := make([]load.Prompt, len(set.Prompts))
	for i, p := range set.Prompts {
		out[i] = load.Prompt{Text: p.Text, TokenIDs: p.TokenIDs, InputTokens: p.InputTokens, OutputTokens: p.OutputTokens, Images: p.Images}
		for _, turn := range p.Turns {
			out[i].Turns = append(out[i].Turns, load.Turn(turn))
		}
	}
	return out
}
