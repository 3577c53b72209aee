package exact_test

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/dataset/exact"
)

func TestQuestions(t *testing.T) {
	all := exact.Questions()
	seen := map[string]bool{}
	for _, q := range all {
		if seen[q.Ask] || q.Want == "" || strings.Contains(q.Prompt(), "A: "+q.Want+"\n\nQ: "+q.Ask) {
			t.Errorf("question %q: asked twice, without answer, or answered by its prompt", q.Ask)
		}
		seen[q.Ask] = true
		if found, ok := exact.Find("before" + q.Prompt() + " after"); !ok || found != q {
			t.Errorf("Find of %q = %+v, %v", q.Ask, found, ok)
		}
	}
	if len(all) != 50 {
		t.Errorf("%d questions, want 50", len(all))
	}
	if _, ok := exact.Find("no question"); ok {
		t.Error("found a question in a prompt that holds none")
	}
}

func TestRight(t *testing.T) {
	q := exact.Question{Ask: "Sort ascending: 9 2 5", Want: "2 5 9"}
	for answer, want := range map[string]bool{
		"2 5 9": true, " 2  5 9.\n\nQ: next": true, "\nA: 2 5 9": true, "2 5 9 9": false, "": false, "9 5 2": false,
		"The answer is 2 5 9": false, "2, 5, 9": false,
	} {
		if got := q.Right(answer); got != want {
			t.Errorf("Right(%q) = %v, want %v", answer, got, want)
		}
	}
	for _, q := range exact.Questions() {
		if !q.Right(" " + q.Want) {
			t.Errorf("the answer %q to %q is not right", q.Want, q.Ask)
		}
	}
}
