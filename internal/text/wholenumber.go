package text

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

var shortNumber = regexp.MustCompile(`^([0-9]+)(\.[0-9]+)?([kKmMgGtT]?)$`)

// WholeNumber reads a number as vLLM takes lengths: 8192, 8k (thousands), 8K (times
// 1024), with decimals for the former.
func WholeNumber(text string) (n int64, ok bool) {
	const exact = 1 << 53 // up to here, every whole number is a float64
	m := shortNumber.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}

	power := 1 + strings.Index("kmgt", strings.ToLower(m[3]))
	base := 1000.0
	switch thousands := m[3] != strings.ToUpper(m[3]); {
	case thousands:
	case m[2] != "":
		return 0, false
	default:
		base = 1024
	}
	if m[3] == "" {
		power = 0
	}

	v, err := strconv.ParseFloat(m[1]+m[2], 64)
	if v *= math.Pow(base, float64(power)); err != nil || v > exact {
		return 0, false
	}
	return int64(v), true
}
