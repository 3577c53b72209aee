package dataset

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"testing"
)

// These compare with what vLLM's own client drew and sent; see testdata/README.md.

// What the newest client sent for ten sets of flags.
func TestRequestsAsVLLM(t *testing.T) {
	var sent map[string]vllmRequests
	loadJSONGz(t, "requests-newest.json.gz", &sent)
	shareGPT, poem := unpackFile(t, "sharegpt-small.json.gz"), unpackFile(t, "sonnet.txt.gz")
	for name, spec := range map[string]Spec{
		"random": {Kind: "random", N: 6, InputLen: 8, OutputLen: 5},
		"random_ratio": {
			Kind: "random", N: 6, InputLen: 20, OutputLen: 50, RangeRatio: 0.3,
			PrefixLen: 3, Seed: 42,
		},
		"random_ratio2": {
			Kind: "random", N: 6, InputLen: 20, OutputLen: 50, RangeRatio: 0.5,
			RangeRatioOutput: new(0.0), Seed: 7,
		},
		"sharegpt":           {Kind: "sharegpt", Path: shareGPT, N: 10, Shuffle: true},
		"sharegpt_over":      {Kind: "sharegpt", Path: shareGPT, N: 50, Shuffle: true, Seed: 42},
		"sharegpt_outlen":    {Kind: "sharegpt", Path: shareGPT, N: 10, Shuffle: true, OutputLen: 7},
		"sharegpt_noshuffle": {Kind: "sharegpt", Path: shareGPT, N: 6},
		"custom":             {Kind: "custom", Path: "testdata/custom.jsonl", N: 12, Shuffle: true},
		"sonnet":             {Kind: "sonnet", Path: poem, N: 3, TemplateTokens: 3},
		"prefix_repetition":  {Kind: "prefix_repetition", N: 6, NumPrefixes: 2, PrefixLen: 5, SuffixLen: 4},
	} {
		for _, spec.Compat = range []string{CompatNewest, CompatVLLM} {
			set := build(t, spec, numbered{})
			want := sent[name].Requests
			if len(want) != len(set.Prompts) || len(want) == 0 {
				t.Fatalf("%s: %d prompts, want %d", name, len(set.Prompts), len(want))
			}
			for i, p := range set.Prompts {
				if p.Text != want[i].Prompt || p.InputTokens != want[i].PromptLen ||
					p.OutputTokens != want[i].OutputLen {
					t.Errorf("%s prompt %d = %.200q, %d in, %d out, want %.200q, %d, %d", name, i, p.Text,
						p.InputTokens, p.OutputTokens,
						want[i].Prompt, want[i].PromptLen, want[i].OutputLen)
				}
			}
		}
	}
}

func TestRandomOf2024AsVLLM(t *testing.T) {
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
	loadJSON(t, "random-v06.json", &file)
	if len(file.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range file.Cases {
		spec := Spec{
			Kind: "random", Seed: c.Seed, N: c.N, InputLen: c.InputLen, OutputLen: c.OutputLen, TokenIDs: true,
			VocabSize: c.VocabSize, RangeRatio: c.RangeRatio, PrefixLen: c.PrefixLen, Compat: CompatVLLM06,
		}
		ids := build(t, spec, nil)
		spec.TokenIDs = false
		text := build(t, spec, numbered{})
		for i, want := range c.Requests {
			got := ids.Prompts[i]
			if !slices.Equal(got.TokenIDs, want.IDs) || got.InputTokens != want.Prompt ||
				got.OutputTokens != want.Output {
				t.Errorf("%+v prompt %d = %v, want %v", spec, i, got, want)
			}
			written, _ := numbered{}.Decode(t.Context(), want.IDs)
			if got := text.Prompts[i]; got.Text != written || got.InputTokens != want.Prompt ||
				got.OutputTokens != want.Output {
				t.Errorf("%+v prompt %d as text = %v, want %q", spec, i, got, written)
			}
		}
	}
}

// goldenRandom is one case of golden.json.
type goldenRandom struct {
	Seed       uint64          `json:"seed"`
	N          int             `json:"n"`
	InputLen   int             `json:"input_len"`
	OutputLen  int             `json:"output_len"`
	RangeRatio json.RawMessage `json:"range_ratio"`
	PrefixLen  int             `json:"prefix_len"`
	Vocab      int             `json:"vocab"`
	Prefix     []int           `json:"prefix"`
	Inputs     []int           `json:"input_lens"`
	Outputs    []int           `json:"output_lens"`
	Offsets    []int           `json:"offsets"`
	Next       []int           `json:"next"`
	Gaps       []float64       `json:"intervals_rate10"`
}

func (g goldenRandom) spec(t *testing.T, compat string) Spec {
	t.Helper()
	spec := Spec{
		Kind: "random", Seed: g.Seed, N: g.N, InputLen: g.InputLen, OutputLen: g.OutputLen, PrefixLen: g.PrefixLen,
		VocabSize: g.Vocab, TokenIDs: true, Compat: compat,
	}
	var both struct{ Input, Output float64 }
	if json.Unmarshal(g.RangeRatio, &spec.RangeRatio) != nil {
		if err := json.Unmarshal(g.RangeRatio, &both); err != nil {
			t.Fatal(err)
		}
		spec.RangeRatio, spec.RangeRatioOutput = both.Input, &both.Output
	}
	return spec
}

// Three generations of draws, and the gaps between arrivals that two of them
// draw from the same stream afterwards.
func TestDrawsAsVLLM(t *testing.T) {
	var file map[string]json.RawMessage
	loadJSON(t, "golden.json", &file)
	for name, compat := range map[string]string{
		"random_v06": CompatVLLM06, "random_v10": CompatVLLM010,
		"random_newest": CompatVLLM,
	} {
		var cases []goldenRandom
		if err := json.Unmarshal(file[name], &cases); err != nil || len(cases) == 0 {
			t.Fatalf("%s: %d cases, %v", name, len(cases), err)
		}
		for _, c := range cases {
			spec := c.spec(t, compat)
			ids, err := newPool(spec, vocabulary{size: c.Vocab})
			if err != nil {
				t.Fatal(err)
			}
			p := drawPlan(spec, ids)
			if !slices.Equal(p.prefix, c.Prefix) && len(c.Prefix) > 0 {
				t.Errorf("%s %+v: prefix %v, want %v", name, spec, p.prefix, c.Prefix)
			}
			if !slices.Equal(p.inputs, c.Inputs) || !slices.Equal(p.outputs, c.Outputs) ||
				!slices.Equal(p.offsets, c.Offsets) {
				t.Errorf("%s %+v: %v %v %v, want %v %v %v", name, spec, p.inputs, p.outputs, p.offsets, c.Inputs,
					c.Outputs, c.Offsets)
			}
			if next := p.draw(0, c.Vocab, len(c.Next)); len(c.Next) > 0 && !slices.Equal(next, c.Next) {
				t.Errorf("%s %+v: next draws %v, want %v", name, spec, next, c.Next)
			}
			if len(c.Gaps) > 0 {
				checkGaps(t, spec, c.Gaps)
			}
		}
	}
}

func checkGaps(t *testing.T, spec Spec, want []float64) {
	t.Helper()
	set := build(t, spec, vocabulary{size: spec.VocabSize})
	for range 2 { // each call begins anew
		rng := set.Arrivals(spec.Seed)
		for i, gap := range want {
			if got := rng.Gamma(1, 0.1); math.Abs(got-gap) > 1e-12 {
				t.Errorf("%+v: gap %d is %v, want %v", spec, i, got, gap)
			}
		}
	}
}

// vocabulary is a tokenizer of which only the size is known.
type vocabulary struct {
	size    int
	special []int
	added   int
}

func (vocabulary) Encode(context.Context, string, bool) ([]int, error) { return nil, errTokenizer }
func (v vocabulary) VocabSize() int                                    { return v.size }
func (v vocabulary) SpecialIDs() []int                                 { return v.special }
func (v vocabulary) SpecialAdded() int                                 { return v.added }

func TestBurstSampleAsPandas(t *testing.T) {
	var file struct {
		Cases []struct {
			Seed    uint64 `json:"seed"`
			Rows    int    `json:"rows"`
			Few     int    `json:"few"`
			Without []int  `json:"no_replace"`
			With    []int  `json:"replace"`
		} `json:"burstgpt"`
	}
	loadJSON(t, "golden.json", &file)
	if len(file.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range file.Cases {
		rows := make([]burstRow, c.Rows)
		for i := range rows {
			rows[i].input = i
		}
		few, _ := sampleBurst(rows, Spec{Seed: c.Seed, N: c.Few})
		for i, want := range c.Without {
			if few[i].input != want {
				t.Errorf("seed %d: row %d of %d is %d, want %d", c.Seed, i, c.Rows, few[i].input, want)
			}
		}
		many, notes := sampleBurst(rows, Spec{Seed: c.Seed, N: c.Rows + 1})
		for i, want := range c.With[:min(len(c.With), len(many))] {
			if many[i].input != want {
				t.Errorf("seed %d: row %d of %d with repeats is %d, want %d", c.Seed, i, c.Rows, many[i].input, want)
			}
		}
		if len(notes) != 1 {
			t.Errorf("seed %d: notes %q, want one on rows drawn more than once", c.Seed, notes)
		}
	}
}
