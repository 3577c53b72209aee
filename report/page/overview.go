package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/curves"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/chart"
	"github.com/benchrig/bench/results"
)

// overview are the charts of the run as a whole.
type overview struct {
	Answers  []*figure  // the trade-off and the figure that decides, which answer who did best
	Key      *figure    // the legend of the answers, the sweep and the distributions
	Front    []frontRow // of the trade-off, in rising order of speed per user
	Sweep    []*figure  // the other figures over the load
	CDFs     []cdfs     // one per point
	Legend   []legendEntry
	Timeline *figure
}

// figure is a chart with its caption.
type figure struct {
	SVG     chart.SVG
	Narrow  chart.SVG // the same for phones; "": SVG scrolls there
	Caption string
	Wide    bool // needs the width of the page
	Width   int  // of SVG, below which its text would be too small to read; 0: 900
}

// widthClass is the class that keeps text readable.
func (f *figure) widthClass() string { return fmt.Sprintf("w%d", cmp.Or(f.Width, wideChart)) }

// Widths of charts, in the units of their view boxes, which are pixels where a
// chart is shown at its own size. A small chart is as wide as a phone, and three
// of them as a page.
const (
	wideChart   = 900
	answerChart = 560
	keyChart    = 720
	smallChart  = 350
	phoneChart  = 330
)

// smallHeight is that of the plot of a small chart.
const smallHeight = 200

// size is that of a drawing.
type size struct{ width, height int }

// drawBoth draws a figure for wide screens and for phones. draw is given the head
// and the height.
func drawBoth(id string, wide, narrow size, draw func(h chart.Head, height float64) (chart.SVG, error)) (*figure,
	error,
) {
	svg, err := draw(chart.Head{ID: id, Width: float64(wide.width)}, float64(wide.height))
	if err != nil {
		return nil, err
	}
	phone, err := draw(chart.Head{ID: id + "-narrow", Width: float64(narrow.width)}, float64(narrow.height))

	return &figure{SVG: svg, Narrow: phone, Width: wide.width}, err
}

// frontRow is a point of the Pareto front in words.
type frontRow struct{ Variant, Point, Link, X, Y string }

// cdfs are the distributions at one point.
type cdfs struct {
	Point  string
	Charts []*figure
}

// legendEntry names a series, for choosing among them.
type legendEntry struct {
	Variant string
	Slot    int
}

// drawer makes the charts of a run.
type drawer struct {
	run    *results.Run
	passes *passes
	links  map[string]string
	cells  []compare.Cell
	order  []string // of variants: those without a colour of their own first, so that the others are above them
	looks  looks
}

func overviewOf(run *results.Run, p *passes, links map[string]string) (overview, error) {
	d := &drawer{run: run, passes: p, links: links}
	d.order = versus.VariantsOf(run)
	d.cells = compare.CellsOf(run.Manifest, run.Results())
	d.looks = looksOf(d.order, d.leaders())
	planned := slices.Clone(d.order)
	rest := func(name string) int { return d.looks.slots[name] / chart.Rest }
	slices.SortStableFunc(d.order, func(a, b string) int { return cmp.Compare(rest(b), rest(a)) })

	var o overview
	tradeoff, front, err := d.tradeoff()
	if err != nil {
		return o, err
	}
	if tradeoff != nil {
		o.Answers, o.Front = append(o.Answers, tradeoff), front
	}

	decides, err := d.deciding()
	if err != nil {
		return o, err
	}
	if decides != nil {
		o.Answers = append(o.Answers, decides)
	}
	if o.Sweep, err = d.sweep(); err != nil {
		return o, err
	}
	if o.CDFs, err = d.distributions(); err != nil {
		return o, err
	}

	for _, name := range planned {
		o.Legend = append(o.Legend, legendEntry{text.Clean(name), d.looks.slots[name]})
	}

	if o.Key, err = d.key(len(front) > 1); err != nil {
		return o, err
	}

	o.Timeline, err = d.timeline()

	return o, err
}

func (d *drawer) href(step string) string { return "#" + d.links[step] }

// ref makes a mark lead to the first step of a cell.
func (d *drawer) ref(c compare.Cell, title string) chart.Ref {
	step := c.Counted[0].Step.ID
	return chart.Ref{Title: title, Href: d.href(step), Step: text.Clean(step), Variant: text.Clean(c.Variant)}
}

func (d *drawer) frontRow(c compare.Cell, at curves.ParetoPoint, unit chart.Unit) frontRow {
	return frontRow{
		Variant: text.Clean(c.Variant), Point: text.Clean(c.Point), Link: d.links[c.Counted[0].Step.ID],
		X: short(at.X), Y: short(at.Y) + " " + string(unit),
	}
}

func (d *drawer) tradeoff() (*figure, []frontRow, error) {
	t := curves.TradeOffOf(d.cells)
	if len(t.Cells) == 0 {
		return nil, nil, nil
	}

	y := chart.Axis{Label: "all output", Unit: "tok/s", Zero: true}
	if t.PerGPU {
		y.Label, y.Unit = "output per GPU", "tok/s/GPU"
	}
	s := chart.ScatterSpec{
		X: chart.Axis{Label: "output per user, while it streams", Unit: "tok/s"}, Y: y,
		Better: "up and right",
		Series: d.tradeSeries(t, y.Unit),
	}

	var rows []frontRow
	for _, i := range t.Front {
		s.Front = append(s.Front, chart.XY(t.At[i]))
		rows = append(rows, d.frontRow(t.Cells[i], t.At[i], y.Unit))
	}

	f, err := drawBoth("tradeoff", size{answerChart, 330}, size{phoneChart, 300},
		func(h chart.Head, height float64) (chart.SVG, error) {
			s.Head, s.Height = h, height
			s.Title, s.Bare = "Throughput against speed per user", true

			return chart.Scatter(s)
		})
	if f != nil {
		f.Caption = d.tradeoffCaption(t)
	}

	return f, rows, err
}

// tradeSeries names the points by their load point, or by their variant where
// there is one load point.
func (d *drawer) tradeSeries(t curves.TradeOff, unit chart.Unit) []chart.PointSeries {
	onePoint := !slices.ContainsFunc(t.Cells, func(c compare.Cell) bool { return c.Point != t.Cells[0].Point })
	var all []chart.PointSeries
	for _, name := range d.order {
		series := chart.PointSeries{Name: text.Clean(name), Slot: d.slot(name)}
		for i, c := range t.Cells {
			if c.Variant != name {
				continue
			}
			title := fmt.Sprintf("%s at %s: %s tok/s per user, %s %s", text.Clean(c.Variant), text.Clean(c.Point),
				short(t.At[i].X), short(t.At[i].Y), unit)
			if !c.Valid() {
				title += " (suspect or incomplete: not ranked)"
			}
			label := text.Clean(c.Point)
			if onePoint && series.Slot == chart.Rest {
				label = ""
			} else if onePoint {
				label = d.looks.names[c.Variant]
			}
			series.Points = append(series.Points, chart.Point{
				X: t.At[i].X, Y: t.At[i].Y, Label: label, Hollow: !c.Valid(), Ref: d.ref(c, title),
			})
		}
		if series.Points != nil {
			all = append(all, series)
		}
	}

	return all
}

// key is the legend of the charts that compare variants; null where there are
// none.
func (d *drawer) key(front bool) (*figure, error) {
	s := chart.KeySpec{Front: front}
	hollow := false
	for _, name := range d.order {
		if slices.ContainsFunc(d.cells, func(c compare.Cell) bool { return c.Variant == name && len(c.Counted) > 0 }) {
			s.Series = append(s.Series, chart.KeySeries{Name: d.looks.names[name], Slot: d.slot(name)})
		}
	}

	for _, c := range d.cells {
		hollow = hollow || len(c.Counted) > 0 && !c.Valid()
	}

	if hollow {
		s.Hollow = "hollow: not ranked"
	}
	if len(s.Series) == 0 {
		return nil, nil //nolint:nilnil // there is nothing to draw, which is not an error
	}

	f, err := drawBoth("key", size{width: keyChart}, size{width: phoneChart},
		func(h chart.Head, _ float64) (chart.SVG, error) {
			s.Head = h
			s.Title = "Legend of the charts"

			return chart.Key(s)
		})
	if f != nil && d.looks.shared != "" {
		f.Caption = "… stands for what all names share: " + d.looks.shared
	}

	return f, err
}

func (d *drawer) tradeoffCaption(t curves.TradeOff) string {
	caption := "Each point is a variant at one load point, linked to its step; mean over server starts. Per user: " +
		"1 / median time per output token."
	if len(t.Front) > 1 {
		caption += " The line is the Pareto front: no valid point lies beyond it."
	}
	if slices.ContainsFunc(t.Cells, func(c compare.Cell) bool { return !c.Valid() }) {
		caption += " Hollow points are suspect or incomplete and not on the front."
	}
	if again := d.run.Manifest.NullTest; again != "" {
		caption += " " + text.Clean(again) + " is the baseline again, as a null test, and not on the front."
	}
	return caption
}

// short writes a figure to three significant digits or more.
func short(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// distributions overlays the variants at each point.
func (d *drawer) distributions() ([]cdfs, error) {
	kinds := []struct {
		name string
		of   func(*pass) *curves.Sketch
	}{
		{"TTFT", func(p *pass) *curves.Sketch { return &p.ttft }},
		{"TPOT", func(p *pass) *curves.Sketch { return &p.tpot }},
		{gapsName, func(p *pass) *curves.Sketch { return &p.icl }},
		{"E2EL", func(p *pass) *curves.Sketch { return &p.e2el }},
	}

	var all []cdfs
	for _, cells := range compare.ByPoint(d.cells) {
		group := cdfs{Point: text.Clean(cells[0].Point)}
		for _, kind := range kinds {
			f, err := d.overlay(kind.name, group.Point, cells, kind.of)
			if err != nil {
				return nil, err
			}
			if f != nil {
				group.Charts = append(group.Charts, f)
			}
		}
		if group.Charts != nil {
			all = append(all, group)
		}
	}

	return all, nil
}

// overlay draws one quantity of several cells; nil where none has it.
func (d *drawer) overlay(name, point string, cells []compare.Cell, of func(*pass) *curves.Sketch) (*figure, error) {
	s := chart.CDFSpec{
		Head: chart.Head{ID: "cdf-" + name + "-" + point, Title: name + " at " + point, Width: smallChart, Bare: true},
		X:    chart.Axis{Label: name, Unit: chart.Seconds, Log: true},
	}

	steps := 0
	for _, c := range cells {
		var sum curves.Sketch
		for _, r := range c.Counted {
			if p := d.passes.of[r.Step.ID]; p != nil {
				sum.Merge(of(p))
				steps++
			}
		}
		if sum.N() > 0 {
			s.Series = append(s.Series, chart.CDFSeries{
				Name: text.Clean(c.Variant), Slot: d.slot(c.Variant),
				Vertices: sum.Vertices(), N: sum.N(), Hollow: !c.Valid(),
			})
		}
	}

	// Those without a colour of their own are beneath the others.
	slices.SortStableFunc(s.Series, func(a, b chart.CDFSeries) int {
		return cmp.Compare(b.Slot/chart.Rest, a.Slot/chart.Rest)
	})

	if s.Series == nil {
		return nil, nil //nolint:nilnil // there is nothing to draw, which is not an error
	}

	svg, err := chart.CDF(s)

	return &figure{
		SVG: svg, Width: smallChart,
		Caption: fmt.Sprintf("%s, all requests of %s", name, text.Count(steps, "step")),
	}, err
}
