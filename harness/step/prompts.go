package step

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/scenarios"
)

// CheckDatasets reads every dataset file and tokenizer of a scenario once, so
// that a broken one is known before the first server is launched. short are the
// points that send fewer prompts than they ask for, because their file has no
// more.
func CheckDatasets(ctx context.Context, sc *scenarios.Scenario) (short []string, err error) {
	seen := map[string]bool{}
	var errs []error
	known := Tokenizers{}
	var parts []scenarios.Load
	for _, point := range sc.Points {
		for _, part := range plan.Parts(point, 0) {
			part.Load.Label, part.Load.Dataset.Tokenizer = point.Label, point.Dataset.Tokenizer
			parts = append(parts, part.Load)
		}
	}
	for _, point := range parts {
		d := point.Dataset
		tok, err := known.Load(d.Tokenizer)
		if err != nil && !seen[d.Tokenizer] {
			errs = append(errs, err)
		}
		seen[d.Tokenizer] = true

		spec := plan.PromptSpec(point, d.Seed, 1)
		if spec.MayRunShort() {
			spec.N = max(point.NumPrompts, 1)
		}
		key := fmt.Sprintf("%q %d", d.Path, spec.N)
		if d.Path == "" || seen[key] || err != nil {
			continue
		}
		seen[key] = true
		if spec.InputLen == 0 && point.ContextReserve > 0 { // only the running server can say it
			spec.InputLen = someInputLen
		}

		set, err := dataset.Build(ctx, spec, tok.Tokenizer)
		switch {
		case err != nil && !seen[err.Error()]:
			seen[err.Error()] = true
			errs = append(errs, err)
		case err == nil && len(set.Prompts) < spec.N:
			short = append(short, fmt.Sprintf("load point %s asks for %s, and %s has %d: no more are sent; lower "+
				"num-prompts", point.Label, text.Count(spec.N, "prompt"), filepath.Base(d.Path), len(set.Prompts)))
		}
	}

	return short, errors.Join(errs...)
}

// someInputLen stands for a length that depends on the server: it shows whether
// a file can be read.
const someInputLen = 256

// without leaves out the prompts that are in other too.
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

func promptKey(p dataset.Prompt) string {
	return fmt.Sprint(p.Text, p.TokenIDs, p.Texts, string(p.Tools), string(p.Audio))
}

// LoadPrompts are the prompts of a set as the client takes them.
func LoadPrompts(set *dataset.Set) []load.Prompt {
	out := make([]load.Prompt, len(set.Prompts))
	for i, p := range set.Prompts {
		out[i] = load.Prompt{
			Text: p.Text, TokenIDs: p.TokenIDs, InputTokens: p.InputTokens,
			OutputTokens: p.OutputTokens, Audio: p.Audio, AudioS: p.AudioS, Images: p.Images,
			Texts: p.Texts, Tools: p.Tools,
			Class: p.Class, Model: p.Adapter,
		}
		for _, turn := range p.Turns {
			out[i].Turns = append(out[i].Turns, load.Turn(turn))
		}
	}
	return out
}
