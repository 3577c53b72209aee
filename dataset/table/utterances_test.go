package table

import (
	"fmt"
	"testing"
)

func TestExchanges(t *testing.T) {
	for _, c := range []struct {
		name string
		said []Utterance
		want string
	}{
		{"none", nil, "[]"},
		{"no roles", []Utterance{{"", "a"}, {"", "b"}, {"", "c"}}, "[{a b} {c }]"},
		{"scene first", []Utterance{{"system", "s"}, {"user", "a"}, {"assistant", "b"}}, "[{a b}]"},
		{"two in a row", []Utterance{{"human", "a"}, {"human", "b"}, {"gpt", "c"}}, "[{a } {b c}]"},
		{"tool between", []Utterance{{"user", "a"}, {"tool", "t"}, {"assistant", "b"}}, "[{a }]"},
		{"nothing asked", []Utterance{{"user", ""}, {"assistant", "b"}}, "[]"},
		{"only answers", []Utterance{{"gpt", "b"}}, "[]"},
	} {
		if got := fmt.Sprint(Exchanges(c.said)); got != c.want {
			t.Errorf("%s: exchanges = %s, want %s", c.name, got, c.want)
		}
	}
}
