package chart

import (
	"fmt"
	"strings"

	"github.com/benchrig/bench/metrics/curves"
)

// RequestsSpec shows the requests of a pass over time.
type RequestsSpec struct {
	Head
	Rows  []curves.RequestSpan // drawn in the order given
	Total int                  // requests that Rows were chosen from; 0: Rows are all
}

// toldRows is up to how many rows each has a tooltip; of more, the worst and
// the failed do.
const toldRows = 100

// Requests draws one row a request: waiting for its turn, waiting for the
// first token, receiving tokens. It says where Rows are some of many requests.
func Requests(s RequestsSpec) (SVG, error) {
	axis := Axis{Label: "time since the pass began", Unit: Seconds}
	xs := newSpan(axis)
	for _, r := range s.Rows {
		for _, v := range []float64{r.IntendedS, known(r.SentS), known(r.FirstS), known(r.LastS), r.EndS} {
			xs.add(v)
		}
	}

	x := newScale(axis, xs, s.ticks(), tight)
	pitch := min(max(600/length(max(len(s.Rows), 1)), 1.8), 12)
	legend := newLegend(requestLegend(), s.width()-20)
	top := legend.height() + rowSize + 6
	c := newCanvas(s.width(), pitch*length(max(len(s.Rows), 4))+top+tickRoom+rowSize+2)
	f := newFrame(c, x, scale{max: 1}, 10, edge+8, tickRoom+rowSize+2, top)
	f.bottomAxis(x.title(axis))
	legend.draw(c, f.area.Min.X, c.h-2)
	f.c.text(point{X: f.area.Min.X, Y: f.area.Max.Y + 7}, "start", "a", s.heading())
	if len(s.Rows) == 0 || xs.empty() {
		f.nothing("no request was made")
		return c.drawing(s.Head, "requests", []string{"No request was made."})
	}

	s.drawRows(f, pitch)

	return c.drawing(s.Head, "requests", s.says())
}

// requestLegend is that of the three phases of a request and its failure.
func requestLegend() []entry {
	return []entry{
		{name: "waiting to be sent", look: look{paint: "muted half", shape: 1}, sign: true},
		{name: "until the first token", look: look{paint: "c6", shape: 1}, sign: true},
		{name: "receiving", look: look{paint: "c1", shape: 1}, sign: true},
		{name: "failed", look: look{paint: "bad", shape: 5}, sign: true},
	}
}

// heading says what part of the requests is drawn.
func (s RequestsSpec) heading() string {
	if s.Total > len(s.Rows) {
		worst := 0
		for _, r := range s.Rows {
			if r.Worst {
				worst++
			}
		}
		return fmt.Sprintf("%s of %s requests: the %d worst and an even sample of the others; one row each",
			grouped(fmt.Sprint(len(s.Rows))), grouped(fmt.Sprint(s.Total)), worst)
	}
	return count(len(s.Rows), "request", "requests") + ", one row each, in the order of their planned send times"
}

// drawRows draws each phase of all rows as one path, and targets for those
// rows that have a tooltip.
func (s RequestsSpec) drawRows(f *frame, pitch length) {
	var phases [4][][]point
	for i, r := range s.Rows {
		y := f.area.Max.Y - pitch*(length(i)+0.5)
		for phase, piece := range phasesOf(r) {
			if finite(piece[0]) && finite(piece[1]) && piece[1] >= piece[0] {
				x0, x1 := f.area.X(f.x.norm(piece[0])), f.area.X(f.x.norm(piece[1]))
				phases[phase] = append(phases[phase], []point{{X: x0, Y: y}, {X: max(x1, x0+0.3), Y: y}})
			}
		}
	}

	for phase, e := range requestLegend() {
		f.strokeAll(stroke{paint: e.look.paint, width: pitch * 0.8}, phases[phase])
	}

	for i, r := range s.Rows {
		y := f.area.Max.Y - pitch*(length(i)+0.5)
		if r.Failure != "" && finite(r.EndS) && f.x.holds(r.EndS) {
			f.c.cross("bad", point{X: f.area.X(f.x.norm(r.EndS)) + 5, Y: y}, min(pitch/2, 3))
		}
		if len(s.Rows) <= toldRows || r.Worst || r.Failure != "" {
			f.c.mark(Ref{Title: requestWords(r)}, func() {
				f.c.fill("h", box(f.area.Min.X, y-pitch/2, f.area.Max.X, y+pitch/2))
			}, "data-index", fmt.Sprint(r.Index))
		}
	}
}

// phasesOf are begin and end of waiting, of the time until the first token, of
// receiving, and of a failed request's rest; NaN where there was none.
func phasesOf(r curves.RequestSpan) [4][2]float64 {
	sent, first, last := known(r.SentS), known(r.FirstS), known(r.LastS)
	none := known(nil)
	out := [4][2]float64{{r.IntendedS, sent}, {sent, first}, {first, last}, {none, none}}
	switch {
	case !finite(sent):
		out[0][1] = r.EndS
	case !finite(first) && finite(last): // not streamed: nothing distinguishes the two
		out[1][1] = last
	case !finite(first):
		out[1][1] = r.EndS
	}

	if r.Failure != "" && finite(last) {
		out[3] = [2]float64{last, r.EndS}
	}

	return out
}

func requestWords(r curves.RequestSpan) string {
	parts := []string{fmt.Sprintf("request %d", r.Index)}
	sent, first := known(r.SentS), known(r.FirstS)
	if finite(sent) {
		parts = append(parts, "waited "+Seconds.words(max(sent-r.IntendedS, 0)))
	}
	if finite(first) && finite(sent) {
		parts = append(parts, "first token after "+Seconds.words(first-sent))
	}
	if finite(sent) {
		parts = append(parts, "ended after "+Seconds.words(r.EndS-sent))
	}
	if r.InputTokens != nil && r.OutputTokens != nil {
		parts = append(parts, fmt.Sprintf("%d tokens in, %d out", *r.InputTokens, *r.OutputTokens))
	}
	if r.Failure != "" {
		parts = append(parts, "failed: "+string(r.Failure))
	}

	return strings.Join(parts, ", ")
}

func (s RequestsSpec) says() []string {
	failed := 0
	slowest := s.Rows[0]
	for _, r := range s.Rows {
		if r.Failure != "" {
			failed++
		}
		if finite(r.TookS()) && r.TookS() > slowest.TookS() {
			slowest = r
		}
	}
	return []string{s.heading() + ".", count(failed, "of them", "of them") + " failed.", "Longest: " +
		requestWords(slowest) + "."}
}
