package table

import (
	"fmt"
	"math"
	"strconv"
)

// Decimals is how many a column needs for its largest value to show at least
// three digits.
func Decimals(largest float64) int {
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

// Number is a figure with so many decimals; Missing where it is not known.
func Number(v *float64, decimals int) string {
	if v == nil || math.IsNaN(*v) {
		return Missing
	}
	return strconv.FormatFloat(*v, 'f', decimals, 64)
}

// Scaled is a figure times a factor with so many decimals; Missing where it is not known.
func Scaled[N int64 | float64](v *N, factor float64, decimals int) string {
	if v == nil {
		return Missing
	}
	return Number(new(float64(*v)*factor), decimals)
}

// Milliseconds is a time in seconds, shown in milliseconds.
func Milliseconds(seconds *float64) string { return Scaled(seconds, 1000, 2) }

// Gibibytes is a number of bytes in GiB.
func Gibibytes(bytes *int64) string { return Scaled(bytes, 1.0/(1<<30), 2) }

// Missing is shown where nothing was measured.
const Missing = "-"

// DigitsOf is how many decimals show at least three digits of a value.
func DigitsOf(v float64) int {
	const small = 4
	if digits := Decimals(math.Abs(v)); math.Abs(v) >= 1 || digits > small {
		return digits
	}
	return small
}

// Percent is a share in percent, without the sign.
func Percent(share float64) string { return fmt.Sprintf("%g", math.Round(share*1e6)/1e4) }

// OrMissing is s, or Missing where it is empty.
func OrMissing(s string) string {
	if s == "" {
		return Missing
	}
	return s
}
