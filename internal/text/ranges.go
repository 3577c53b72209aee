package text

import (
	"regexp"
	"strconv"
	"strings"
)

// measured are decimal fractions, and ranges of them: what two measurements of
// one thing differ in. Versions and names of models have fractions, too; see
// isMeasured.
var measured = regexp.MustCompile(`\d+(?:\.\d+)+(?: to \d+(?:\.\d+)+)?`)

// Ranges merges two messages that differ only in measured fractions: "60.2 %
// of the gaps" and "81.5 % of the gaps" are "60.2 to 81.5 % of the gaps".
func Ranges(a, b string) (merged string, ok bool) {
	placesA, placesB := measured.FindAllStringIndex(a, -1), measured.FindAllStringIndex(b, -1)
	if len(placesA) != len(placesB) {
		return "", false
	}

	var out strings.Builder
	endA, endB := 0, 0
	for i, at := range placesA {
		bt := placesB[i]
		if a[endA:at[0]] != b[endB:bt[0]] {
			return "", false
		}
		out.WriteString(a[endA:at[0]])
		one, other := a[at[0]:at[1]], b[bt[0]:bt[1]]
		if one != other && (!isMeasured(a, at[0], one) || !isMeasured(b, bt[0], other)) {
			return "", false
		}
		out.WriteString(rangeOf(one, other, strings.HasSuffix(out.String(), "up to ")))
		endA, endB = at[1], bt[1]
	}

	if a[endA:] != b[endB:] {
		return "", false
	}

	return out.String() + a[endA:], true
}

// isMeasured reports whether a number stands by itself and has one point.
func isMeasured(s string, at int, number string) bool {
	first, second, _ := strings.Cut(number, " to ")

	return strings.Count(first, ".") == 1 && strings.Count(second, ".") <= 1 &&
		(at == 0 || strings.IndexByte(" (+<>=~", s[at-1]) >= 0)
}

// rangeOf is from the least to the largest of two numbers or ranges, as they
// were written; upTo: the largest alone.
func rangeOf(a, b string, upTo bool) string {
	if a == b {
		return a
	}

	var least, most string
	for _, number := range append(strings.Split(a, " to "), strings.Split(b, " to ")...) {
		if least == "" || valueOf(number) < valueOf(least) {
			least = number
		}
		if most == "" || valueOf(number) > valueOf(most) {
			most = number
		}
	}

	if upTo {
		return most
	}

	return least + " to " + most
}

func valueOf(number string) float64 {
	v, _ := strconv.ParseFloat(number, 64) // it matched

	return v
}
