package harness

import (
	"context"
	"errors"
	"fmt"

	"benchrig/dataset"
	"benchrig/launchers"
	"benchrig/load"
	"benchrig/results"
	"benchrig/scenarios"
)

// promptCache keeps prompt sets of a run: variants of one model get the very
// same prompts without making them again.
type promptCache map[string]*dataset.Set

// warmupSeed moves warm-up prompts away from the seeds of the measured ones.
const warmupSeed = 1_000_003

// prompts makes the measured prompts and the warm-ups of a step. Warm-up
// prompts are never measured ones: those would be warm in a prefix cache.
func (r *Runner) prompts(ctx context.Context, l scenarios.Load, seed uint64, server Server) (measured, warm *dataset.Set, err error) {
	if r.sets == nil {
		r.sets = promptCache{}
	}
	if measured, err = r.sets.get(ctx, promptSpec(l, seed, l.NumPrompts), server); err != nil || l.Warmups == 0 {
		return measured, &dataset.Set{}, err
	}
	warm, err = r.sets.get(ctx, promptSpec(l, seed+warmupSeed, l.Warmups), server)
	if err != nil {
		return nil, nil, err
	}
	return measured, without(warm, measured), nil
}

// CheckDatasets reads every dataset file of a scenario once, so that a broken
// one is known before the first server is launched.
func CheckDatasets(ctx context.Context, sc *scenarios.Scenario) error {
	seen := map[string]bool{}
	var errs []error
	for _, point := range sc.Points {
		if point.Dataset.Path == "" || seen[point.Dataset.Path] {
			continue
		}
		seen[point.Dataset.Path] = true
		if _, err := dataset.Build(ctx, promptSpec(point, point.Dataset.Seed, 1), nil); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func promptSpec(l scenarios.Load, seed uint64, n int) dataset.Spec {
	return dataset.Spec{
		Kind: l.Dataset.Kind, Path: l.Dataset.Path, Seed: seed, N: n, InputLen: l.InputLen, OutputLen: l.OutputLen,
		TokenIDs: l.Dataset.TokenIDs, VocabSize: l.Dataset.VocabSize, RangeRatio: l.Dataset.RangeRatio,
		PrefixLen: l.Dataset.PrefixLen, Shuffle: l.Dataset.Shuffle,
	}
}

func (c promptCache) get(ctx context.Context, spec dataset.Spec, server Server) (*dataset.Set, error) {
	info := server.Info()
	kind, _ := launchers.Lookup(info.Launcher)
	var tok dataset.Tokenizer
	if kind.TokenizePath != "" {
		tok = serverTokenizer{server}
	}
	key := fmt.Sprintf("%+v %s %t", spec, info.Model, tok != nil)
	if set, ok := c[key]; ok {
		return set, nil
	}
	set, err := dataset.Build(ctx, spec, tok)
	if err != nil {
		return nil, results.Failf(results.FailDataset, "%v", err)
	}
	c[key] = set
	return set, nil
}

// serverTokenizer counts tokens with the server's own tokenizer.
type serverTokenizer struct{ server Server }

func (t serverTokenizer) Encode(ctx context.Context, text string, special bool) ([]int, error) {
	return t.server.Tokenize(ctx, text, special)
}

func (t serverTokenizer) Decode(ctx context.Context, ids []int) (string, error) {
	return t.server.Detokenize(ctx, ids)
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

func toLoad(set *dataset.Set) []load.Prompt {
	out := make([]load.Prompt, len(set.Prompts))
	for i, p := range set.Prompts {
		out[i] = load.Prompt{Text: p.Text, TokenIDs: p.TokenIDs, InputTokens: p.InputTokens, OutputTokens: p.OutputTokens}
	}
	return out
}
