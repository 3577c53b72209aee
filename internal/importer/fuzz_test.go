package importer

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/internal/importer/commands"
	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/internal/importer/plain"
)

func seedWith(f *testing.F, patterns ...string) {
	f.Helper()
	const most = 6000
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data[:min(len(data), most)])
			f.Add(data[max(0, len(data)-most):])
		}
	}
}

// lost are the numerals of a text that are nowhere in what was read of it, line
// by line. Lines are left out whose text is another in the end: with escapes,
// carriage returns, JSON, and titles of a block's parts. What a log puts before the
// lines of a block is not part of them.
func lost(text []byte, got *Imported) []string {
	at := map[int][]string{}
	put := func(line int, text string) { at[line] = append(at[line], numeral.FindAllString(text, -1)...) }
	for _, l := range got.Files[0].Lines {
		put(l.Line, l.Text)
	}
	for _, s := range got.Steps {
		for _, v := range s.Result.Imported.Stated {
			put(v.Line, v.Label+" "+v.Text)
		}
	}
	var lines []plain.Line
	for i, line := range strings.Split(string(text), "\n") {
		lines = append(lines, plain.Line{No: i + 1, Text: withoutQuote(line)})
	}
	withoutPrefixes(lines)

	var missing []string
	for i, l := range lines {
		line := l.Text
		if strings.ContainsAny(line, "\r\x1b") || strings.HasPrefix(strings.TrimSpace(line), "{") ||
			isPart(strings.Trim(strings.TrimSpace(line), "-# ")) || len(line) > plain.MaxText {
			continue
		}
		left := slices.Clone(at[i+1])
		for _, n := range numeral.FindAllString(line, -1) {
			found := slices.Index(left, n)
			if found < 0 {
				missing = append(missing, n+" of "+line)
				continue
			}
			left = slices.Delete(left, found, found+1)
		}
	}
	return missing
}

func FuzzText(f *testing.F) {
	seedWith(f, "testdata/*.txt", "testdata/*.md", "testdata/documents/*")
	f.Fuzz(func(t *testing.T, data []byte) {
		text, _ := plain.Decode(data)
		const most = 1 << 14
		if len(text) > most || bytes.Count(text, []byte("\n")) > 1000 || strings.ContainsFunc(string(text),
			func(r rune) bool { return r < ' ' && r != '\n' || r > '~' }) {
			return
		}
		got, err := Import([]Source{{"fuzz", text}}, Options{Format: formatText})
		if err != nil {
			return
		}
		if missing := lost(text, got); missing != nil {
			t.Errorf("lost: %q", missing)
		}
		whole(t, got)
	})
}

// whole checks what every import must be.
func whole(t *testing.T, got *Imported) {
	t.Helper()
	ids := map[string]bool{}
	for _, s := range got.Steps {
		r := s.Result
		if ids[strings.ToLower(r.Step.ID)] || r.Step.ID != filepath.Base(r.Step.ID) || r.Step.Variant == "" ||
			r.Step.Point == "" || r.Verdict == "" || len(r.Warnings) == 0 {
			t.Errorf("step %+v, verdict %q", r.Step, r.Verdict)
		}
		ids[strings.ToLower(r.Step.ID)] = true
		if _, err := r.MarshalJSON(); err != nil {
			t.Errorf("%s: %v", r.Step.ID, err)
		}
	}
	for _, run := range got.Runs(Naming{Name: "fuzz"}, Options{}) {
		if len(run.Manifest.Planned) != len(run.Steps) || run.Manifest.Run != filepath.Base(run.Manifest.Run) {
			t.Errorf("run %q: %d planned, %d steps", run.Manifest.Run, len(run.Manifest.Planned), len(run.Steps))
		}
	}
}

// FuzzFile takes any bytes as any format.
func FuzzFile(f *testing.F) {
	seedWith(f, "testdata/*.jsonl", "testdata/llama-bench.*", "../../results/testdata/result-measured.json",
		"../../report/testdata/ok.csv")
	f.Add([]byte(
		`{"duration": 1, "completed": 2, "completed": 1, "mean_ttft_ms": NaN, "ttfts": [0.1], "itls": [[0.1]], "output_lens": [2], "start_times": [5], "errors": [""]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, format := range append(Formats(), "") {
			got, err := Import([]Source{{"fuzz.json", data}}, Options{Format: format})
			if err == nil {
				whole(t, got)
			}
		}
	})
}

func FuzzCommand(f *testing.F) {
	for _, text := range []string{
		`(venv) user@host:~/x$ A=1 vllm serve -tp 8 "a b" --x=1 # note`,
		`Namespace(a=1, b='x, y', c={'d': (1, 2)}, e=<f at 0x1>)`, `docker run --rm x vllm serve 'y`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, ok := commands.In(text); ok && len(c.Argv) == 0 {
			t.Error("a command without a program")
		}
		for _, pair := range commands.Namespace(text) {
			if strings.Contains(pair[0], "=") {
				t.Errorf("name %q", pair[0])
			}
		}
		if target, ok := labels.Of(text, true); ok && target.As() == "" {
			t.Errorf("label %q means nothing", text)
		}
	})
}
