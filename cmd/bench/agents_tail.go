package main

import (
	"strings"
	"sync"
)

// tail keeps the last of what is written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const tailBytes = 2048

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	t.last = t.last[max(0, len(t.last)-tailBytes):]
	return len(p), nil
}

// text is what was kept, on one line.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	said := strings.TrimSpace(string(t.last))
	if said == "" {
		return "it said nothing"
	}
	return strings.Join(strings.Fields(said), " ")
}
