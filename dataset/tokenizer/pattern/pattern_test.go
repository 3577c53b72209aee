package pattern

import (
	"strings"
	"testing"
	"time"
)

// TestHostilePattern: a pattern that backtracks without end is given up with
// words that do not repeat the text.
func TestHostilePattern(t *testing.T) {
	re, err := NewRegex("(?:a|aa)+[0-9]")
	if err != nil {
		t.Fatal(err)
	}
	re.re.MatchTimeout = 20 * time.Millisecond
	start := time.Now()
	spans, err := re.Spans("aaaaaaaaa1" + strings.Repeat("a", 3000))
	if err == nil {
		t.Fatalf("%d spans, want an error", len(spans))
	}
	const words = `regex "(?:a|aa)+[0-9]": no match after 20ms in a text of 3010 bytes, at byte 10`
	if !strings.HasPrefix(err.Error(), words) || len(err.Error()) > 200 {
		t.Errorf("error %.300q, want %q", err, words)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("given up after %v", took)
	}
	if re, err = NewRegex("a+b"); err != nil || re.re.MatchTimeout != matchLimit {
		t.Errorf("a new regex gives up after %v, %v, want %v", re.re.MatchTimeout, err, matchLimit)
	}
}
