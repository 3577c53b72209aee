package text

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	shortNumber = regexp.MustCompile(`^([0-9]+)(\.[0-9]+)?([kKmMgGtT]?)$`)
	factors     = map[string]float64{
		"": 1, "k": 1e3, "K": 1 << 10, "m": 1e6, "M": 1 << 20, "g": 1e9, "G": 1 << 30, "t": 1e12, "T": 1 << 40,
	}
)

// WholeNumber reads a number as vLLM takes lengths: 8192, 8k (thousands), 8K (times
// 1024), with decimals for the former.
func WholeNumber(text string) (n int64, ok bool) {
	const exact = 1 << 53 // up to here, every whole number is a float64
	m := shortNumber.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}

	if decimals, thousands := m[2] != "", m[3] != strings.ToUpper(m[3]); decimals && !thousands {
		return 0, false
	}

	v, err := strconv.ParseFloat(m[1]+m[2], 64)
	if v *= factors[m[3]]; err != nil || v > exact {
		return 0, false
	}
	return int64(v), true
}
