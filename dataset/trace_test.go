package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const mooncake = `{"timestamp": 27482, "input_length": 1030, "output_length": 52, "hash_ids": [46, 47, 2366]}
{"timestamp": 30535, "input_length": 1200, "output_length": 26, "hash_ids": [46, 47, 99]}

{"timestamp": 30035, "input_length": 600, "output_length": 0, "hash_ids": [7, 46]}
`

func TestTrace(t *testing.T) {
	spec := Spec{Kind: "trace", Path: writeFile(t, mooncake), N: 3, TokenIDs: true, VocabSize: 5000}
	set := build(t, spec, nil)
	var got []string
	for _, p := range set.Prompts {
		got = append(got, fmt.Sprintf("%d %d %.3f", len(p.TokenIDs), p.OutputTokens, *p.At))
	}
	if want := []string{"1030 52 0.000", "600 1 2.553", "1200 26 3.053"}; !slices.Equal(got, want) {
		t.Errorf("lengths and times %q, want %q", got, want)
	}
	first, second, third := set.Prompts[0].TokenIDs, set.Prompts[2].TokenIDs, set.Prompts[1].TokenIDs
	if !slices.Equal(first[:1024], second[:1024]) || slices.Equal(first[1024:], second[1024:1030]) {
		t.Error("prompts with two blocks in common do not share exactly these")
	}
	if !slices.Equal(third[512:], first[:88]) {
		t.Error("a block that is cut is not the beginning of the whole one")
	}
	spec.Seed = 1
	if slices.Equal(build(t, spec, nil).Prompts[0].TokenIDs, first) {
		t.Error("another seed gives the same blocks")
	}
}

func TestTraceText(t *testing.T) {
	spec := Spec{Kind: "trace", Path: writeFile(t, mooncake), N: 5, NoOversample: true}
	set, err := Build(t.Context(), spec, &words{})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := set.Prompts[0], set.Prompts[2]; a.InputTokens != 1030 || b.InputTokens != 1200 ||
		strings.Join(strings.Fields(a.Text)[:1024], " ") != strings.Join(strings.Fields(b.Text)[:1024], " ") {
		t.Errorf("%d and %d tokens, want 1030 and 1200 with 1024 in common", a.InputTokens, b.InputTokens)
	}
	if !noteWith(set, "the trace has 3 requests, 5 were asked") {
		t.Errorf("notes %q", set.Notes)
	}
}

func TestTraceBlocks(t *testing.T) {
	alibaba := `{"timestamp": 1.5, "input_length": 33, "output_length": 4, "hash_ids": [1, 2, 3]}`
	for _, c := range []struct {
		name        string
		spec        Spec
		line        string
		block       int
		unit        float64
		err         string
		hashesOfOne int
	}{
		{name: "Mooncake", line: mooncake, block: 512, unit: 1e-3},
		{name: "Alibaba", line: alibaba, block: 16, unit: 1},
		{name: "asked", spec: Spec{BlockLen: 11, TimeUnitS: 2}, line: alibaba, block: 11, unit: 2},
		{
			name: "neither", line: `{"timestamp": 1, "input_length": 33, "output_length": 4, "hash_ids": [1, 2]}`,
			err: "set the block length",
		},
		{name: "unit", spec: Spec{TimeUnitS: -1}, line: alibaba, err: "time unit -1"},
	} {
		rows, err := readTrace(t.Context(), strings.NewReader(c.line), 10, TraceKeys{}.orDefault())
		if err != nil {
			t.Fatal(err)
		}
		block, unit, err := c.spec.blocks(rows)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: blocks = %v, want %q", c.name, err, c.err)
			}
			continue
		}
		if err != nil || block != c.block || unit != c.unit {
			t.Errorf("%s: blocks = %d, %v, %v, want %d, %v", c.name, block, unit, err, c.block, c.unit)
		}
	}
}

func TestTraceErrors(t *testing.T) {
	for line, want := range map[string]string{
		"":    "no requests",
		"[1]": "line 2: a JSON array",
		"{}":  `line 2: want "timestamp"`,
		`{"timestamp": -1, "input_length": 1, "output_length": 1}`:                  `"timestamp" is -1`,
		`{"timestamp": 1, "input_length": 0, "output_length": 1}`:                   `"input_length" is 0`,
		`{"timestamp": 1, "input_length": 1, "output_length": -1}`:                  `"output_length" is -1`,
		`{"timestamp": 1, "input_length": 1, "output_length": 1, "hash_ids": "ab"}`: `"hash_ids" is a JSON string`,
		`{"timestamp": 1, "input_length"`:                                           "line 2: unexpected end",
	} {
		_, err := Build(t.Context(), Spec{Kind: "trace", Path: writeFile(t, "\n"+line), N: 1}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("trace %q: %v, want %q", line, err, want)
		}
	}
}

func FuzzTrace(f *testing.F) {
	f.Add(mooncake)
	f.Add(`{"timestamp": 1e300, "input_length": 1, "output_length": 1, "hash_ids": [18446744073709551615]}`)
	f.Fuzz(func(t *testing.T, content string) {
		rows, err := readTrace(t.Context(), strings.NewReader(content), 100, TraceKeys{}.orDefault())
		if err != nil {
			return
		}
		for i, row := range rows {
			if row.input < 1 || row.output < 1 || i > 0 && row.at < rows[i-1].at {
				t.Fatalf("accepted row %d of %+v", i, rows)
			}
		}
	})
}

const burst = `Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,GPT-4,1087,230,1317,Conversation log
118,GPT-4,417,276,693,Conversation log
185,GPT-4,1360,0,1360,Conversation log
200.5,GPT-4,20,2,22,API log
`

func TestBurstGPT(t *testing.T) {
	spec := Spec{Kind: "burstgpt", Path: writeFile(t, burst), N: 3, TokenIDs: true, VocabSize: 1000}
	set := build(t, spec, nil)
	var got []string
	for _, p := range set.Prompts {
		got = append(got, fmt.Sprint(len(p.TokenIDs), p.TokenIDs[0], p.OutputTokens, *p.At))
	}
	if want := []string{"1087 0 230 0", "417 1 276 73", "20 2 2 155.5"}; !slices.Equal(got, want) {
		t.Errorf("trace in order: %q, want %q", got, want)
	}
	spec.Compat = CompatVLLM
	for i, p := range build(t, spec, vocabulary{size: 1000}).Prompts {
		if p.At != nil {
			t.Errorf("as vLLM: prompt %d has a time", i)
		}
	}
	spec.Compat, spec.TokenIDs, spec.VocabSize = "", false, 0
	if p := build(t, spec, numbered{}).Prompts[2]; p.Text[:8] != "t2 t3 t4" || p.InputTokens != 20 {
		t.Errorf("as text: %+v", p)
	}
	if p := build(t, spec, &words{}).Prompts[1]; p.InputTokens != 417 {
		t.Errorf("in words: %d tokens, want 417", p.InputTokens)
	}
	spec.Subset, spec.N = "ChatGPT", 4
	set, err := Build(t.Context(), spec, nil)
	if err != nil || len(set.Prompts) != 1 || !noteWith(set, "1 usable rows, 4 were asked") {
		t.Errorf("model ChatGPT: %v, notes %q", err, set.Notes)
	}
}

func TestBurstGPTErrors(t *testing.T) {
	header := "Timestamp,Model,Request tokens,Response tokens\n"
	for content, want := range map[string]string{
		"":                          "the file is empty",
		"Timestamp,Model\n":         `no column "Request tokens" among ["Timestamp" "Model"]`,
		header:                      `no row of model "GPT-4"`,
		header + "1,GPT-4,5,0\n":    `no row of model "GPT-4"`,
		header + "x,GPT-4,5,1\n":    `line 2: Timestamp is "x"`,
		header + "1,GPT-4,-5,1\n":   `Request tokens is "-5"`,
		header + "1,GPT-4,5,1e99\n": `Response tokens is "1e99"`,
		header + "1,GPT-4,5\n":      "wrong number of fields",
		header + "1,\"GPT-4,5,1\n":  "extraneous or missing",
		header + "NaN,GPT-4,5,1\n":  `Timestamp is "NaN"`,
	} {
		_, err := Build(t.Context(), Spec{Kind: "burstgpt", Path: writeFile(t, content), N: 1}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("trace %q: %v, want %q", content, err, want)
		}
	}
}

func FuzzBurst(f *testing.F) {
	f.Add(burst)
	f.Fuzz(func(t *testing.T, content string) {
		rows, err := readBurst(t.Context(), strings.NewReader(content), burstModel, 50)
		if err != nil {
			return
		}
		if len(rows) == 0 || len(rows) > 50 {
			t.Fatalf("%d rows", len(rows))
		}
		for _, row := range rows {
			if row.output < 1 || row.input < 0 || !(row.at >= 0) {
				t.Fatalf("accepted %+v", row)
			}
		}
	})
}

// TestTraceKeys: the rows may name their fields otherwise.
func TestTraceKeys(t *testing.T) {
	t.Parallel()
	keys := TraceKeys{Timestamp: "t", InputLength: "in"}.orDefault()
	row, err := keys.row([]byte(`{"t":1.5,"in":7,"output_length":3,"hash_ids":[4],"timestamp":"x"}`))
	if err != nil || row.at != 1.5 || row.input != 7 || row.output != 3 || len(row.hashes) != 1 {
		t.Errorf("row = %+v, %v", row, err)
	}
	if _, err := keys.row([]byte(`{"timestamp":1,"in":7,"output_length":3}`)); err == nil ||
		!strings.Contains(err.Error(), `want "t", "in" and "output_length"`) {
		t.Errorf("err = %v, want the missing key", err)
	}
}
