package text

import (
	"strings"
	"testing"
)

func TestTerminal(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"failed: \x1b]0;title\x07\x1b[2Jwords\n":          "failed: words\n",
		"\r\x1b[Kown line \x1b[31mred\x1b[0m":             "\r\x1b[Kown line \x1b[31mred\x1b[0m",
		"\x1b[3A\x1b[Jown lines\n":                        "\x1b[3A\x1b[Jown lines\n",
		"first: \x1b[3A\x1b[J\rover it\n":                 "first: over it\n",
		"c1 \u009b31m, bidi \u202e, bell \x07, zero \x00": "c1 , bidi , bell , zero ",
		"a\x1b[8mhidden\x1b[40m":                          "ahidden",
		"\ta\r\n":                                         "\ta\n",
		"half a character: \xe6\xbc":                      "half a character: \xe6\xbc", // the next write has the rest
	} {
		var out strings.Builder
		if n, err := (Terminal{&out}).Write([]byte(in)); err != nil || n != len(in) {
			t.Errorf("Write(%q) = %d, %v", in, n, err)
		}
		if out.String() != want {
			t.Errorf("%q is shown as %q, want %q", in, out.String(), want)
		}
	}
}

func TestWithoutCommands(t *testing.T) {
	t.Parallel()
	const in = "a\x1b[1;33mb\x1b[0m\x1b]0;t\x07\u202ec\td\n"
	if got, want := WithoutCommands(in), "abc\td\n"; got != want {
		t.Errorf("WithoutCommands() = %q, want %q", got, want)
	}
	if got, want := OnlyColours(in), "a\x1b[1;33mb\x1b[0mc\td\n"; got != want {
		t.Errorf("OnlyColours() = %q, want %q", got, want)
	}
}
