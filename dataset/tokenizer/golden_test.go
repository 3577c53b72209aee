package tokenizer

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// goldenLine is what a tokenizer in testdata makes of a text.
type goldenLine struct {
	Text    string `json:"text"`
	IDs     []int  `json:"ids"`
	Decoded string `json:"decoded"`
}

func loadTest(t testing.TB, name string) *Tokenizer {
	t.Helper()
	tok, err := Load(testFile(name))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// TestGolden pins ids. TestOracle checks the same files with other
// implementations; run it after -update.
func TestGolden(t *testing.T) {
	for name := range testFiles() {
		tok := loadTest(t, name)
		path := filepath.Join("testdata", "golden", name+".json")
		if *update {
			writeGolden(t, tok, path)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var lines []goldenLine
		if err := json.Unmarshal(data, &lines); err != nil || len(lines) == 0 {
			t.Fatalf("%s: %d lines, %v", path, len(lines), err)
		}
		for _, l := range lines {
			got, err := tok.Encode(l.Text, false)
			if err != nil || !slices.Equal(got, l.IDs) {
				t.Errorf("%s: Encode(%q) = %v, %v; want %v", name, l.Text, got, err, l.IDs)
			}
			if back, err := tok.Decode(l.IDs, false); err != nil || back != l.Decoded {
				t.Errorf("%s: Decode(%v) = %q, %v; want %q", name, l.IDs, back, err, l.Decoded)
			}
		}
	}
}

func writeGolden(t *testing.T, tok *Tokenizer, path string) {
	t.Helper()
	var lines []goldenLine
	for _, text := range goldenTexts() {
		ids, err := tok.Encode(text, false)
		if err != nil {
			t.Fatal(err)
		}
		back, err := tok.Decode(ids, false)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, goldenLine{text, ids, back})
	}
	data, err := json.MarshalIndent(lines, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
}

// goldenTexts are hostile texts of moderate length and some for the added
// tokens of testdata.
func goldenTexts() []string {
	short := slices.DeleteFunc(hostileTexts(), func(s string) bool { return len(s) > 90 })
	return append(short, addedTexts()...)
}

func addedTexts() []string {
	return []string{
		"a <l> b <r> c", "a  \n<l>\t b", "a<r>  \n b", " <both> <both> ", "<l><r>", "word", "words", "a word.",
		"sword word", "_word", "word\u0301 word", "wordword word",
		"<|begin|>x<|end|>", "<|end|><|end|><|end|>", "<|end|> <|end|>", "<think>\n", "to ken", "a to ken b", " to ken",
		"</s></s>", "x </s>",
		"İt", "it i̇t", "ＦＵＬＬ full FULL", "fullfull", "e-e.e,,e1e22-", "-", "--a--", "..a", "a1", "11ee",
	}
}
