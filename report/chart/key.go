package chart

// KeySpec is a legend by itself, for charts that have none of their own.
type KeySpec struct {
	Head
	Series []KeySeries
	Hollow string // what hollow marks stand for; "": none is hollow
	Front  bool   // a Pareto front is drawn
}

// KeySeries is one series of the charts.
type KeySeries struct {
	Name string
	Slot int // 1 to 8 or Rest, as in the charts; 0: by position
}

// Key draws the legend of several charts.
func Key(s KeySpec) (SVG, error) {
	var entries []entry
	for i, series := range s.Series {
		entries = append(entries, entry{
			name: series.Name, look: lookOf(series.Slot, i), line: true, sign: true, rest: series.Slot == Rest,
		})
	}

	if s.Front {
		entries = append(entries, frontEntry())
	}
	if s.Hollow != "" {
		entries = append(entries, entry{name: s.Hollow, look: look{paint: "muted"}, sign: true, hollow: true})
	}

	const margin length = 4
	l := newLegend(entries, s.width()-2*margin)
	c := newCanvas(s.width(), l.height()+2*margin)
	l.draw(c, margin, c.h-margin)

	var names []string
	for _, e := range l.entries {
		names = append(names, e.name)
	}

	return c.drawing(s.Head, "key", []string{list(names, describedSeries) + "."})
}
