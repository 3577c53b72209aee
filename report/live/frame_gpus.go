package live

import (
	"fmt"
	"strings"
)

// gpuLine is one GPU with its values in columns.
func gpuLine(g GPU) string {
	s := pad(g.Name, 7) + pad("VRAM "+g.VRAM, 23) + pad(g.Power, 12) + pad(g.Temp, 6) + pad("busy "+g.Busy, 11)
	if g.Note != "" {
		s += g.Note
	}
	return strings.TrimRight(s, " ")
}

// gpuColumn is the width of a GPU where several stand side by side.
const gpuColumn = 62

func (f *frame) gpusAcross() int { return max(1, f.width/gpuColumn) }

// gpuRows is the number of lines that all GPUs need.
func (f *frame) gpuRows() int {
	n := f.gpusAcross()
	return (len(f.view.GPUs) + n - 1) / n
}

// gpus shows the GPUs in so many lines: each, or their range.
func (f *frame) gpus(height int) []line {
	all := f.view.GPUs
	switch {
	case height < 1 || len(all) == 0:
		return nil
	case height < f.gpuRows():
		return []line{plainLine(gpuRange(all))}
	}

	across := f.gpusAcross()
	var lines []line
	for i := 0; i < len(all); i += across {
		l := line{}
		for _, g := range all[i:min(i+across, len(all))] {
			role := plain
			if g.Note != "" {
				role = doubt
			}
			text := gpuLine(g)
			if across > 1 {
				text = pad(text, gpuColumn)
			}
			l = append(l, span{text, role})
		}
		lines = append(lines, l)
	}

	return lines
}

// gpuRange is the first GPU for all, and what any of them notes.
func gpuRange(all []GPU) string {
	g := all[0]
	s := fmt.Sprintf("%d GPUs, the first: %s, %s, %s, busy %s", len(all), g.VRAM, g.Power, g.Temp, g.Busy)
	if len(all) == 1 {
		s = gpuLine(g)
	}
	for _, g := range all {
		if g.Note != "" {
			return s + "; " + g.Name + ": " + g.Note
		}
	}
	return s
}
