package suite

import (
	"regexp"
	"strconv"
	"strings"
)

// humanLength is how vLLM takes --max-model-len: 16384, 16k (thousands), 16K
// (times 1024), with decimals for the former.
var humanLength = regexp.MustCompile(`^([0-9]+)(?:\.([0-9]+))?([kKmM]?)$`)

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

func parseLength(text string) int {
	m := humanLength.FindStringSubmatch(text)
	if m == nil || m[2] != "" && m[3] != "k" && m[3] != "m" {
		return 0
	}
	factor := map[string]float64{"": 1, "k": 1e3, "K": 1 << 10, "m": 1e6, "M": 1 << 20}[m[3]]
	v, err := strconv.ParseFloat(strings.TrimRight(text, "kKmM"), 64)
	const most = 1 << 30
	if err != nil || v*factor > most {
		return 0
	}
	return int(v * factor)
}
