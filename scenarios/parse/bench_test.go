package parse

import (
	"fmt"
	"strings"
	"testing"

	"github.com/benchrig/bench/scenarios"
)

// A sweep of a thousand points is read in well under a second.
func BenchmarkParseThousandPoints(b *testing.B) {
	var values []string
	for i := range 1000 {
		values = append(values, fmt.Sprint(i+1))
	}
	src := []byte("schema: 1\nserver: {launcher: simulator}\n" +
		"load: {input-len: 1, output-len: 1, sweep: {max-concurrency: [" +
		strings.Join(values, ", ") + "]}}\n")
	for b.Loop() {
		if _, err := Source("a.yaml", src, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseQuickstart(b *testing.B) {
	src, err := scenarios.Template("quickstart", false)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Source("quickstart.yaml", src, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
