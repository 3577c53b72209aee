package text

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestCommandsGoThroughAShell(t *testing.T) {
	words := []string{
		"plain", "", "a b", "it's", `back\slash`, "$HOME `id` \"x\"", "line\nend\n", "tab\t\x1b[31m",
		"naïve", "100%", "{\"a\": 1}",
	}
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, QuoteForShell(w))
	}
	line := strings.Join(quoted, " ")
	if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		t.Errorf("the command %q holds control characters", line)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash to try the quoting with")
	}
	out, err := exec.CommandContext(t.Context(), bash, "-c", `printf '%s\0' `+line).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, words) {
		t.Errorf("bash reads %q, want %q", got, words)
	}
}
