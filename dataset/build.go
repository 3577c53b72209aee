package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/benchrig/bench/dataset/table"
)

// kind is one way to make prompts. A new one is a new file with a build
// function and a line in kinds.
type kind struct {
	name  string
	about string // one line
	file  bool   // it reads a file or folder at Path
	build func(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error)
}

func kinds() []kind {
	return []kind{
		{"random", "token ids or text of a set length, no two alike", false, buildRandom},
		{"random_mm", "random text with random images", false, buildRandomMM},
		{"sharegpt", "first turns of recorded conversations, one JSON array", true, buildShareGPT},
		{"jsonl", "prompts as they stand in a file of JSON lines", true, buildJSONL},
		{"custom", "vLLM's custom dataset: JSON lines with prompt and output_tokens", true, buildCustom},
		{
			"tok_inputs", "prompts as token ids: JSON lines, a parquet column or a pandas pickle", true,
			buildTokInputs,
		},
		{"sonnet", "lines of a poem, the first ones shared", true, buildSonnet},
		{
			"prefix_repetition", "random prefixes, each with many random suffixes, as vLLM makes them", false,
			buildPrefixRepetition,
		},
		{"burstgpt", "lengths and times of a BurstGPT trace (CSV)", true, buildBurstGPT},
		{"trace", "lengths, times and shared blocks of a timed trace (JSON lines)", true, buildTrace},
		{
			"hf", "a chat dataset of Hugging Face as local parquet, JSON lines or JSON", true,
			buildHF,
		},
		{"text", "any text, cut to an exact number of tokens at different places", true, buildText},
		{"shared_prefix", "groups of prompts with a prefix of their own", false, buildSharedPrefix},
		{"conversation", "made-up conversations of several turns", false, buildConversation},
		{"frozen", "a prompt set that was written before, prompt by prompt", true, buildFrozen},
	}
}

// Kinds lists the names that Spec.Kind may have.
func Kinds() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

func lookup(name string) (kind, bool) {
	for _, k := range kinds() {
		if k.name == name {
			return k, true
		}
	}
	return kind{}, false
}

// About describes a kind in one line; "" if there is none of that name.
func About(name string) string {
	k, _ := lookup(name)
	return k.about
}

// Build makes the prompts of spec. tok may be nil: lengths are then estimated
// or left unknown, and a note says so. An error says what to change; it wraps
// ctx's error when ctx ends first, and tok's error when counting fails.
func Build(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	if err := spec.check(); err != nil {
		return nil, fmt.Errorf("build dataset: %w", err)
	}

	k, ok := lookup(spec.Kind)
	if !ok {
		return nil, fmt.Errorf("build dataset: unknown kind %q: want one of %s", spec.Kind, strings.Join(Kinds(), ", "))
	}
	if k.file && spec.Path == "" {
		return nil, fmt.Errorf("build dataset %s: %w", k.name, errNoPath)
	}

	set, err := k.build(ctx, spec, tok)
	if err != nil {
		if other := otherForm(ctx, spec, err); other != "" {
			return nil, fmt.Errorf("build dataset %s: %w; %s", k.name, err, other)
		}
		return nil, fmt.Errorf("build dataset %s: %w", k.name, err)
	}

	set.SHA256 = digest(set.Prompts)
	return set, nil
}

// otherForm says what a file is that its kind of dataset could not read, and
// which kind reads it; "" where there is nothing to say.
func otherForm(ctx context.Context, spec Spec, err error) string {
	if spec.Path == "" || ctx.Err() != nil || errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	form := table.Sniff(spec.Path)
	switch {
	case form.What == "" || slices.Contains(form.Kinds, spec.Kind):
		return ""
	case len(form.Kinds) > 0:
		return fmt.Sprintf("the file looks like %s, which kind %s reads", form.What, form.Kinds[0])
	}

	return fmt.Sprintf("the file is %s: %s", form.What, form.Do)
}

var errNoPath = errors.New("no path: name the file that holds the prompts")
