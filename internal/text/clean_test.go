package text

import "testing"

func TestCleanTakesOutWhatTerminalsObey(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"colour", "\x1b[31mred\x1b[0m", "red"},
		{"title, ended by a bell", "a\x1b]0;owned\x07b", "ab"},
		{"title, ended by a string terminator", "a\x1b]0;owned\x1b\\b", "ab"},
		{"title without an end", "a\x1b]0;owned", "a"},
		{"link", "\x1b]8;;https://example.com\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"device control", "a\x1bPq#0\x1b\\b", "ab"},
		{"two bytes", "a\x1bcb", "ab"},
		{"character set", "a\x1b(0b", "ab"},
		{"C1 control", "a\u009b31mb", "ab"},
		{"lone escape", "a\x1b", "a"},
		{"control characters", "bell\a tab\tend\r\nnext", "bell  tab end  next"},
		{"right to left override", "a\u202eb", "a b"},
		{"invalid UTF-8", "a\xffb", "a\uFFFDb"},
		{"blanks around", "  a  ", "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Clean(tt.in); got != tt.want {
				t.Errorf("Clean(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestFewCountsTheRest(t *testing.T) {
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{nil, ""},
		{[]string{"a"}, "a"},
		{[]string{"a", "b", "c", "d"}, "a, b, c, d"},
		{[]string{"a", "b", "c", "d", "e", "f"}, "a, b, c, d and 2 more"},
	} {
		if got := Few(tt.names); got != tt.want {
			t.Errorf("Few(%q) = %q, want %q", tt.names, got, tt.want)
		}
	}
}
