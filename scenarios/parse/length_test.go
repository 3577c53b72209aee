package parse

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/scenarios"
)

func TestInputLenOfTheServer(t *testing.T) {
	parse := func(value string) (*scenarios.Scenario, error) {
		return Source("a.yaml",
			[]byte("schema: 1\nserver: {launcher: simulator}\nload: {output-len: 8, sweep: {input-len: ["+value+
				"]}}\n"), Options{})
	}
	for _, c := range []struct {
		value       string
		maxModelLen int
		want        int
		label       string
		problem     string // of For; "": none
	}{
		{"100", 0, 100, "in100", ""},
		{"max-model-len - 2048", 16384, 14336, "inmax-2048", ""},
		{"max-model-len-1", 2, 1, "inmax-1", ""},
		{"max-model-len - 2048", 2048, 0, "inmax-2048", "max-model-len is 2048"},
		{"max-model-len - 2048", 0, 0, "inmax-2048", "does not say its max-model-len"},
	} {
		s, err := parse(c.value)
		if err != nil || s.Points[0].Label != c.label {
			t.Errorf("input-len %s: label = %v, %v, want %s", c.value, s.Points, err, c.label)
			continue
		}
		l, err := s.Points[0].For(c.maxModelLen)
		if c.problem != "" {
			if err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("input-len %s of %d: %v, want %q", c.value, c.maxModelLen, err, c.problem)
			}
			continue
		}
		if err != nil || l.InputLen != c.want || l.ContextReserve != 0 {
			t.Errorf("input-len %s of %d = %d, %v, want %d", c.value, c.maxModelLen, l.InputLen, err, c.want)
		}
	}
	for _, value := range []string{
		"max-model-len", "max-model-len + 1", "max-model-len - 0",
		"max-model-len - 9999999999", "0", "-5", `"100"`, "model - 5",
	} {
		if _, err := parse(value); err == nil || !strings.Contains(err.Error(),
			"expected a whole number of at least 1, or max-model-len - N") {
			t.Errorf("input-len %s: %v, want an error that says what is expected", value, err)
		}
	}
}
