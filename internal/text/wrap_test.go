package text

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		line  string
		width int
		want  string
	}{
		{"short", 20, "short"},
		{"exactly twenty chars", 20, "exactly twenty chars"},
		{"a line that is longer than twenty columns", 20, "a line that is\n  longer than twenty\n  columns"},
		{"    indented and longer than that", 24, "    indented and longer\n      than that"},
		{"  c1      4 prompts at once", 20, "  c1      4 prompts\n    at once"},
		{"/a/path/that/is/wider/than/all and more", 20, "/a/path/that/is/wider/than/all\n  and more"},
		{"±± ±± ±± ±± ±± ±± ±±", 20, "±± ±± ±± ±± ±± ±± ±±"},
		{"a line that is longer than ten", 10, "a line that is longer than ten"},
	} {
		if got := wrap(tt.line, tt.width); got != tt.want {
			t.Errorf("wrap(%q, %d) = %q, want %q", tt.line, tt.width, got, tt.want)
		}
	}
}

func TestWrapperKeepsWhatIsLaidOut(t *testing.T) {
	long := strings.Repeat("word ", 30)
	for _, tt := range []struct {
		name, written string
		width         int
		wraps         bool
	}{
		{"a message", long + "\n", 40, true},
		{"two messages", "short\n" + long + "\n", 40, true},
		{"no terminal", long + "\n", 0, false},
		{"a line that is written over", "\r" + long, 40, false},
		{"colours", "\x1b[1m" + long + "\x1b[0m\n", 40, false},
	} {
		var out bytes.Buffer
		n, err := fmt.Fprint(Wrapper{W: &out, Width: func() int { return tt.width }}, tt.written)
		if err != nil || n != len(tt.written) {
			t.Errorf("%s: wrote %d, %v", tt.name, n, err)
		}
		if !tt.wraps && out.String() != tt.written {
			t.Errorf("%s: %q, want it as written", tt.name, out.String())
		}
		for line := range strings.Lines(out.String()) {
			if got := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); tt.wraps && got > tt.width {
				t.Errorf("%s: a line of %d columns: %q", tt.name, got, line)
			}
		}
	}
}

func TestWrapCommand(t *testing.T) {
	got := WrapCommand("  A='b  c' serve some/model --port 8000 --json '{\"a\": 1}'   # GPUs 0,1", 24)
	want := "  A='b  c' serve \\\n      some/model \\\n      --port 8000 \\\n      --json '{\"a\": 1}'   # GPUs 0,1"
	if got != want {
		t.Errorf("wrapped as\n%s\nwant\n%s", got, want)
	}
	if got := WrapCommand("  serve m", 24); got != "  serve m" {
		t.Errorf("a short command becomes %q", got)
	}
}
