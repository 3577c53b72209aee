package chart

import "fmt"

// describedSeries is how many series a description goes into.
const describedSeries = 8

// linesWords puts lines into words: how each begins, ends and how high and
// low it comes.
func linesWords(x, y Axis, all []LineSeries, left int) []string {
	var out []string
	for i, series := range all {
		if i == describedSeries {
			out = append(out, fmt.Sprintf("%d more lines.", len(all)-i))
			break
		}
		out = append(out, seriesWords(x, y, series))
	}
	if left > 0 {
		out = append(out, count(left, "value that is not positive is",
			"values that are not positive are")+" left out of the logarithmic axis.")
	}
	return out
}

func seriesWords(x, y Axis, series LineSeries) string {
	name := series.Name
	if name == "" {
		name = y.Label
	}

	var drawn []LinePoint
	gaps := 0
	for i, p := range series.Points {
		switch {
		case p.xy().drawable() && !(x.Log && p.X <= 0) && !(y.Log && p.Y <= 0):
			drawn = append(drawn, p)
		case i == 0 || series.Points[i-1].xy().drawable():
			gaps++
		}
	}

	if len(drawn) == 0 {
		return name + ": nothing was measured."
	}

	first, last, low, high := drawn[0], drawn[len(drawn)-1], drawn[0], drawn[0]
	for _, p := range drawn {
		if p.Y < low.Y {
			low = p
		}
		if p.Y > high.Y {
			high = p
		}
	}

	at := func(p LinePoint) string {
		return y.Unit.words(p.Y) + y.interval(p.Low, p.High) + " at " + x.Unit.words(p.X)
	}

	if len(drawn) == 1 {
		return name + ": " + at(first) + "."
	}

	words := fmt.Sprintf("%s: %s, from %s to %s", name, count(len(drawn), "point", "points"), at(first), at(last))
	if low.Y < min(first.Y, last.Y) {
		words += ", lowest " + at(low)
	}

	if high.Y > max(first.Y, last.Y) {
		words += ", highest " + at(high)
	}

	if gaps > 0 {
		words += ", with " + count(gaps, "gap", "gaps")
	}

	return words + "."
}
