package dataset

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// words is a tokenizer that counts one token per word.
type words struct{ calls int }

func (w *words) Encode(ctx context.Context, text string, _ bool) ([]int, error) {
	w.calls++
	return make([]int, len(strings.Fields(text))), ctx.Err()
}

// numbered is the tokenizer of vLLM's vectors: one token a word, none special,
// token n of 32000 is written "tn".
type numbered struct{ added int }

func (n numbered) Encode(_ context.Context, text string, special bool) ([]int, error) {
	var ids []int
	for word := range strings.FieldsSeq(text) {
		id, err := strconv.Atoi(strings.TrimPrefix(word, "t"))
		if err != nil {
			id = len(word)
		}
		ids = append(ids, id)
	}
	if special {
		ids = append(ids, make([]int, n.added)...)
	}
	return ids, nil
}

func (n numbered) Decode(_ context.Context, ids []int) (string, error) {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = "t" + strconv.Itoa(id)
	}
	return strings.Join(words, " "), nil
}

func (numbered) VocabSize() int      { return 32000 }
func (numbered) SpecialIDs() []int   { return nil }
func (n numbered) SpecialAdded() int { return n.added }

// pieces is a tokenizer with a start token that splits words longer than size.
type pieces struct{ size int }

func (p pieces) Encode(_ context.Context, text string, _ bool) ([]int, error) {
	n := 1
	for word := range strings.FieldsSeq(text) {
		n += (len(word) + p.size - 1) / p.size
	}
	return make([]int, n), nil
}

var errTokenizer = errors.New("tokenize: 503")

type broken struct{}

func (broken) Encode(context.Context, string, bool) ([]int, error) { return nil, errTokenizer }

func loadJSON(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func loadJSONGz(t *testing.T, name string, into any) {
	t.Helper()
	if err := json.Unmarshal(unpack(t, name), into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// synthetic unpacks the ShareGPT file.
func synthetic(t *testing.T) []byte { return unpack(t, "sharegpt-synthetic.json.gz") }

func unpack(t *testing.T, name string) []byte {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func unpackFile(t *testing.T, name string) string { return writeFile(t, string(unpack(t, name))) }

func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prompts")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func build(t *testing.T, spec Spec, tok Tokenizer) *Set {
	t.Helper()
	set, err := Build(t.Context(), spec, tok)
	if err != nil {
		t.Fatalf("Build(%+v): %v", spec, err)
	}
	if len(set.Prompts) != spec.N {
		t.Fatalf("Build(%+v): %d prompts, want %d", spec, len(set.Prompts), spec.N)
	}
	return set
}

func noteWith(set *Set, part string) bool {
	return strings.Contains(strings.Join(set.Notes, "\n"), part)
}
