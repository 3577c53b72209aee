package dataset

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestSharedPrefix(t *testing.T) {
	for _, c := range []struct {
		name string
		spec Spec
		tok  Tokenizer
	}{
		{"words", Spec{}, &words{}},
		{"uncounted words", Spec{}, nil},
		{"ids", Spec{TokenIDs: true, VocabSize: 30_000}, nil},
		{"shuffled", Spec{TokenIDs: true, VocabSize: 30_000, Shuffle: true}, nil},
	} {
		spec := c.spec
		spec.Kind, spec.N, spec.NumPrefixes, spec.PrefixLen, spec.InputLen, spec.OutputLen,
			spec.RangeRatio = "shared_prefix", 30, 3, 20, 10, 5, 0.5
		set := build(t, spec, c.tok)
		prefixes, sizes, ordered := map[int]string{}, map[int]int{}, true
		starts := map[string]bool{}
		for i, p := range set.Prompts {
			tokens := strings.Fields(p.Text)
			for _, id := range p.TokenIDs {
				tokens = append(tokens, fmt.Sprint(id))
			}
			if len(tokens) < 25 || len(tokens) > 35 {
				t.Errorf("%s: prompt %d has %d tokens, want 25 to 35", c.name, i, len(tokens))
			}
			head := strings.Join(tokens[:20], " ")
			if known, ok := prefixes[p.Group]; ok && known != head {
				t.Errorf("%s: group %d has two prefixes", c.name, p.Group)
			}
			prefixes[p.Group] = head
			sizes[p.Group]++
			ordered = ordered && p.Group == 1+i%3
			starts[strings.Join(tokens[:22], " ")] = true
		}
		if len(prefixes) != 3 || sizes[1] != 10 || prefixes[1] == prefixes[2] || len(starts) != 30 ||
			ordered == spec.Shuffle {
			t.Errorf("%s: groups %v, %d starts, in turns: %t", c.name, sizes, len(starts), ordered)
		}
	}
	for want, spec := range map[string]Spec{
		"prefix length 0":       {NumPrefixes: 1},
		"4 prefixes for 2":      {NumPrefixes: 4, PrefixLen: 3},
		"vocabulary size not":   {PrefixLen: 3, TokenIDs: true},
		"prefixes -1: want at ": {NumPrefixes: -1},
	} {
		spec.Kind, spec.N, spec.InputLen, spec.OutputLen = "shared_prefix", 2, 4, 4
		if _, err := Build(t.Context(), spec, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Build(%+v) = %v, want %q", spec, err, want)
		}
	}
}

func TestConversation(t *testing.T) {
	set := build(t, Spec{Kind: "conversation", N: 6, Turns: 4, InputLen: 12, SuffixLen: 5, PrefixLen: 7, OutputLen: 9},
		&words{})
	texts := map[string]bool{}
	for i, p := range set.Prompts {
		if p.InputTokens != 19 || p.OutputTokens != 9 || len(p.Turns) != 3 {
			t.Errorf("conversation %d: %d in, %d out, %d further turns, want 19, 9, 3", i, p.InputTokens,
				p.OutputTokens, len(p.Turns))
		}
		texts[p.Text] = true
		for _, turn := range p.Turns {
			if n := len(strings.Fields(turn.Text)); n != 5 || turn.OutputTokens != 9 {
				t.Errorf("conversation %d: a turn of %d tokens for %d, want 5 for 9", i, n, turn.OutputTokens)
			}
			texts[turn.Text] = true
		}
	}
	if len(texts) != 24 {
		t.Errorf("%d different texts, want 24", len(texts))
	}
	for want, spec := range map[string]Spec{"token ids": {TokenIDs: true}, "1001 turns": {Turns: 1001}} {
		spec.Kind, spec.N, spec.InputLen, spec.OutputLen = "conversation", 1, 1, 1
		if _, err := Build(t.Context(), spec, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Build(%+v) = %v, want %q", spec, err, want)
		}
	}
}

func TestShareGPTTurns(t *testing.T) {
	spec := Spec{Kind: "sharegpt", Path: writeFile(t, string(synthetic(t))), N: 20, Turns: 2, Shuffle: true}
	set := build(t, spec, &words{})
	for i, p := range set.Prompts {
		if len(p.Turns) != 1 || p.Turns[0].Text == "" || p.Turns[0].OutputTokens < minTurnTokens {
			t.Errorf("conversation %d = %+v, want a second turn", i, p)
		}
	}
}

// story is text of several scripts, without repeats.
func story(words int) string {
	var out strings.Builder
	for i := range words {
		fmt.Fprintf(&out, []string{"word%d ", "naïve%d, ", "語%d。\n", "🙂%d "}[i%4], i)
	}
	return out.String()
}

// runes is a tokenizer of one token a character, with a start token; pairs
// reads two characters as one where it can.
type runes struct{}

func (runes) Encode(_ context.Context, text string, special bool) ([]int, error) {
	var ids []int
	if special {
		ids = append(ids, 1)
	}
	for _, r := range text {
		ids = append(ids, int(r))
	}
	return ids, nil
}

// double counts each character twice, so that odd lengths cannot be met.
type double struct{}

func (double) Encode(_ context.Context, text string, _ bool) ([]int, error) {
	return make([]int, 2*len([]rune(text))), nil
}

// decodingRunes can write its tokens too.
type decodingRunes struct{ runes }

func (decodingRunes) Decode(_ context.Context, ids []int) (string, error) {
	var out strings.Builder
	for _, id := range ids {
		out.WriteRune(rune(id))
	}
	return out.String(), nil
}
func (decodingRunes) VocabSize() int    { return 1 << 20 }
func (decodingRunes) SpecialIDs() []int { return []int{1} }
func (decodingRunes) SpecialAdded() int { return 1 }

func TestText(t *testing.T) {
	text := story(20_000)
	path := writeFile(t, text)
	for name, tok := range map[string]Tokenizer{
		"words": &words{}, "pieces": pieces{4}, "runes": runes{},
		"decoding": decodingRunes{},
	} {
		set := build(t, Spec{Kind: "text", Path: path, N: 25, InputLen: 150, OutputLen: 6, RangeRatio: 0.3}, tok)
		starts := map[string]bool{}
		for i, p := range set.Prompts {
			ids, err := tok.Encode(t.Context(), p.Text, true)
			if err != nil || len(ids) != p.InputTokens || p.InputTokens < 105 || p.InputTokens > 195 {
				t.Errorf("%s: prompt %d has %d tokens, counted %d, want 105 to 195", name, i, len(ids), p.InputTokens)
			}
			if !strings.Contains(text, p.Text) {
				t.Errorf("%s: prompt %d is not in the file", name, i)
			}
			starts[p.Text[:12]] = true
		}
		if len(starts) != 25 || len(set.Notes) != 0 {
			t.Errorf("%s: %d different starts, notes %q", name, len(starts), set.Notes)
		}
	}
	set := build(t, Spec{Kind: "text", Path: path, N: 4, InputLen: 31, OutputLen: 6}, double{})
	if !noteWith(set, "4 prompts not exactly as long as requested,") || set.Prompts[0].InputTokens != 30 {
		t.Errorf("odd lengths: %d tokens, notes %q", set.Prompts[0].InputTokens, set.Notes)
	}
	if set := build(t, Spec{Kind: "text", Path: path, N: 4, InputLen: 31, OutputLen: 6}, nil); !noteWith(set,
		"estimated") {
		t.Errorf("uncounted: notes %q", set.Notes)
	}
}

func TestTextErrors(t *testing.T) {
	for content, want := range map[string]string{
		"":                       "the file has 0 tokens, but one prompt needs 10",
		"a few words only":       "the file has 4 tokens, but one prompt needs 10",
		"some \xff\xfe\x00 junk": "not UTF-8 text",
	} {
		_, err := Build(t.Context(), Spec{Kind: "text", Path: writeFile(t, content), N: 2, InputLen: 10, OutputLen: 1},
			&words{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("text %q: %v, want %q", content, err, want)
		}
	}
	// Files that just suffice are used from their beginning.
	set := build(t, Spec{Kind: "text", Path: writeFile(t, strings.Repeat("ab ", 12)), N: 3, InputLen: 10, OutputLen: 1},
		&words{})
	if !noteWith(set, "begin as another one does") {
		t.Errorf("notes %q, want one on equal beginnings", set.Notes)
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte(story(50)), 20)
	f.Add([]byte("no end"), 1)
	f.Fuzz(func(t *testing.T, content []byte, want int) {
		want = 1 + abs(want)%64
		set, err := cutText(t.Context(), bytes.NewReader(content), int64(len(content)), Spec{
			N: 3, InputLen: want,
			OutputLen: 1,
		}, runes{})
		if err != nil {
			return
		}
		for _, p := range set.Prompts {
			if len([]rune(p.Text))+1 != p.InputTokens || p.InputTokens > want || !bytes.Contains(content,
				[]byte(p.Text)) {
				t.Fatalf("prompt %+v of %q, want %d tokens", p, content, want)
			}
		}
	})
}

func abs(n int) int { return max(n, -(n + 1)) }

func TestFrozen(t *testing.T) {
	for _, spec := range everyKind(t) {
		set := build(t, spec, numbered{})
		var file bytes.Buffer
		if err := Write(&file, set, Meta{Spec: spec, Tokenizer: "numbered", TokenizerSHA256: "ab"}); err != nil {
			t.Fatalf("Write(%s): %v", spec.Kind, err)
		}
		meta, err := ReadFrozen(bytes.NewReader(file.Bytes()))
		if err != nil || meta.Tokenizer != "numbered" || meta.TokenizerSHA256 != "ab" || meta.Spec.Kind != spec.Kind {
			t.Errorf("ReadFrozen(%s) = %+v, %v", spec.Kind, meta, err)
		}
		again := build(t, Spec{Kind: "frozen", Path: writeFile(t, file.String()), N: spec.N}, nil)
		if again.SHA256 != set.SHA256 || again.NumpyDrawn != set.NumpyDrawn || !slices.Equal(again.Notes, set.Notes) {
			t.Errorf("%s: frozen set is %s, notes %q, want %s, %q", spec.Kind, again.SHA256, again.Notes,
				set.SHA256, set.Notes)
		}
		for i, p := range again.Prompts {
			if fmt.Sprint(p.InputTokens, p.Group, len(p.Images), len(p.Turns)) != fmt.Sprint(set.Prompts[i].InputTokens,
				set.Prompts[i].Group, len(set.Prompts[i].Images), len(set.Prompts[i].Turns)) {
				t.Errorf("%s: prompt %d came back as %+v", spec.Kind, i, p)
			}
		}
	}
}

// A frozen trace that is shorter than asked is sent once, as the trace itself
// would be: a repeat would have the time of its original.
func TestFrozenTraceIsNotRepeated(t *testing.T) {
	trace := build(t, Spec{Kind: "trace", Path: writeFile(t, mooncake), N: 3, TokenIDs: true, VocabSize: 5000}, nil)
	var out bytes.Buffer
	if err := Write(&out, trace, Meta{}); err != nil {
		t.Fatal(err)
	}
	set, err := Build(t.Context(), Spec{Kind: "frozen", Path: writeFile(t, out.String()), N: 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Prompts) != 3 || !strings.Contains(strings.Join(set.Notes, "\n"), "no more are sent") {
		t.Errorf("%d prompts, notes %q, want the 3 of the trace and a note", len(set.Prompts), set.Notes)
	}
}

func TestFrozenIsChecked(t *testing.T) {
	var file bytes.Buffer
	set := &Set{Prompts: []Prompt{{Text: "one <b>", OutputTokens: 5}, {TokenIDs: []int{1, 2}}, {Text: "three"}}}
	if err := Write(&file, set, Meta{}); err != nil {
		t.Fatal(err)
	}
	good := file.String()
	lines := strings.SplitAfter(good, "\n")
	for name, c := range map[string]struct{ content, want string }{
		"empty":        {"", "the file is empty"},
		"another file": {`{"prompt": "a"}`, `the first line has format ""`},
		"no JSON":      {"hello", "first line"},
		"version": {
			strings.Replace(good, `"version":1`, `"version":2`, 1),
			"of version 2: this program reads version 1",
		},
		"cut off":       {lines[0] + lines[1], "1 prompts, its first line says 3"},
		"changed":       {strings.Replace(good, "three", "threw", 1), "the file was changed"},
		"order":         {lines[0] + lines[2] + lines[1] + lines[3], "the file was changed"},
		"answer length": {strings.Replace(good, `"output_tokens":5`, `"output_tokens":6`, 1), "the file was changed"},
		"no prompt":     {lines[0] + "{}\n", `line 2: want one of "text", "token_ids" and "audio"`},
		"negative":      {lines[0] + `{"text": "a", "group": -1}`, "negative"},
	} {
		_, err := Build(t.Context(), Spec{Kind: "frozen", Path: writeFile(t, c.content), N: 3}, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	set = build(t, Spec{Kind: "frozen", Path: writeFile(t, good), N: 2, OutputLen: 8}, nil)
	if !noteWith(set, "the first 2 of 3") || set.Prompts[1].OutputTokens != 8 {
		t.Errorf("two of three: %+v, notes %q", set.Prompts, set.Notes)
	}
	if set = build(t, Spec{Kind: "frozen", Path: writeFile(t, good), N: 5}, nil); !noteWith(set, "2 are repeats") {
		t.Errorf("five of three: notes %q", set.Notes)
	}
	if err := Write(&file, &Set{Prompts: []Prompt{{Text: "\xff"}}}, Meta{}); err == nil {
		t.Error("Write took text that is not UTF-8")
	}
}

func FuzzFrozen(f *testing.F) {
	var file bytes.Buffer
	at := 1.5
	set := &Set{Prompts: []Prompt{
		{Text: "a", Images: []string{"data:,x"}, Turns: []Turn{
			{Text: "b", OutputTokens: 3, After: []int{0}, WaitS: &at},
			{TokenIDs: []int{7}, Whole: true, After: []int{}},
		}, At: &at, Group: 2},
		{TokenIDs: []int{5}},
	}}
	if err := Write(&file, set, Meta{Spec: Spec{Kind: "random"}}); err != nil {
		f.Fatal(err)
	}
	f.Add(file.String())
	f.Fuzz(func(t *testing.T, content string) {
		set, err := readFrozen(t.Context(), strings.NewReader(content))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := Write(&out, set, Meta{}); err != nil {
			t.Fatal(err)
		}
		again, err := readFrozen(t.Context(), &out)
		if err != nil || digest(again.Prompts) != digest(set.Prompts) {
			t.Fatalf("written again: %v", err)
		}
	})
}
