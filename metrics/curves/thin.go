package curves

import "slices"

// ThinLevels keeps the largest level of each stretch of a line of more than so many.
func ThinLevels(levels []Level, most int) []Level {
	if len(levels) <= most {
		return levels
	}

	per := (len(levels) + most - 1) / most
	var kept []Level
	for stretch := range slices.Chunk(levels, per) {
		level := stretch[0]
		for _, l := range stretch {
			level.Value = max(level.Value, l.Value)
		}
		kept = append(kept, level)
	}

	if last := levels[len(levels)-1]; kept[len(kept)-1].AtS < last.AtS {
		kept = append(kept, last)
	}

	return kept
}

// ThinRequests keeps a third of so many requests for the worst and the failed ones, the
// rest for an even sample of the others.
func ThinRequests(rows []RequestSpan, most int) []RequestSpan {
	if len(rows) <= most {
		return rows
	}

	var worst, rest []int
	for i, r := range rows {
		if r.Worst || r.Failure != "" {
			worst = append(worst, i)
		} else {
			rest = append(rest, i)
		}
	}

	picked := evenly(worst, most/3)
	picked = append(picked, evenly(rest, most-len(picked))...)
	slices.Sort(picked)
	kept := make([]RequestSpan, len(picked))
	for i, at := range picked {
		kept[i] = rows[at]
	}

	return kept
}

// evenly are n of some indices, or all where they are fewer.
func evenly(from []int, n int) []int {
	if len(from) <= n {
		return from
	}
	picked := make([]int, n)
	for i := range picked {
		picked[i] = from[i*len(from)/n]
	}
	return picked
}
