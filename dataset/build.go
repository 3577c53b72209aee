package dataset

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// kind is one way to make prompts. A new one is a new file with a build
// function and a line in kinds.
type kind struct {
	name  string
	build func(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error)
}

func kinds() []kind {
	return []kind{
		{"random", buildRandom},
		{"sharegpt", buildShareGPT},
		{"jsonl", buildJSONL},
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

// Build makes the prompts of spec. tok may be nil: lengths are then estimated
// or left unknown, and a note says so. An error says what to change; it wraps
// ctx's error when ctx ends first, and tok's error when counting fails.
func Build(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	if err := spec.check(); err != nil {
		return nil, fmt.Errorf("build dataset: %w", err)
	}
	for _, k := range kinds() {
		if k.name != spec.Kind {
			continue
		}
		set, err := k.build(ctx, spec, tok)
		if err != nil {
			return nil, fmt.Errorf("build dataset %s: %w", k.name, err)
		}
		set.SHA256 = digest(set.Prompts)
		return set, nil
	}
	return nil, fmt.Errorf("build dataset: unknown kind %q: want one of %s", spec.Kind, strings.Join(Kinds(), ", "))
}

// maxTokens bounds a length, far above any model's context.
const maxTokens = 1 << 24

// check refuses what no kind can make.
func (s Spec) check() error {
	if s.N < 1 {
		return fmt.Errorf("%d prompts asked: want at least 1", s.N)
	}
	for _, l := range []struct {
		name  string
		value int
	}{{"input length", s.InputLen}, {"output length", s.OutputLen}, {"prefix length", s.PrefixLen}} {
		if l.value < 0 || l.value > maxTokens {
			return fmt.Errorf("%s %d: want 0 to %d tokens", l.name, l.value, maxTokens)
		}
	}
	if !(s.RangeRatio >= 0 && s.RangeRatio < 1) {
		return fmt.Errorf("range ratio %v: want at least 0 and below 1", s.RangeRatio)
	}
	return nil
}

// checkPath refuses a file kind without a file.
func (s Spec) checkPath() error {
	if s.Path == "" {
		return errors.New("no path: name the file that holds the prompts")
	}
	return nil
}

// uselessNotes says which settings a file kind cannot follow.
func (s Spec) uselessNotes() []string {
	var notes []string
	for _, setting := range []struct {
		name string
		set  bool
	}{
		{"input length", s.InputLen > 0},
		{"prefix length", s.PrefixLen > 0},
		{"range ratio", s.RangeRatio > 0},
		{"token ids", s.TokenIDs},
	} {
		if setting.set {
			notes = append(notes, fmt.Sprintf("the setting %q has no effect: %s prompts are as the file has them", setting.name, s.Kind))
		}
	}
	return notes
}
