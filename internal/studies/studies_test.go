package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const page = "# A study\n\n" +
	"```sh run\nbench run a.yaml --sim \\\n  --set 'load={a: b c}'   # a comment\n```\n\n" +
	"<!-- show --table x -->\nold\n<!-- end -->\n" +
	"```sh run llama.cpp\nbench run real.yaml\n```\n" +
	"<!-- show --step y -->\nkept\n<!-- end -->\ntail\n"

func TestRewrite(t *testing.T) {
	var asked []string
	got, err := rewrite(page, func(c command) (string, error) {
		asked = append(asked, strings.Join(c.words, "|"))
		if c.real {
			return "", errSkipped
		}
		return "fresh\n", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(page, "old", "\nfresh\n", 1); got != want {
		t.Errorf("rewrite = %q, want %q", got, want)
	}
	want := []string{"bench|run|a.yaml|--sim|--set|load={a: b c}", "--table|x", "bench|run|real.yaml", "--step|y"}
	if !slices.Equal(asked, want) {
		t.Errorf("rewrite asked for %q, want %q", asked, want)
	}
	again, err := rewrite(got, func(c command) (string, error) {
		return map[bool]string{true: "fresh"}[c.show && !c.real], skipReal(c)
	})
	if err != nil || again != got {
		t.Errorf("rewrite is not stable: %v\n%s", err, again)
	}
}

func skipReal(c command) error {
	if c.real {
		return errSkipped
	}
	return nil
}

func TestRewriteErrors(t *testing.T) {
	if _, err := rewrite("<!-- show x -->\n", func(command) (string, error) { return "", nil }); err == nil {
		t.Error("rewrite of a place without an end = nil, want an error")
	}
	broken := errors.New("broken")
	if _, err := rewrite(page, func(command) (string, error) { return "", broken }); !errors.Is(err, broken) {
		t.Errorf("rewrite = %v, want the error of the command", err)
	}
}

func TestDifference(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		differs    bool
	}{
		{"figures", "| a | 1.5 | **20,3** |", "| a | ~12.25 | 7 |", false},
		{
			"corrected verdicts", "| x | +1 % | better |",
			"| x | -3 % | cannot tell (p 0.08 after correction): 4 more repeats would decide it |", false,
		},
		{"verdicts", "| x | +1 % | better |", "| x | -3 % | cannot tell: 4 more repeats would tell |", false},
		{"widths", "| --- | --:|", "| - | -:|", false},
		{"remarks", "| a |\n- repeat 3: suspect", "| a |", false},
		{
			"words of a failure", "x has no figures: failed: engine-died: log says 1",
			"x has no figures: failed: engine-died: reset by peer", false,
		},
		{"class of a failure", "failed: engine-died: log says 1", "failed: out-of-memory: log says 1", true},
		{"a figure that is not known", "| a | 1.5 | +1 to +2 % |", "| a | - | - |", false},
		{"a wider table", "x   1\n─────\n", "x  11.5\n───────\n", false},
		{"a column less", "| a | 1.5 | 2 |", "| a | 1.5 |", true},
		{"a row more", "| a | 1 |", "| a | 1 |\n| b | 2 |", true},
		{"another name", "| tp8 | 1 |", "| tp-eight | 1 |", true},
	} {
		if got := difference(c.a, c.b); (got != "") != c.differs {
			t.Errorf("%s: difference = %q, want some: %v", c.name, got, c.differs)
		}
	}
}

// Every page shows tables of commands that name a scenario that is there.
func TestPages(t *testing.T) {
	paths, err := filepath.Glob("../../docs/studies/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = rewrite(string(text), func(c command) (string, error) {
			if c.show || len(c.words) < 3 || c.words[1] != "run" {
				return "", errSkipped
			}
			_, err := os.Stat(filepath.Join("../..", c.words[2]))
			return "", err
		})
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// All of a difference is shown, not its first line alone, and nothing of what is
// equal.
func TestWholeDifference(t *testing.T) {
	old := "# A\n| a | 1 |\n| b | 2 |\nsame\nold end\n"
	fresh := "# A\n| a | 3 |\n| c | 2 |\nsame\nnew end\nmore\n"
	want := "  checked in: |b|N|\n  fresh:      |c|N|\n  checked in: old end\n  fresh:      new end\n" +
		"  fresh:      more"
	if got := difference(old, fresh); got != want {
		t.Errorf("difference:\n%s\nwant:\n%s", got, want)
	}
}

func TestLastPart(t *testing.T) {
	t.Parallel()
	const mark = "SIMULATED: these figures come from bench's simulator"
	for out, want := range map[string]string{
		"":                                 "",
		"one":                              "one",
		"a block\n\n" + "a  table\n1  2\n": "a  table\n1  2",
		"a block\n\n" + mark + "\n\na  table\n1  2\n": mark + "\n\na  table\n1  2",
	} {
		if got := lastPart(out); got != want {
			t.Errorf("lastPart(%q) = %q, want %q", out, got, want)
		}
	}
}
