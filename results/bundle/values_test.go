package bundle

import (
	"fmt"
	"maps"
	"testing"
	"time"
)

func TestValuesHide(t *testing.T) {
	t.Parallel()
	known := newValues()
	for text, what := range map[string]string{
		"s3cret-one": "one", "s3cret-one-more": "more", "one-more-here": "here", "abcd": "short",
	} {
		known.add(text, what)
	}

	for _, c := range []struct {
		line, want string
		counts     map[string]int
	}{
		{"nothing of interest", "nothing of interest", nil},
		{"s3cret-one s3cret-one", "*** ***", map[string]int{"one": 2}},
		{"xs3cret-one-morex", "x***x", map[string]int{"more": 1}},
		{"s3cret-one-more-here.", "***.", map[string]int{"more": 1, "here": 1}}, // they overlap
		{`abcd "abcd" 'abcd' "abcde"`, `abcd "***" '***' "abcde"`, map[string]int{"short": 2}},
		{`s3cret-one"abcd"`, `***"***"`, map[string]int{"one": 1, "short": 1}},
		{"s3cret-on", "s3cret-on", nil},
	} {
		counts := map[string]int{}
		if got := string(known.hide([]byte(c.line), counts)); got != c.want || !maps.Equal(counts, c.counts) {
			t.Errorf("hide(%q) = %q, counts %v, want %q, %v", c.line, got, counts, c.want, c.counts)
		}
	}
}

// The time to find secrets hardly grows with their number: it once was their product
// with the length of the text, which were hours for a log that names many.
func TestManySecrets(t *testing.T) {
	t.Parallel()
	const many, lines = 100_000, 20_000
	known := newValues()
	for i := range many {
		known.add(fmt.Sprintf("k%dQz7Xw9vB2", i*7919), "key")
	}

	began, counts := time.Now(), map[string]int{}
	for i := range lines {
		known.hide(fmt.Appendf(nil, "INFO key k%dQz7Xw9vB2 accepted\n", i*7919), counts)
		if time.Since(began) > time.Minute {
			t.Fatalf("%d of %d lines took %s", i, lines, time.Since(began))
		}
	}
	if n := counts["key"]; n != lines {
		t.Errorf("%d values were hidden, want %d", n, lines)
	}
}
