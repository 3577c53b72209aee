package secrets

import (
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// shortest is the length below which a value is not remembered: it may be a
// word of any text.
const shortest = 6

// known are the secrets of this process. Whatever is stored or shown passes
// through Known, whoever wrote it: a server that echoes a key, a hook, a tool.
var known struct {
	mu       sync.Mutex // guards values
	values   []string
	redactor atomic.Pointer[Redactor] // of values; nil: none
}

// Remember adds secrets that this process must not store or show from now on.
// Values that are too short are left out.
func Remember(values ...string) {
	known.mu.Lock()
	defer known.mu.Unlock()

	before := len(known.values)
	for _, value := range values {
		if len(value) >= shortest && !slices.Contains(known.values, value) {
			known.values = append(known.values, value)
		}
	}
	if len(known.values) > before {
		known.redactor.Store(NewRedactor(known.values))
	}
}

// Known hides the secrets of this process.
func Known() *Redactor { return known.redactor.Load() }

// Of picks the values of an environment whose names say that they are secrets:
// "NAME=VALUE".
func Of(environ []string) []string {
	const long = 8 // the value of a shorter one may be a word of any text
	var values []string
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if len(value) >= long && IsName(name) {
			values = append(values, value)
		}
	}
	return values
}

// Writer passes on what is written to it, without the secrets of this process.
// A secret is recognised within one call of Write.
type Writer struct{ W io.Writer }

// Write writes the text without secrets and says that all of it was written.
func (w Writer) Write(text []byte) (int, error) {
	r := Known()
	if r.Empty() {
		return w.W.Write(text)
	}
	if _, err := io.WriteString(w.W, r.Text(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}
