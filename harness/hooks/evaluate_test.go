package hooks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/scenarios"
)

func TestScoreIn(t *testing.T) {
	for _, c := range []struct {
		data, keys string
		want       float64
		problem    string
	}{
		{"0.75", "", 0.75, ""},
		{" -3\n", "", -3, ""},
		{`{"results": {"gsm8k": {"exact_match,strict-match": 0.61}}}`, "results/gsm8k/exact_match,strict-match", 0.61, ""},
		{`{"tasks": [{"acc": 1}, {"acc": 0.5}]}`, "tasks/1/acc", 0.5, ""},
		{"accuracy 0.5", "", 0, "no score: want a number or JSON"},
		{"", "", 0, "no score: want a number or JSON"},
		{"{}", "", 0, `no score: "" is not a number`},
		{`{"a": {"b": 1}}`, "a/c", 0, "no score: the JSON has no a > c"},
		{`{"a": "0.5"}`, "a", 0, `no score: "a" is not a number`},
		{`{"a": 1}`, "a/b", 0, "no score: there is nothing below a"},
		{`[1]`, "1", 0, "no score: 1 is not one of the 1 items of a list"},
		{`[1]`, "x", 0, "no score: x is not one of the 1 items of a list"},
		{"1e999", "", 0, "no score: want a number or JSON"},
		{"NaN", "", 0, "no score: want a number or JSON"},
	} {
		var keys []string
		if c.keys != "" {
			keys = strings.Split(c.keys, "/")
		}
		got, err := scoreIn([]byte(c.data), keys)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if got != c.want || said != c.problem {
			t.Errorf("scoreIn(%q, %q) = %v, %q; want %v, %q", c.data, keys, got, said, c.want, c.problem)
		}
	}
}

func TestEvaluate(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		file   string
		keys   []string
		limit  time.Duration
		want   float64
		fails  string
	}{
		"the last line": {script: "echo working; echo 0.5; echo", want: 0.5},
		"JSON in it":    {script: `echo "{\"acc\": 0.25}"`, keys: []string{"acc"}, want: 0.25},
		"its variables": {script: `test "$BENCH_MODEL" = m && echo 1`, want: 1},
		"a file": {
			script: `cd "$BENCH_EVALUATION_DIR"; mkdir m; echo 7 > m/results_1.json`, file: "*/results_*.json", want: 7,
		},
		"the newest file": {
			script: `cd "$BENCH_EVALUATION_DIR"; echo 1 > b.json; echo 2 > a.json; touch -d 2001-01-01 b.json`,
			file:   "*.json", want: 2,
		},
		"a failure": {script: "echo 0.5; echo key-of-mine; exit 3", fails: "exit status 3: 0.5\n***"},
		"no score":  {script: "echo done", fails: "no score: want a number or JSON: done"},
		"no file": {
			script: "echo 1", file: "x.json",
			fails: "the command wrote no file x.json into BENCH_EVALUATION_DIR: 1",
		},
		"a folder": {script: `mkdir "$BENCH_EVALUATION_DIR/x.json"`, file: "x.json", fails: "folder"},
		"over its limit": {
			script: "sleep 600 & sleep 600", limit: 50 * time.Millisecond,
			fails: "killed after its time limit of 50ms",
		},
		"much of an output": {
			script: `i=0; while [ $i -lt 3000 ]; do echo 1234567890; i=$((i+1)); done; echo 9`, want: 9,
		},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			t.Setenv("TMPDIR", parent)
			r := &Runner{
				Environ: os.Environ(),
				Redact:  func(s string) string { return strings.ReplaceAll(s, "key-of-mine", "***") },
			}
			e := scenarios.Evaluation{
				Name: "n", Command: []string{"sh", "-c", c.script}, File: c.file, Score: c.keys, Min: new(0.5),
				Timeout: max(c.limit, time.Nanosecond),
			}
			if c.limit == 0 {
				e.Timeout = time.Minute
			}

			got := r.Evaluate(t.Context(), e, map[string]string{"BENCH_MODEL": "m"})
			switch {
			case c.fails != "" && (got.Score != nil || !strings.Contains(got.Problem, c.fails)):
				t.Errorf("score %v, problem %q; want %q", got.Score, got.Problem, c.fails)
			case c.fails == "" && (got.Score == nil || *got.Score != c.want || got.Problem != ""):
				t.Errorf("score %v, problem %q; want %v", got.Score, got.Problem, c.want)
			}
			if got.Missed() != (got.Score == nil || *got.Score < 0.5) {
				t.Errorf("missed is %v at score %v", got.Missed(), got.Score)
			}
			if left, _ := filepath.Glob(filepath.Join(parent, "*")); len(left) > 0 {
				t.Errorf("left behind: %s", left)
			}
		})
	}
}

// A folder for temporary files may have any name.
func TestNewestInAnyFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "x[1]*")
	if err := os.MkdirAll(filepath.Join(dir, "model"), 0o700); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(dir, "model", "results_1.json")
	if err := os.WriteFile(want, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*/results_*.json", "./model/results_1.json"} {
		if got, err := newest(dir, pattern); got != want || err != nil {
			t.Errorf("newest(%q) = %q, %v, want %q", pattern, got, err, want)
		}
	}
}
