package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// says is a value with the name of its axis.
func (a Axis) says(v float64) string {
	if a.Label == "" {
		return a.Unit.words(v)
	}
	return a.Label + " " + a.Unit.words(v)
}

// interval adds "(low to high)" where there is one.
func (a Axis) interval(low, high *float64) string {
	lo, hi := known(low), known(high)
	if math.IsNaN(lo) || math.IsNaN(hi) {
		return ""
	}
	return " (" + a.Unit.words(lo) + " to " + a.Unit.words(hi) + ")"
}

// distinct are the words that are not empty and not said before.
func distinct(words ...string) []string {
	var out []string
	for _, w := range words {
		if w != "" && (len(out) == 0 || out[len(out)-1] != w) {
			out = append(out, w)
		}
	}
	return out
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
