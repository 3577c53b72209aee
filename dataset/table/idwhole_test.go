package table

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Token ids in the forms of pandas' to_json, and a packed pickle.
func TestIDsReadAsAWhole(t *testing.T) {
	packed := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
		return b.String()
	}
	pickles, err := filepath.Glob("../pickle/testdata/*.pkl")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, file, content, want string }{
		{"rows", "a.json", `[{"tok_inputs": [1, 2]}, {"tok_inputs": [3]}]`, "[[1 2] [3]]"},
		{"columns", "a.json", `{"tok_inputs": {"1": [3], "0": [1, 2]}, "other": {"0": 1}}`, "[[1 2] [3]]"},
		{"no column", "a.json", `{"other": {"0": [1]}}`, `no column "tok_inputs"`},
		{"rows of other names", "a.json", `{"tok_inputs": {"0": [1], "2": [2]}}`, "not numbered from 0"},
		{"text in a row", "a.json", `[{"tok_inputs": "abc"}]`, "row 1"},
		{"no JSON", "a.json", `abc`, "want a list of rows"},
		{"not packed", "a.pkl.gz", "abc", "unpack"},
		{"packed, but no pickle", "a.pkl.gz", packed("abc"), "pickle"},
		{"another packed form", "a.csv.gz", "", `ends in ".csv.gz"`},
	} {
		path := filepath.Join(t.TempDir(), tt.file)
		if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := idsOf(t, path); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %q", tt.name, got, tt.want)
		}
	}

	for _, plain := range pickles {
		content, err := os.ReadFile(plain)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "x.pkl.gz")
		if err := os.WriteFile(path, []byte(packed(string(content))), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, want := idsOf(t, path), idsOf(t, plain); got != want {
			t.Errorf("%s packed: %.200s, want %.200s", plain, got, want)
		}
	}
}

func idsOf(t *testing.T, path string) string {
	t.Helper()
	table, err := OpenIDs(t.Context(), path, "tok_inputs")
	if err != nil {
		return err.Error()
	}
	defer func() { _ = table.Close() }()
	picked := make([]int, table.Rows())
	for i := range picked {
		picked[i] = i
	}
	ids, err := table.IDs(t.Context(), picked)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(ids)
}
