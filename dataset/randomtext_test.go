package dataset

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// merging is a tokenizer whose texts read as fewer tokens than they were made
// of: an id divisible by seven vanishes with what it would begin.
type merging struct{ numbered }

func (m merging) Decode(ctx context.Context, ids []int) (string, error) {
	kept := slices.DeleteFunc(slices.Clone(ids), func(id int) bool { return id%7 == 0 })
	return m.numbered.Decode(ctx, kept)
}

// splitting reads every third word as two tokens.
type splitting struct{ numbered }

func (s splitting) Encode(ctx context.Context, text string, special bool) ([]int, error) {
	ids, err := s.numbered.Encode(ctx, text, special)
	var out []int
	for i, id := range ids {
		if out = append(out, id); i%3 == 2 {
			out = append(out, id)
		}
	}
	return out, err
}

func TestRandomTextReachesItsLength(t *testing.T) {
	for _, c := range []struct {
		name  string
		tok   Tokenizer
		exact bool
	}{
		{"as written", numbered{}, true},
		{"reads shorter", merging{}, true},
		{"reads longer", splitting{}, false}, // what is cut grows again: vLLM's loop gives up as well
	} {
		set := build(t, Spec{Kind: "random", N: 20, InputLen: 30, OutputLen: 3, PrefixLen: 10, RangeRatio: 0.4}, c.tok)
		off := false
		for i, p := range set.Prompts {
			ids, err := c.tok.Encode(t.Context(), p.Text, false)
			if err != nil || len(ids) != p.InputTokens {
				t.Errorf("%s: prompt %d has %d tokens, %v, want %d", c.name, i, len(ids), err, p.InputTokens)
			}
			off = off || p.InputTokens > 10+42
		}
		if missed := noteWith(set, "not exactly as long as requested"); missed == c.exact || c.exact && off {
			t.Errorf("%s: notes %q", c.name, set.Notes)
		}
	}
}

// Tokens that the model adds are part of the length that a server sees.
func TestRandomTextLeavesRoomForSpecialTokens(t *testing.T) {
	for compat, want := range map[string]int{CompatNewest: 12, CompatVLLM: 10, CompatVLLM010: 10, CompatVLLM06: 12} {
		spec := Spec{Kind: "random", N: 4, InputLen: 12, OutputLen: 3, Compat: compat}
		set := build(t, spec, numbered{added: 2})
		words := 10
		if compat == CompatVLLM06 {
			words = 12
		}
		for i, p := range set.Prompts {
			if n := len(strings.Fields(p.Text)); n != words || p.InputTokens != want {
				t.Errorf("%q: prompt %d has %d words, counts %d, want %d, %d", compat, i, n, p.InputTokens, words, want)
			}
		}
	}
}

func TestSpecialIDsAreLeftOut(t *testing.T) {
	special := []int{9, 0, 1}
	for compat, want := range map[string]int{CompatNewest: 2, CompatVLLM: 2, CompatVLLM010: 0, CompatVLLM06: 0} {
		set := build(t, Spec{Kind: "random", N: 40, InputLen: 20, OutputLen: 3, TokenIDs: true, Compat: compat},
			vocabulary{size: 10, special: special})
		low, used := 10, false
		for _, p := range set.Prompts {
			low = min(low, slices.Min(p.TokenIDs))
			used = used || slices.Contains(p.TokenIDs, 9)
		}
		if legacy := want == 0; low != want || used != legacy {
			t.Errorf("%q: lowest id %d, special id 9 used: %t, want %d, %t", compat, low, used, want, legacy)
		}
	}
	if _, err := Build(t.Context(), Spec{Kind: "random", N: 1, InputLen: 1, OutputLen: 1, TokenIDs: true},
		vocabulary{size: 1, special: []int{0}}); err == nil {
		t.Error("a vocabulary of special tokens only is taken")
	}
}

// Old rules may draw lengths of nothing.
func TestLengthsOfNothing(t *testing.T) {
	for _, compat := range []string{CompatVLLM06, CompatVLLM010} {
		r := 0.9
		if compat == CompatVLLM06 {
			r = 0.1
		}
		set := build(t, Spec{
			Kind: "random", N: 300, InputLen: 3, OutputLen: 3, RangeRatio: r, Compat: compat,
			TokenIDs: true, VocabSize: 50,
		}, nil)
		for i, p := range set.Prompts {
			if len(p.TokenIDs) < 1 || p.OutputTokens < 1 {
				t.Errorf("%s: prompt %d = %+v", compat, i, p)
			}
		}
		if !noteWith(set, "lengths of 0") {
			t.Errorf("%s: notes %q, want one on lengths of 0", compat, set.Notes)
		}
	}
}

// Without a vocabulary nobody can make vLLM's text: that is said.
func TestCompatWithoutVocabulary(t *testing.T) {
	for _, kind := range []string{"random", "prefix_repetition"} {
		set := build(t, Spec{
			Kind: kind, N: 4, NumPrefixes: 2, InputLen: 12, PrefixLen: 5, OutputLen: 3,
			Compat: CompatVLLM06,
		}, &words{})
		if !noteWith(set, "not the prompts of vLLM's client") {
			t.Errorf("%s: notes %q", kind, set.Notes)
		}
	}
}

// codec is a tokenizer as package tokenizer has them.
type codec struct{ numbered }

func (c codec) Encode(text string, special bool) ([]int, error) {
	return c.numbered.Encode(context.Background(), text, special)
}

func (c codec) Decode(ids []int, skipSpecial bool) (string, error) {
	if skipSpecial {
		return "", errTokenizer
	}
	return c.numbered.Decode(context.Background(), ids)
}

func TestLocal(t *testing.T) {
	spec := Spec{Kind: "random", N: 5, InputLen: 9, OutputLen: 2}
	if got, want := build(t, spec, Local(codec{})).SHA256, build(t, spec, numbered{}).SHA256; got != want {
		t.Errorf("Local gives %s, want %s", got, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Build(ctx, spec, Local(codec{})); err == nil {
		t.Error("Local went on after the end of its context")
	}
}

func TestRepetitionDropsTheRest(t *testing.T) {
	for _, tok := range []Tokenizer{numbered{}, &words{}, nil} {
		set, err := Build(t.Context(), Spec{
			Kind: "prefix_repetition", N: 8, NumPrefixes: 3, PrefixLen: 4,
			SuffixLen: 3,
		}, tok)
		if err != nil {
			t.Fatal(err)
		}
		groups := map[int]string{}
		for _, p := range set.Prompts {
			head := strings.Join(strings.Fields(p.Text)[:4], " ")
			if known, ok := groups[p.Group]; ok && known != head {
				t.Errorf("group %d begins with %q and %q", p.Group, known, head)
			}
			groups[p.Group] = head
		}
		if len(set.Prompts) != 6 || len(groups) != 3 || !noteWith(set, "6 prompts, 8 were asked") {
			t.Errorf("%d prompts in %d groups, notes %q", len(set.Prompts), len(groups), set.Notes)
		}
	}
	if _, err := Build(t.Context(), Spec{Kind: "prefix_repetition", N: 2, NumPrefixes: 3}, numbered{}); err == nil {
		t.Error("more prefixes than prompts are taken")
	}
}

func TestOversampling(t *testing.T) {
	spec := Spec{Kind: "custom", Path: "testdata/custom.jsonl", N: 30, Shuffle: true, Seed: 5}
	newest := build(t, spec, nil)
	spec.Compat = CompatVLLM010
	if build(t, spec, nil).SHA256 == newest.SHA256 {
		t.Error("compat vllm-0.10 repeats the same prompts as the newest")
	}
	spec.NoOversample = true
	set, err := Build(t.Context(), spec, nil)
	if err != nil || len(set.Prompts) != 9 || !noteWith(set, "no more are sent") {
		t.Errorf("no oversampling: %d prompts, notes %q, %v", len(set.Prompts), set.Notes, err)
	}
}

// A prompt that fills a server's context must not be one token longer than
// asked, whatever the vocabulary does; one that is shorter is no harm.
func TestRandomTextIsNeverLongerThanAsked(t *testing.T) {
	for name, tok := range map[string]Tokenizer{
		"one token a word": &words{}, "long words are two": pieces{5}, "three characters a token": pieces{3},
		"a token a character": pieces{1},
		"as written":          numbered{}, "with two added": numbered{added: 2}, "reads shorter": merging{},
		"reads longer": splitting{},
	} {
		for seed := range uint64(30) {
			set := build(t, Spec{Kind: "random", N: 10, InputLen: 60, OutputLen: 3, Seed: seed}, tok)
			for i, p := range set.Prompts {
				ids, err := tok.Encode(t.Context(), p.Text, true)
				if err != nil || len(ids) != p.InputTokens || len(ids) > 60 || len(ids) < 50 {
					t.Errorf("%s, seed %d: prompt %d has %d tokens and counts %d, %v, want at most 60", name, seed, i,
						len(ids), p.InputTokens, err)
				}
			}
		}
	}
}
