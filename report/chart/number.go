package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// show is how values of one axis or one description are written: divided by
// per, with unit behind.
type show struct {
	per  float64
	unit string
}

// scaled units, ascending.
var (
	times  = []show{{1e-6, "µs"}, {1e-3, "ms"}, {1, "s"}, {60, "min"}, {3600, "h"}}
	memory = []show{{1, "B"}, {1 << 10, "KiB"}, {1 << 20, "MiB"}, {1 << 30, "GiB"}, {1 << 40, "TiB"}}
)

// showFor picks the unit in which values up to largest read best.
func showFor(u Unit, largest float64) show {
	switch u {
	case Seconds:
		return largestBelow(times, largest, 3)
	case Bytes:
		return largestBelow(memory, largest, 1)
	case Share:
		return show{0.01, "%"}
	default:
		return show{1, string(u)}
	}
}

// largestBelow is the last unit of which largest makes at least times.
func largestBelow(units []show, largest, times float64) show {
	if largest == 0 {
		largest = 1 // the base unit
	}
	chosen := units[0]
	for _, u := range units[1:] {
		if largest >= u.per*times || u.per <= 1 && largest >= u.per {
			chosen = u
		}
	}
	return chosen
}

// words writes one value with its unit, to about three figures.
func (u Unit) words(v float64) string {
	if !finite(v) {
		return "not known"
	}
	s := showFor(u, math.Abs(v))
	text := figures(v/s.per, 3)
	if s.unit == "" {
		return text
	}
	return text + " " + s.unit
}

// figures writes v to n significant digits, whole numbers below 100,000 in
// full, thousands apart.
func figures(v float64, n int) string {
	a := math.Abs(v)
	switch {
	case a == 0:
		return "0"
	case a >= 1e15 || a < 1e-6:
		return exponent(strconv.FormatFloat(v, 'e', n-1, 64))
	case a >= 1e5:
		return prefixed(v, n)
	}
	digits := max(n-1-int(math.Floor(math.Log10(a))), 0)
	return grouped(trimZeros(strconv.FormatFloat(v, 'f', digits, 64)))
}

// prefixed writes large numbers with k, M, G or T.
func prefixed(v float64, n int) string {
	for _, p := range []show{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}} {
		if math.Abs(v) >= p.per {
			return figures(v/p.per, n) + p.unit
		}
	}
	return figures(v/1e3, n) + "k"
}

// decimals writes v with a fixed number of decimals, for the ticks of an axis.
func decimals(v float64, n int) string {
	text := strconv.FormatFloat(v, 'f', n, 64)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-")
	}
	return grouped(text)
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// exponent shortens 1.50e+09 to 1.5e9.
func exponent(s string) string {
	mantissa, exp, _ := strings.Cut(s, "e")
	e, _ := strconv.Atoi(exp) // FormatFloat wrote it
	return grouped(trimZeros(mantissa)) + "e" + strconv.Itoa(e)
}

// grouped puts commas between thousands and a true minus in front.
func grouped(s string) string {
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	var b strings.Builder
	if strings.HasPrefix(s, "-") {
		b.WriteString("−")
	}

	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}

	if fraction != "" {
		b.WriteString("." + fraction)
	}

	return b.String()
}

// says is a value with the name of its axis.
func (a Axis) says(v float64) string { return strings.TrimSpace(a.Label + " " + a.Unit.words(v)) }

// interval adds "(low to high)" where there is one.
func (a Axis) interval(low, high *float64) string {
	lo, hi := known(low), known(high)
	if math.IsNaN(lo) || math.IsNaN(hi) {
		return ""
	}
	return " (" + a.Unit.words(lo) + " to " + a.Unit.words(hi) + ")"
}

// list joins the first most of names and counts the rest.
func list(names []string, most int) string {
	if len(names) == 0 {
		return "none"
	}
	if len(names) <= most {
		return strings.Join(names, "; ")
	}
	return strings.Join(names[:most], "; ") + fmt.Sprintf("; and %d more", len(names)-most)
}

// raw writes a number for the page's script.
func raw(v float64) string {
	if !finite(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 9, 64)
}
