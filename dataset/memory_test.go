package dataset

import (
	"runtime/debug"
	"strings"
	"testing"
)

// More prompts than fit into memory are refused before they are made: the kernel would
// kill bench.
func TestTooManyPrompts(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
	for _, c := range []struct {
		spec Spec
		ok   bool
	}{
		{Spec{Kind: "random", N: 1_000_000_000, InputLen: 16, OutputLen: 8}, false},
		{Spec{Kind: "random", N: 100_000, InputLen: 1 << 20, OutputLen: 8}, false},
		{Spec{Kind: "jsonl", Path: "x", N: 1_000_000_000}, false},
		{Spec{Kind: "random", N: 1000, InputLen: 1024, OutputLen: 8}, true},
		{Spec{Kind: "jsonl", Path: "x", N: 1000, InputLen: 1 << 24}, true}, // the length has no effect
	} {
		_, err := Build(t.Context(), c.spec, nil)
		if refused := err != nil && strings.Contains(err.Error(), "of memory"); refused == c.ok {
			t.Errorf("Build(%+v): %v", c.spec, err)
		}
	}
}
