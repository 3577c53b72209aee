package suite

import (
	"strings"

	"github.com/benchrig/bench/internal/text"
)

// MaxModelLenOf reads --max-model-len out of a command line; 0: it is not
// there, or not a number.
func MaxModelLenOf(argv []string) int {
	for i, word := range argv {
		name, value, joined := strings.Cut(word, "=")
		if strings.ReplaceAll(name, "_", "-") != "--max-model-len" {
			continue
		}
		if !joined && i+1 < len(argv) {
			value = argv[i+1]
		}
		return parseLength(value)
	}
	return 0
}

func parseLength(value string) int {
	const most = 1 << 30
	n, ok := text.WholeNumber(value)
	if !ok || n > most {
		return 0
	}
	return int(n)
}
