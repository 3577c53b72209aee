package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestBuildErrors(t *testing.T) {
	random := Spec{Kind: "random", N: 1, InputLen: 4, OutputLen: 4}
	with := func(change func(*Spec)) Spec { s := random; change(&s); return s }
	folder := t.TempDir()
	missing := filepath.Join(folder, "nowhere.json")
	for _, c := range []struct {
		name string
		spec Spec
		want []string
	}{
		{"unknown kind", Spec{Kind: "sharegtp", N: 1}, []string{`"sharegtp"`, "random, random_mm, random_audio, audio, random_rerank, sharegpt, jsonl"}},
		{"no prompts", Spec{Kind: "random"}, []string{"0 prompts", "at least 1"}},
		{"negative length", with(func(s *Spec) { s.InputLen = -1 }), []string{"input length -1"}},
		{"absurd length", with(func(s *Spec) { s.OutputLen = 1 << 40 }), []string{"output length"}},
		{"absurd prefix", with(func(s *Spec) { s.PrefixLen = 1 << 40 }), []string{"prefix length"}},
		{"ratio 1", with(func(s *Spec) { s.RangeRatio = 1 }), []string{"range ratio 1"}},
		{"no input length", with(func(s *Spec) { s.InputLen = 0 }), []string{"input length 0"}},
		{"no output length", with(func(s *Spec) { s.OutputLen = 0 }), []string{"output length 0"}},
		{"no vocabulary", with(func(s *Spec) { s.TokenIDs = true }), []string{"vocabulary size not set"}},
		{"small vocabulary", with(func(s *Spec) { s.TokenIDs, s.VocabSize = true, 3 }), []string{"vocabulary size 3"}},
		{"no path", Spec{Kind: "sharegpt", N: 1}, []string{"no path"}},
		{"no jsonl path", Spec{Kind: "jsonl", N: 1}, []string{"no path"}},
		{"missing sharegpt", Spec{Kind: "sharegpt", Path: missing, N: 1}, []string{missing, "no such file"}},
		{"missing jsonl", Spec{Kind: "jsonl", Path: missing, N: 1}, []string{missing, "no such file"}},
		{"folder as sharegpt", Spec{Kind: "sharegpt", Path: folder, N: 1}, []string{folder, "is a directory"}},
		{"folder as jsonl", Spec{Kind: "jsonl", Path: folder, N: 1}, []string{folder, "is a directory"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Build(t.Context(), c.spec, nil)
			if err == nil {
				t.Fatalf("Build(%+v) succeeded, want an error", c.spec)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("Build(%+v) = %v, want %q in it", c.spec, err, part)
				}
			}
			if n := strings.Count(err.Error(), c.spec.Path); c.spec.Path != "" && n != 1 {
				t.Errorf("Build(%+v) = %v, want the path once, not %d times", c.spec, err, n)
			}
		})
	}
}

func TestUnreadableFile(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads every file")
	}
	path := writeFile(t, "[]")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	_, err := Build(t.Context(), Spec{Kind: "sharegpt", Path: path, N: 1}, nil)
	if err == nil || !strings.Contains(err.Error(), path+": permission denied") {
		t.Errorf("Build = %v, want permission denied with the path", err)
	}
}

// everyKind is a spec of each kind that builds.
func everyKind(t *testing.T) []Spec {
	var entries []entry
	for i := range 30 {
		entries = append(entries, entry{[]turn{say(5+i, fmt.Sprint("word", i)), say(40, "answer")}})
	}
	frozen := &bytes.Buffer{}
	if err := Write(frozen, &Set{Prompts: []Prompt{{Text: "a b c", InputTokens: 3, OutputTokens: 2}}},
		Meta{}); err != nil {
		t.Fatal(err)
	}
	var burst, trace, story strings.Builder
	burst.WriteString("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n")
	for i := range 20 {
		fmt.Fprintf(&burst, "%d,GPT-4,%d,%d,9,API log\n", 5+i, 3+i%4, 2+i)
		fmt.Fprintf(&trace, `{"timestamp": %d, "input_length": 40, "output_length": 3, "hash_ids": [1, 2, %d]}`+"\n", i,
			i+3)
	}
	for i := range 3000 {
		fmt.Fprintf(&story, "word%d ", i*7)
	}
	small := &Images{Sizes: []ImageSize{{Width: 4, Height: 3}}, Format: "png"}
	return []Spec{
		{Kind: "random", N: 5, InputLen: 8, OutputLen: 4},
		{Kind: "random", N: 5, InputLen: 8, OutputLen: 4, PrefixLen: 3, TokenIDs: true, VocabSize: 1000},
		{Kind: "random", N: 5, InputLen: 8, NoOutput: true, BatchSize: 3},
		{Kind: "random_rerank", N: 4, InputLen: 20, BatchSize: 3},
		{Kind: "random_mm", N: 3, InputLen: 8, OutputLen: 4, Images: small},
		{Kind: "random_audio", N: 3, AudioS: 0.05, RangeRatio: 0.5, OutputLen: 4},
		{Kind: "audio", N: 8, Path: audioFolder(t, 6), OutputLen: 4, Shuffle: true},
		{Kind: "sharegpt", N: 5, Path: writeFile(t, shareGPTText(t, entries...)), Shuffle: true},
		{Kind: "jsonl", N: 5, Path: "testdata/custom.jsonl", Shuffle: true},
		{Kind: "custom", N: 5, Path: "testdata/custom.jsonl", Shuffle: true},
		{Kind: "tok_inputs", N: 3, OutputLen: 5, Path: named(t, "a.jsonl", idLinesOf(t, false)), Shuffle: true},
		{Kind: "sonnet", N: 3, Path: unpackFile(t, "sonnet.txt.gz")},
		{Kind: "prefix_repetition", N: 4, NumPrefixes: 2, PrefixLen: 5, SuffixLen: 4},
		{Kind: "burstgpt", N: 5, Path: writeFile(t, burst.String())},
		{Kind: "trace", N: 5, Path: writeFile(t, trace.String())},
		{Kind: "sessions", N: 2, Path: writeFile(t, recordedSessions)},
		{Kind: "hf", N: 5, Path: writeFile(t, shareGPTText(t, entries...)), Shuffle: true},
		{Kind: "text", N: 5, InputLen: 20, OutputLen: 5, Path: writeFile(t, story.String())},
		{Kind: "shared_prefix", N: 6, NumPrefixes: 2, PrefixLen: 12, InputLen: 6, OutputLen: 3, Shuffle: true},
		{Kind: "conversation", N: 3, Turns: 3, InputLen: 6, OutputLen: 3},
		{Kind: "conversation", N: 3, Turns: 3, InputLen: 6, OutputLen: 3, SubAgents: 2},
		{Kind: "frozen", N: 1, Path: writeFile(t, frozen.String())},
	}
}

func TestEveryKind(t *testing.T) {
	var built []string
	for _, spec := range everyKind(t) {
		built = append(built, spec.Kind)
		for _, tok := range []Tokenizer{nil, &words{}} {
			set := build(t, spec, tok)
			for i, p := range set.Prompts {
				if (p.Text == "") == (p.TokenIDs == nil && p.Audio == nil) {
					t.Errorf("%s prompt %d: text %q and ids %v, want exactly one", spec.Kind, i, p.Text, p.TokenIDs)
				}
				if p.OutputTokens < 1 {
					t.Errorf("%s prompt %d asks for %d tokens", spec.Kind, i, p.OutputTokens)
				}
				if tok != nil && p.InputTokens < 1 && p.Audio == nil {
					t.Errorf("%s prompt %d was not counted", spec.Kind, i)
				}
				if tok == nil && spec.Kind != "frozen" && p.TokenIDs == nil && p.InputTokens != 0 {
					t.Errorf("%s prompt %d has %d input tokens that nobody counted", spec.Kind, i, p.InputTokens)
				}
			}
			again := build(t, spec, tok)
			if again.SHA256 != set.SHA256 || !slices.Equal(again.Notes, set.Notes) {
				t.Errorf("%s: a second build differs: %s %q, want %s %q", spec.Kind, again.SHA256, again.Notes,
					set.SHA256, set.Notes)
			}
			spec.Seed++
			if spec.Kind == "frozen" {
				continue // no seed changes what is frozen
			}
			if other := build(t, spec, tok); other.SHA256 == set.SHA256 {
				t.Errorf("%s: seeds %d and %d give the same prompts", spec.Kind, spec.Seed-1, spec.Seed)
			}
		}
	}
	for _, kind := range Kinds() {
		if !slices.Contains(built, kind) {
			t.Errorf("no case for kind %s", kind)
		}
	}
}

func TestTokenizerErrorsAreKept(t *testing.T) {
	for _, spec := range everyKind(t) {
		if spec.TokenIDs || spec.Kind == "frozen" || spec.Kind == "tok_inputs" || spec.Kind == "audio" ||
			spec.Kind == "random_audio" {
			continue // nothing to count
		}
		if _, err := Build(t.Context(), spec, broken{}); !errors.Is(err, errTokenizer) {
			t.Errorf("Build(%s) = %v, want %v", spec.Kind, err, errTokenizer)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, spec := range everyKind(t) {
		if spec.TokenIDs {
			continue // done at once
		}
		for _, tok := range []Tokenizer{nil, &words{}} {
			if _, err := Build(ctx, spec, tok); !errors.Is(err, context.Canceled) {
				t.Errorf("Build(%s) after cancel = %v, want %v", spec.Kind, err, context.Canceled)
			}
		}
	}
}

func TestSettingsWithoutEffectAreNoted(t *testing.T) {
	set := build(t, Spec{Kind: "jsonl", Path: "testdata/custom.jsonl", N: 2, InputLen: 5, TokenIDs: true}, nil)
	for _, part := range []string{`"input length" has no effect`, `"token ids" has no effect`} {
		if !noteWith(set, part) {
			t.Errorf("notes = %q, want one with %q", set.Notes, part)
		}
	}
}

// The digests are part of the results format: a change makes old results
// incomparable.
func TestDigest(t *testing.T) {
	text := []Prompt{{Text: "naïve\nquick", InputTokens: 2, OutputTokens: 7}}
	for _, c := range []struct {
		name    string
		prompts []Prompt
		want    string
	}{
		{"none", nil, "34d7a5f903be69ed2a12d08e79eb833584768c44b04c464e194c84fa06631e5b"},
		{"text", text, "35a08c56322d42715977abd128d8277c68bdc2636fe9471d752e4bb18bdfd8dc"},
		{
			"ids",
			[]Prompt{{TokenIDs: []int{1, 22, 333}, OutputTokens: 4}},
			"ad5b10918802847cd3219e54e4a26aa1337f49edf07025b3da463afb7000192e",
		},
	} {
		if got := digest(c.prompts); got != c.want {
			t.Errorf("digest(%s) = %s, want %s", c.name, got, c.want)
		}
	}
	for name, other := range map[string][]Prompt{
		"output tokens":  {{Text: "naïve\nquick", OutputTokens: 8}},
		"text":           {{Text: "naive\nquick", OutputTokens: 7}},
		"one more":       append(slices.Clone(text), text...),
		"split at break": {{Text: "naïve", OutputTokens: 7}, {Text: "quick", OutputTokens: 7}},
	} {
		if digest(other) == digest(text) {
			t.Errorf("digest does not tell another %s", name)
		}
	}
	counted := []Prompt{{Text: text[0].Text, InputTokens: 99, OutputTokens: 7}}
	if digest(counted) != digest(text) {
		t.Errorf("digest depends on who counted the prompt")
	}
}
