package output

import (
	"slices"
	"strings"
	"testing"
)

// A program writes in pieces, and nothing bounds its lines.
func TestLines(t *testing.T) {
	var got []string
	lines := &Lines{Most: 4096, Do: func(line string) { got = append(got, line) }}
	w, other := lines.Writer(), lines.Writer()
	long := strings.Repeat("x", 10000)
	for _, piece := range []string{"on", "e\n\ttwo \n\n", long, long + "\n", "rest"} {
		if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Errorf("Write(%d bytes) = %d, %v", len(piece), n, err)
		}
	}
	_, _ = other.Write([]byte("of another stream\n"))

	want := []string{"one", "two", strings.Repeat("x", 4096), "of another stream"}
	if !slices.Equal(got, want) {
		t.Errorf("got %d lines %.10q, want %.10q", len(got), got, want)
	}
}

func TestHead(t *testing.T) {
	var h Head
	_, _ = h.Write([]byte(" begin"))
	for range 3 {
		piece := strings.Repeat("x", maxHead/2)
		if n, err := h.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Errorf("Write(%d bytes) = %d, %v", len(piece), n, err)
		}
	}
	if got := h.String(); len(got) != maxHead-1 || !strings.HasPrefix(got, "beginxxx") {
		t.Errorf("%d bytes are kept that begin with %.10q, want %d of begin...", len(got), got, maxHead-1)
	}
}
