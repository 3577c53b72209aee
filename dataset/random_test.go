package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// vLLM leaves out the special ids that its tokenizer names; here it had none.
func TestRandomIDsAsVLLM(t *testing.T) {
	var file struct {
		Cases []struct {
			N          int     `json:"num_prompts"`
			Seed       uint64  `json:"seed"`
			PrefixLen  int     `json:"prefix_len"`
			InputLen   int     `json:"input_len"`
			OutputLen  int     `json:"output_len"`
			RangeRatio float64 `json:"range_ratio"`
			VocabSize  int     `json:"vocab_size"`
			Requests   []struct {
				IDs    []int `json:"token_ids"`
				Prompt int   `json:"prompt_len"`
				Output int   `json:"output_len"`
			}
		}
	}
	loadJSON(t, "random-newest.json", &file)
	if len(file.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range file.Cases {
		spec := Spec{
			Kind: "random", Seed: c.Seed, N: c.N, InputLen: c.InputLen, OutputLen: c.OutputLen,
			TokenIDs: true, VocabSize: c.VocabSize, RangeRatio: c.RangeRatio, PrefixLen: c.PrefixLen,
		}
		set, err := buildRandomIDs(spec, numbered{})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.Requests {
			got := set.Prompts[i]
			if !slices.Equal(got.TokenIDs, want.IDs) || got.InputTokens != want.Prompt ||
				got.OutputTokens != want.Output {
				t.Errorf("%+v prompt %d = %v, want %v", spec, i, got, want)
			}
		}
	}
}

type vllmRequests struct {
	Requests []struct {
		Prompt    string
		PromptLen int `json:"prompt_len"`
		OutputLen int `json:"output_len"`
	}
}

// The requests that vLLM's client sent name token n "tn".
func TestRandomIDsAsSent(t *testing.T) {
	var sent map[string]vllmRequests
	loadJSONGz(t, "requests-newest.json.gz", &sent)
	for name, spec := range map[string]Spec{
		"random":       {N: 6, InputLen: 8, OutputLen: 5},
		"random_ratio": {N: 6, InputLen: 20, OutputLen: 50, RangeRatio: 0.3, PrefixLen: 3, Seed: 42},
	} {
		spec.TokenIDs, spec.VocabSize = true, 32000
		set, err := buildRandomIDs(spec, numbered{})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range sent[name].Requests {
			got := set.Prompts[i]
			text := "t" + strings.Trim(strings.ReplaceAll(fmt.Sprint(got.TokenIDs), " ", " t"), "[]")
			if text = strings.ReplaceAll(text, "t[", "t"); text != want.Prompt {
				t.Errorf("%s prompt %d = %q, want %q", name, i, text, want.Prompt)
			}
			if got.InputTokens != want.PromptLen || got.OutputTokens != want.OutputLen {
				t.Errorf("%s prompt %d: %d in, %d out, want %d, %d", name, i, got.InputTokens, got.OutputTokens,
					want.PromptLen, want.OutputLen)
			}
		}
	}
}

func TestRandomIDs(t *testing.T) {
	spec := Spec{
		Kind: "random", N: 50, InputLen: 20, OutputLen: 10, RangeRatio: 0.5, PrefixLen: 4, TokenIDs: true,
		VocabSize: 200,
	}
	set := build(t, spec, nil)
	lengths := map[int]bool{}
	for i, p := range set.Prompts {
		if p.InputTokens != len(p.TokenIDs) || p.InputTokens < 14 || p.InputTokens > 34 {
			t.Errorf("prompt %d: %d ids, %d input tokens, want 14 to 34", i, len(p.TokenIDs), p.InputTokens)
		}
		if p.OutputTokens < 5 || p.OutputTokens > 15 {
			t.Errorf("prompt %d asks for %d tokens, want 5 to 15", i, p.OutputTokens)
		}
		if low, high := slices.Min(p.TokenIDs), slices.Max(p.TokenIDs); low < firstOrdinaryID || high >= 200 {
			t.Errorf("prompt %d has ids %d to %d, want %d to 199", i, low, high, firstOrdinaryID)
		}
		if !slices.Equal(p.TokenIDs[:4], set.Prompts[0].TokenIDs[:4]) {
			t.Errorf("prompt %d does not share the prefix", i)
		}
		lengths[p.InputTokens] = true
	}
	if len(lengths) < 5 {
		t.Errorf("%d different lengths, want many", len(lengths))
	}
	if !noteWith(set, "begin as another one does") {
		t.Errorf("notes = %q, want one on equal beginnings (50 of 197 starts)", set.Notes)
	}
}

// A length of one token and a wide range must not give empty prompts.
func TestRandomLengthsAreAtLeastOne(t *testing.T) {
	for _, ids := range []bool{true, false} {
		set := build(t, Spec{
			Kind: "random", N: 200, InputLen: 1, OutputLen: 1, RangeRatio: 0.9, TokenIDs: ids,
			VocabSize: 500,
		}, nil)
		for i, p := range set.Prompts {
			if len(p.TokenIDs)+len(strings.Fields(p.Text)) < 1 || p.OutputTokens < 1 {
				t.Errorf("prompt %d = %+v, want at least one token in and out", i, p)
			}
		}
	}
}

func TestRandomTextWithoutTokenizer(t *testing.T) {
	set := build(t, Spec{Kind: "random", N: 2000, InputLen: 6, OutputLen: 3, PrefixLen: 2}, nil)
	starts := map[string]bool{}
	for i, p := range set.Prompts {
		fields := strings.Fields(p.Text)
		if len(fields) != 8 {
			t.Fatalf("prompt %d = %q, want 8 words", i, p.Text)
		}
		if !strings.HasPrefix(p.Text, strings.Join(strings.Fields(set.Prompts[0].Text)[:2], " ")+" ") {
			t.Errorf("prompt %d = %q does not share the prefix", i, p.Text)
		}
		start := strings.Join(fields[2:4], " ")
		if starts[start] {
			t.Errorf("prompt %d begins with %q, as another one does", i, start)
		}
		starts[start] = true
	}
	first := map[string]bool{}
	for _, p := range set.Prompts[:500] {
		first[strings.Fields(p.Text)[2]] = true
	}
	if len(first) != 500 {
		t.Errorf("500 prompts have %d different first words", len(first))
	}
	if !noteWith(set, "counted in words") {
		t.Errorf("notes = %q, want one on the lengths", set.Notes)
	}
}

func TestRandomTextWithTokenizer(t *testing.T) {
	for _, c := range []struct {
		name  string
		tok   Tokenizer
		exact int // prompts of 50 that must have their length
	}{
		{"one token a word", &words{}, 50},
		{"long words are two tokens", pieces{5}, 50},
		{"three characters a token", pieces{3}, 45},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := build(t, Spec{Kind: "random", N: 50, InputLen: 60, OutputLen: 3, RangeRatio: 0.5, PrefixLen: 16},
				c.tok)
			want, err := buildRandomIDs(Spec{
				N: 50, InputLen: 60, OutputLen: 3, RangeRatio: 0.5, PrefixLen: 16,
				VocabSize: 100,
			}, numbered{})
			if err != nil {
				t.Fatal(err)
			}
			exact := 0
			for i, p := range set.Prompts {
				if ids, _ := c.tok.Encode(t.Context(), p.Text, false); len(ids) != p.InputTokens {
					t.Errorf("prompt %d has %d tokens, not %d", i, len(ids), p.InputTokens)
				}
				if p.InputTokens == want.Prompts[i].InputTokens {
					exact++
				}
			}
			if exact < c.exact {
				t.Errorf("%d of 50 prompts have the length asked, want %d", exact, c.exact)
			}
			if missed := noteWith(set, "not exactly as long as requested"); missed != (exact < 50) {
				t.Errorf("%d exact, notes = %q", exact, set.Notes)
			}
		})
	}
}

// A vocabulary of single characters cannot give two tokens for a word; the
// shortest is sent, and the tries are bounded.
func TestRandomTextThatCannotFit(t *testing.T) {
	set := build(t, Spec{Kind: "random", N: 3, InputLen: 2, OutputLen: 1}, pieces{1})
	if !noteWith(set, "3 prompts not exactly as long as requested,") {
		t.Errorf("notes = %q, want one on 3 prompts", set.Notes)
	}
	counter := &words{}
	build(t, Spec{Kind: "random", N: 3, InputLen: 500, OutputLen: 1}, counter)
	if counter.calls > 3*maxFits {
		t.Errorf("%d counts for 3 prompts, want at most %d", counter.calls, 3*maxFits)
	}
}

func TestWordListIsPlain(t *testing.T) {
	seen := map[string]bool{}
	for word := range strings.FieldsSeq(wordList) {
		if seen[word] || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
			t.Errorf("word %q is listed twice or not plain", word)
		}
		seen[word] = true
	}
	if len(seen) < 500 {
		t.Errorf("%d words, want at least 500", len(seen))
	}
}
