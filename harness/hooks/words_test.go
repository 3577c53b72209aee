package hooks

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzLastLines(f *testing.F) {
	f.Add("one\ntwo\r\n\x1b[31mred\x1b[0m")
	f.Add("\xff\xfe\x00" + strings.Repeat("ä", 500))
	f.Fuzz(func(t *testing.T, text string) {
		got := lastLines(text)
		lines := strings.Split(got, "\n")
		if len(lines) > keptLines || !utf8.ValidString(got) || strings.ContainsAny(got, "\x00\x1b\r\t") {
			t.Fatalf("lastLines(%q) = %q, want at most %d printable lines", text, got, keptLines)
		}
		for _, line := range lines {
			if utf8.RuneCountInString(line) > keptWidth+3 || got != "" && line == "" {
				t.Fatalf("lastLines(%q) has line %q", text, line)
			}
		}
	})
}
