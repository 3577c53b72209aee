package live

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/benchrig/bench/internal/text"
)

// about is a duration that is an estimate: one unit is enough.
func about(seconds float64) string {
	const minute, hour, few = 60, 3600, 10
	switch {
	case seconds < minute:
		return "less than a minute"
	case seconds < hour:
		return fmt.Sprintf("%.0f min", seconds/minute)
	case seconds < few*hour:
		return fmt.Sprintf("%d h %02d min", int(seconds/hour), int(math.Mod(seconds, hour)/minute))
	}
	return fmt.Sprintf("%.0f h", seconds/hour)
}

// unknown is shown where a value is not known.
const unknown = "-"

// number is a value with at least three digits that count.
func number(v *float64) string {
	switch {
	case v == nil || math.IsNaN(*v):
		return unknown
	case math.Abs(*v) >= 100:
		return strconv.FormatFloat(*v, 'f', 0, 64)
	case math.Abs(*v) >= 10:
		return strconv.FormatFloat(*v, 'f', 1, 64)
	}
	return strconv.FormatFloat(*v, 'f', 2, 64)
}

// milli is seconds in milliseconds.
func milli(seconds *float64) string {
	if seconds == nil {
		return unknown
	}
	return number(new(*seconds*1e3)) + " ms"
}

// printable takes out of a line what would move a terminal's cursor or change
// its colours: logs are others' words.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ReplaceAll(text.WithoutEscapes(line), "\t", "    "))
}
