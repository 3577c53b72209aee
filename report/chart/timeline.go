package chart

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
)

// TimelineSpec shows what happened when.
type TimelineSpec struct {
	Head
	Start  time.Time // wall clock of second 0, in the zone to show; zero: seconds are shown
	Lanes  []Lane
	Curves []Panel // beneath, on the same time axis
}

// Lane is one row of spans and marks. Spans of a lane that overlap are drawn
// in rows of their own.
type Lane struct {
	Name  string
	Spans []Span
	Marks []Mark
}

// Span is something that lasted.
type Span struct {
	FromS, ToS float64
	Class      Class
	Label      string // drawn inside where there is room
	Open       bool   // the end is not known
	Ref
}

// Mark is something that happened at one moment.
type Mark struct {
	AtS   float64
	Class Class
	Label string
	Ref
}

// Class says what a span or mark stands for; it decides colour and pattern.
type Class string

// The classes. The verdicts of steps come first.
const (
	OK       Class = "ok"
	Suspect  Class = "suspect" // hatched
	Failed   Class = "failed"  // cross-hatched, with a cross above
	NotRun   Class = "not-run" // hollow
	Running  Class = "running"
	Starting Class = "starting" // of a server's life; pale
	Serving  Class = "serving"
	Stopping Class = "stopping"
	Hook     Class = "hook"
	Plain    Class = ""
)

const (
	laneRow     length = 20
	laneBar     length = 16
	laneGap     length = 8
	maxLaneRows        = 24 // more spans at one time share the last row
)

// Timeline draws lanes of spans over time, with curves beneath.
func Timeline(s TimelineSpec) (SVG, error) {
	axis := Axis{Label: "time", Unit: Seconds}
	xs := s.span(axis)
	x := newScale(axis, xs, s.ticks(), tight)
	title := x.title(axis)
	if !s.Start.IsZero() {
		x.ticks, title = clockTicks(s.Start, x.min, x.max, s.ticks())
	}

	lanes := packLanes(s.Lanes, x)
	stack := newStack(x, s.Curves, s.width())
	stack.left = max(stack.left, lanesRoom(s.Lanes))
	height := lanesHeight(lanes)
	curves := length(0)
	if len(s.Curves) > 0 {
		curves = stack.height() + 6
	}

	keys := newClassKeys(s.Lanes, s.width()-stack.left)
	c := newCanvas(s.width(), height+curves+keys.height()+tickRoom+rowSize+8)
	f := newFrame(c, x, scale{max: 1}, stack.left, edge+8, tickRoom+rowSize+4+curves, keys.height()+4)
	c.defs(s.id(), lanes)
	keys.draw(c, stack.left, c.h-2)
	f.verticals(tickRoom + rowSize + 4)
	f.drawLanes(lanes)
	if len(s.Curves) > 0 {
		f = stack.draw(c, f.area.Min.Y-6)
	}

	f.bottomAxis(title)
	if xs.empty() {
		f.nothing("nothing happened")
	}

	return c.drawing(s.Head, "timeline", s.says(axis, xs))
}

// span is from the first to the last moment of anything.
func (s TimelineSpec) span(axis Axis) *span {
	xs := newSpan(axis)
	for _, lane := range s.Lanes {
		for _, sp := range lane.Spans {
			if sp.drawable() {
				xs.add(sp.FromS)
				xs.add(sp.ToS)
			}
		}
		for _, m := range lane.Marks {
			xs.add(m.AtS)
		}
	}

	for _, p := range s.Curves {
		for _, series := range p.Series {
			for _, point := range series.Points {
				if point.xy().drawable() {
					xs.add(point.X)
				}
			}
		}
	}

	return xs
}

func (sp Span) drawable() bool { return finite(sp.FromS) && finite(sp.ToS) && sp.ToS >= sp.FromS }

func lanesRoom(lanes []Lane) length {
	widest := length(40)
	for _, lane := range lanes {
		widest = max(widest, textWidth(lane.Name, textSize)+14)
	}
	return min(widest, 150)
}

// clockTicks are round times of day, with the date where it changes.
func clockTicks(start time.Time, lo, hi float64, want int) (ticks []tick, title string) {
	zone, _ := start.Zone()
	title = "time of day, " + zone
	if hi-lo > 400*86400 || math.Abs(lo) > 1e9 || math.Abs(hi) > 1e9 {
		return nil, title
	}

	step := clockStep((hi - lo) / (float64(want) * 1.25))
	layout := "15:04"
	if step < 60 {
		layout = "15:04:05"
	}

	if step < 1 {
		since := Axis{Label: "time since " + start.Format("2006-01-02 15:04:05 ") + zone, Unit: Seconds}
		s := newScale(since, &span{lo: lo, hi: hi}, want, tight)

		return s.ticks, s.title(since)
	}

	begin := time.Duration(lo * float64(time.Second))
	_, seconds := start.Zone()
	offset := time.Duration(seconds) * time.Second
	first := start.Add(begin).Add(offset).Truncate(time.Duration(step) * time.Second).Add(-offset)
	day := -1
	for at := first; len(ticks) < maxTicks; at = at.Add(time.Duration(step) * time.Second) {
		s := at.Sub(start).Seconds()
		if s > hi {
			break
		}
		if s < lo {
			continue
		}
		label := at.Format(layout)
		if at.YearDay() != day {
			label = at.Format("2 Jan " + layout)
		}
		day = at.YearDay()
		ticks = append(ticks, tick{s, label})
	}

	return ticks, title
}

// clockStep is the round number of seconds next to at least.
func clockStep(least float64) float64 {
	for _, s := range []float64{
		1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
		86400, 172800, 604800,
	} {
		if s >= least {
			if s == 1 && least < 0.4 {
				return 0
			}
			return s
		}
	}
	return 2592000
}

// says puts a timeline into words: how long it was, what each lane holds, and
// every failure, the first dozen.
func (s TimelineSpec) says(axis Axis, xs *span) []string {
	if xs.empty() {
		return []string{"Nothing happened."}
	}

	out := []string{"Duration: " + Seconds.words(xs.hi-xs.lo) + "."}
	var failures []string
	for _, lane := range s.Lanes {
		out = append(out, lane.words())
		for _, sp := range lane.Spans {
			if sp.Class == Failed {
				failures = append(failures, cmp.Or(sp.Title, sp.words())+" at "+Seconds.words(sp.FromS))
			}
		}
		for _, m := range lane.Marks {
			if m.Class == Failed {
				failures = append(failures, cmp.Or(m.Title, m.Label)+" at "+Seconds.words(m.AtS))
			}
		}
	}

	if len(failures) > 0 {
		out = append(out, "Failures: "+list(failures, 12)+".")
	}

	return append(out, panelsWords(axis, s.Curves)...)
}

// words counts a lane's spans by class.
func (l Lane) words() string {
	counts := map[Class]int{}
	var order []Class
	for _, sp := range l.Spans {
		if counts[sp.Class] == 0 {
			order = append(order, sp.Class)
		}
		counts[sp.Class]++
	}

	var parts []string
	for _, class := range order {
		if class != Plain {
			parts = append(parts, fmt.Sprintf("%d %s", counts[class], class))
		}
	}

	words := cmp.Or(l.Name, "Lane") + ": " + count(len(l.Spans), "span", "spans")
	if len(parts) > 0 {
		words += " (" + strings.Join(parts, ", ") + ")"
	}

	if len(l.Marks) > 0 {
		words += ", " + count(len(l.Marks), "mark", "marks")
	}

	return words + "."
}
