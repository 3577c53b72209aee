package text

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Count is "1 step", "2 steps".
func Count(n int, noun string) string { return fmt.Sprintf("%d %s", n, plural(n, noun)) }

// plural is noun, in the plural unless n is 1: "steps", "lives", "searches",
// "processes", "entries".
func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}

	stem, isLife := strings.CutSuffix(noun, "life")
	switch {
	case isLife:
		return stem + "lives"
	case strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "ss"):
		return noun + "es"
	case strings.HasSuffix(noun, "ry"):
		return strings.TrimSuffix(noun, "y") + "ies"
	}

	return noun + "s"
}

// Gibibytes is a number of bytes in GiB with one decimal, without its unit; a
// dash where it is not known.
func Gibibytes(bytes *int64) string {
	if bytes == nil {
		return "-"
	}
	return strconv.FormatFloat(float64(*bytes)/(1<<30), 'f', 1, 64)
}

// Percent is a share as a whole percentage, "42 %"; a dash where it is not
// known.
func Percent(share *float64) string {
	if share == nil {
		return "-"
	}
	return strconv.FormatFloat(*share*100, 'f', 0, 64) + " %"
}

// ParsePercent reads a percentage above 0 and below 100, as "2%" or "2 %", as a
// share.
func ParsePercent(s string) (share float64, err error) {
	digits, found := strings.CutSuffix(strings.TrimSpace(s), "%")
	percent, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if !found || err != nil || !(percent > 0 && percent < 100) {
		return 0, errors.New("want a percentage above 0 and below 100, such as 2%")
	}
	return percent / 100, nil
}

// Number is a value in a unit with so many decimals; a dash where it is not
// known.
func Number(value *float64, unit float64, decimals int) string {
	if value == nil {
		return "-"
	}
	return strconv.FormatFloat(*value/unit, 'f', decimals, 64)
}

// OrDash is s, or a dash where it is empty.
func OrDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Indent puts lines below each other, each with two spaces before it and a
// newline after it.
func Indent(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("  " + line + "\n")
	}
	return b.String()
}

// LastLine is the last line of s that is not blank, trimmed.
func LastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// Lasting is a duration as people say it, two units at most.
func Lasting(seconds float64) string {
	const minute, hour, day = 60, 3600, 86400
	s := int64(math.Round(seconds))
	switch {
	case s < 0:
		return "0 s"
	case s < minute:
		return fmt.Sprintf("%d s", s)
	case s < hour:
		return fmt.Sprintf("%d min %02d s", s/minute, s%minute)
	case s < day:
		return fmt.Sprintf("%d h %02d min", s/hour, s%hour/minute)
	}
	return fmt.Sprintf("%d d %d h", s/day, s%day/hour)
}
