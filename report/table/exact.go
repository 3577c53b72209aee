package table

import (
	"strconv"
)

// Exact is a figure with all its digits; "" where it is not known.
func Exact(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// ExactInt is a count; "" where it is not known.
func ExactInt(v *int64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatInt(*v, 10)
}
