package report

import (
	"fmt"
	"math"
	"strconv"
)

// decimals is how many a column needs for its largest value to show at least
// three digits.
func decimals(largest float64) int {
	const most = 6
	switch {
	case largest <= 0:
		return 2
	case largest < 1:
		return min(most, 2-int(math.Floor(math.Log10(largest))))
	case largest < 100:
		return 2
	case largest < 10_000:
		return 1
	}
	return 0
}

func formatNumber(v *float64, decimals int) string {
	if v == nil || math.IsNaN(*v) {
		return missing
	}
	return strconv.FormatFloat(*v, 'f', decimals, 64)
}

// missing stands where nothing was measured.
const missing = "-"

func digitsFor(v float64) int {
	const small = 4
	if digits := decimals(math.Abs(v)); math.Abs(v) >= 1 || digits > small {
		return digits
	}
	return small
}

func plainPercent(share float64) string { return fmt.Sprintf("%g", math.Round(share*1e6)/1e4) }

func exact(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

func exactInt(v *int64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatInt(*v, 10)
}

func dash(s string) string {
	if s == "" {
		return missing
	}
	return s
}
