package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// Layouts of token ids in parquet files.
type (
	idsWide struct {
		N         int64   `parquet:"n"`
		TokInputs []int64 `parquet:"tok_inputs,list"`
	}
	idsNarrow struct {
		TokInputs []int32 `parquet:"tok_inputs"`
	}
	idsOptional struct {
		Other []*int64 `parquet:"other,list,optional"`
	}
	idsNested struct {
		TokInputs [][]int64 `parquet:"tok_inputs,list"`
	}
)

// named writes a file whose name ends as given.
func named(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// idRows are 10 prompts of 1 to 10 ids.
func idRows() [][]int {
	rows := make([][]int, 10)
	for i := range rows {
		for k := range i + 1 {
			rows[i] = append(rows[i], 1000*i+k)
		}
	}
	return rows
}

func idLinesOf(t *testing.T, bare bool) []byte {
	t.Helper()
	var out bytes.Buffer
	for i, row := range idRows() {
		var line any = map[string]any{"id": i, "tok_inputs": row}
		if bare {
			line = row
		}
		if err := json.NewEncoder(&out).Encode(line); err != nil {
			t.Fatal(err)
		}
		out.WriteString("\n") // blank lines are nothing
	}
	return out.Bytes()
}

func idFiles(t *testing.T) []string {
	var wide []idsWide
	var narrow []idsNarrow
	for i, row := range idRows() {
		w, n := idsWide{N: int64(i)}, idsNarrow{}
		for _, id := range row {
			w.TokInputs, n.TokInputs = append(w.TokInputs, int64(id)), append(n.TokInputs, int32(id))
		}
		wide, narrow = append(wide, w), append(narrow, n)
	}
	return []string{
		named(t, "objects.jsonl", idLinesOf(t, false)),
		named(t, "lists.JSONL", append([]byte("\uFEFF"), idLinesOf(t, true)...)),
		named(t, "wide.parquet", parquetBytes(t, wide, parquet.MaxRowsPerRowGroup(3))),
		named(t, "narrow.parquet", parquetBytes(t, narrow, parquet.Compression(&parquet.Snappy))),
	}
}

func TestTokInputs(t *testing.T) {
	for _, path := range idFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			set := build(t, Spec{Kind: "tok_inputs", Path: path, N: 4, OutputLen: 7, TokenIDs: true}, broken{})
			for i, p := range set.Prompts {
				if want := idRows()[i]; !slices.Equal(p.TokenIDs, want) || p.InputTokens != len(want) ||
					p.OutputTokens != 7 || p.Text != "" {
					t.Errorf("prompt %d = %+v, want the file's first rows, %v", i, p, want)
				}
			}
			if len(set.Notes) > 0 {
				t.Errorf("notes = %q, want none", set.Notes)
			}
			shuffled := build(t, Spec{Kind: "tok_inputs", Path: path, N: 10, OutputLen: 7, Shuffle: true, Seed: 3}, nil)
			seen := map[int]bool{}
			for _, p := range shuffled.Prompts {
				if !slices.Equal(p.TokenIDs, idRows()[len(p.TokenIDs)-1]) {
					t.Errorf("prompt %v is not a row of the file", p.TokenIDs)
				}
				seen[len(p.TokenIDs)] = true
			}
			if len(seen) != 10 || shuffled.SHA256 == build(t, Spec{Kind: "tok_inputs", Path: path, N: 10, OutputLen: 7},
				nil).SHA256 {
				t.Errorf("shuffled rows = %v, want all 10 in another order", seen)
			}
		})
	}
}

// A DataFrame as pandas pickled it: rows of four ids, and another column.
func TestTokInputsOfPandas(t *testing.T) {
	path := filepath.Join("pickle", "testdata", "pandas1.5-only.pkl")
	set := build(t, Spec{Kind: "tok_inputs", Path: path, N: 3, OutputLen: 1}, nil)
	if got := fmt.Sprint(set.Prompts[0].TokenIDs, set.Prompts[2].TokenIDs); got != "[0 1 2 3] [2 3 4 5]" {
		t.Errorf("ids = %s, want those of the DataFrame", got)
	}
	other := filepath.Join("pickle", "testdata", "pandas2.3-other-column.pkl")
	if set := build(t, Spec{Kind: "tok_inputs", Path: other, Field: "ids", N: 1, OutputLen: 1},
		nil); len(set.Prompts[0].TokenIDs) == 0 {
		t.Error("no ids of column ids")
	}
}

func TestTokInputsAreRepeatedOrNot(t *testing.T) {
	path := named(t, "a.jsonl", []byte("[1]\n[2]\n"))
	set := build(t, Spec{Kind: "tok_inputs", Path: path, N: 5, OutputLen: 1}, nil)
	if !noteWith(set, "3 are repeats") {
		t.Errorf("notes = %q, want the repeats", set.Notes)
	}
	fewer, err := Build(t.Context(), Spec{Kind: "tok_inputs", Path: path, N: 5, OutputLen: 1, NoOversample: true}, nil)
	if err != nil || len(fewer.Prompts) != 2 || !noteWith(fewer, "no more are sent") {
		t.Errorf("without repeats: %+v, %v, want 2 prompts", fewer, err)
	}
}

func TestTokInputsAreFrozen(t *testing.T) {
	spec := Spec{Kind: "tok_inputs", Path: idFiles(t)[0], N: 4, OutputLen: 7}
	set := build(t, spec, nil)
	var file bytes.Buffer
	if err := Write(&file, set, Meta{Spec: spec}); err != nil {
		t.Fatal(err)
	}
	back := build(t, Spec{Kind: "frozen", Path: writeFile(t, file.String()), N: 4}, nil)
	if back.SHA256 != set.SHA256 || !slices.Equal(back.Prompts[3].TokenIDs, set.Prompts[3].TokenIDs) {
		t.Errorf("frozen and read back: %s, want %s", back.SHA256, set.SHA256)
	}
}

func TestTokInputsErrors(t *testing.T) {
	one := int64(1)
	for _, c := range []struct {
		name, file, content, field, want string
	}{
		{"no such end of a name", "a.csv", "1", "", `ends in ".csv": want .jsonl, .json, .parquet, .pkl or .pkl.gz`},
		{"empty", "a.jsonl", "\n", "", "has no prompts"},
		{"no JSON", "a.jsonl", "[1]\n[2", "", "row 2: "},
		{"no such column", "a.jsonl", `{"ids": [1], "n": 2}`, "", `row 1: no "tok_inputs"; it has ["ids" "n"]`},
		{"another column", "a.jsonl", `{"tok_inputs": [1]}`, "ids", `no "ids"`},
		{"text", "a.jsonl", `{"tok_inputs": "1 2"}`, "", "row 1: "},
		{"null for a list", "a.jsonl", `{"tok_inputs": null}`, "", "row 1: 0 token ids"},
		{"null for an id", "a.jsonl", `[1, null]`, "", "row 1: token id 2 is null"},
		{"no ids", "a.jsonl", "[]", "", "row 1: 0 token ids"},
		{"part of an id", "a.jsonl", "[1.5]", "", "row 1: "},
		{"negative", "a.jsonl", "[1, -2]", "", "row 1: token id 2 is -2"},
		{"too large", "a.jsonl", "[4294967296]", "", "row 1: token id 1 is 4294967296"},
		{"not parquet", "a.parquet", "PAR2 and so on", "", "not a parquet file"},
		{
			"parquet of other columns", "a.parquet", string(parquetBytes(t, []hfPrompts{{"a", 1}})), "",
			`no column "tok_inputs"; it has prompt, number`,
		},
		{
			"numbers, not lists", "a.parquet", string(parquetBytes(t, []hfPrompts{{"a", 1}})), "number",
			`column "number" contains no lists of whole numbers`,
		},
		{
			"texts", "a.parquet", string(parquetBytes(t, []hfTexts{{[]string{"a"}}})), "texts",
			"no lists of whole numbers",
		},
		{
			"lists of lists", "a.parquet", string(parquetBytes(t, []idsNested{{[][]int64{{1}}}})), "",
			"no lists of whole numbers",
		},
		{
			"null in parquet", "a.parquet", string(parquetBytes(t, []idsOptional{{[]*int64{&one, nil}}})), "other",
			"row 1: a null among the token ids",
		},
		{
			"missing in parquet", "a.parquet", string(parquetBytes(t, []idsOptional{{nil}})), "other",
			"row 1: 0 token ids",
		},
		{"pickle that runs a program", "a.pkl", "cos\nsystem\n(S'true'\ntR.", "", "it names os.system"},
		{"no pickle", "a.pkl", "", "", "ends in the middle"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := named(t, c.file, []byte(c.content))
			_, err := Build(t.Context(), Spec{Kind: "tok_inputs", Path: path, Field: c.field, N: 2, OutputLen: 1}, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), path) != 1 {
				t.Errorf("Build = %v, want %q and the path once", err, c.want)
			}
		})
	}
	if _, err := Build(t.Context(), Spec{Kind: "tok_inputs", Path: "a.jsonl", N: 1}, nil); err == nil ||
		!strings.Contains(err.Error(), "output length 0") {
		t.Errorf("Build without an output length = %v", err)
	}
	path := filepath.Join("pickle", "testdata", "pandas1.5-proto4.pkl")
	if _, err := Build(t.Context(), Spec{Kind: "tok_inputs", Path: path, N: 9, OutputLen: 1}, nil); err == nil ||
		!strings.Contains(err.Error(), "row 2: 0 token ids") {
		t.Errorf("Build of a DataFrame with an empty row = %v", err)
	}
}

// The fixed mode of the two-pass method: every prompt of exactly the length
// asked, ids from 0 to below the vocabulary's size, but for the special ones.
func TestRandomIDsOfFixedLength(t *testing.T) {
	const vocabulary, length = 50, 1000
	set := build(t, Spec{
		Kind: "random", N: 40, InputLen: length, OutputLen: 16, TokenIDs: true, VocabSize: vocabulary,
		Seed: 1,
	}, nil)
	seen := map[int]bool{}
	for i, p := range set.Prompts {
		if len(p.TokenIDs) != length || p.InputTokens != length || p.OutputTokens != 16 || p.Text != "" {
			t.Errorf("prompt %d has %d ids, %d tokens, asks for %d, want %d, %d, 16", i, len(p.TokenIDs), p.InputTokens,
				p.OutputTokens, length, length)
		}
		for _, id := range p.TokenIDs {
			if id < 0 || id >= vocabulary {
				t.Fatalf("prompt %d has id %d, want 0 to %d", i, id, vocabulary-1)
			}
			seen[id] = true
		}
	}
	if want := vocabulary - firstOrdinaryID; len(seen) != want {
		t.Errorf("%d different ids, want the %d that are not special", len(seen), want)
	}
}
