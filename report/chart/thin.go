package chart

// thinned keeps, of a line with many more points than the area has columns,
// the first, lowest, highest and last of each column: what is drawn looks the
// same, and no peak is lost. Points must not go back in x for that; a line
// that does stays whole.
func (f *frame) thinned(line []point) []point {
	columns := int(f.area.Max.X - f.area.Min.X)
	if len(line) <= 2*columns {
		return line
	}

	var out []point
	from := 0
	for i := 1; i <= len(line); i++ {
		if i < len(line) && line[i].X < line[i-1].X {
			return line
		}
		if i < len(line) && int(line[i].X) == int(line[from].X) {
			continue
		}
		out = append(out, extremes(line[from:i])...)
		from = i
	}

	return out
}

// extremes are the first, lowest, highest and last point of a column, in the
// order in which they come.
func extremes(column []point) []point {
	low, high := 0, 0
	for i, p := range column {
		if p.Y < column[low].Y {
			low = i
		}
		if p.Y > column[high].Y {
			high = i
		}
	}

	var out []point
	last := -1
	for _, i := range []int{0, min(low, high), max(low, high), len(column) - 1} {
		if i > last {
			out = append(out, column[i])
			last = i
		}
	}

	return out
}
