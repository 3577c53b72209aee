package chart_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/metrics/curves"
	"github.com/benchrig/bench/report/chart"
)

// element is what the tests look at.
type element struct {
	name string
	attr map[string]string
	text string
}

// parse reads an svg as strict XML and fails the test if it is not XML.
func parse(t testing.TB, svg string) []element {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(svg))
	dec.Strict = true
	var out []element
	var open []int
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("not XML: %v\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attr: map[string]string{}}
			for _, a := range token.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			open, out = append(open, len(out)), append(out, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				out[open[len(open)-1]].text += string(token)
			}
		}
	}
}

// runs reports whether an address has a scheme that a browser may run.
func runs(href string) bool {
	scheme, _, found := strings.Cut(href, ":")
	return found && !strings.ContainsAny(scheme, "#/?") && scheme != "http" && scheme != "https"
}

// allowed are the elements that charts are made of.
var allowed = map[string]bool{
	"svg": true, "title": true, "desc": true, "g": true, "a": true, "path": true,
	"text": true, "pattern": true,
}

// sound checks what holds for every drawing.
func valid(t testing.TB, svg string) []element {
	t.Helper()
	all := parse(t, svg)
	root := all[0]
	links := false
	for _, e := range all {
		if !allowed[e.name] {
			t.Errorf("element %q in %s", e.name, svg)
		}
		for name, value := range e.attr {
			if strings.HasPrefix(name, "on") || name == "style" || name == "width" && e.name == "svg" {
				t.Errorf("attribute %s of %s", name, e.name)
			}
			if strings.Contains(value, "NaN") && name != "id" && !strings.HasPrefix(name, "data-") && name != "href" {
				t.Errorf("%s=%q of %s", name, value, e.name)
			}
		}
		if e.name == "a" {
			links = true
			if href := e.attr["href"]; href == "" || runs(href) {
				t.Errorf("href %q", href)
			}
		}
	}
	wantRole := "img"
	if links {
		wantRole = "group"
	}
	if root.attr["role"] != wantRole {
		t.Errorf("role %q, want %q (links: %v)", root.attr["role"], wantRole, links)
	}
	if root.attr["viewBox"] == "" || root.attr["width"] != "" {
		t.Errorf("svg is not free in its size: %v", root.attr)
	}
	if all[1].name != "title" || strings.TrimSpace(all[1].text) == "" ||
		all[1].attr["id"] != root.attr["aria-labelledby"] {
		t.Errorf("title %+v, labelled by %q", all[1], root.attr["aria-labelledby"])
	}
	if all[2].name != "desc" || strings.TrimSpace(all[2].text) == "" ||
		all[2].attr["id"] != root.attr["aria-describedby"] {
		t.Errorf("desc %+v, described by %q", all[2], root.attr["aria-describedby"])
	}
	return all
}

func TestGalleryIsSound(t *testing.T) {
	for _, d := range gallery() {
		t.Run(d.name, func(t *testing.T) { valid(t, draw(t, d)) })
	}
}

// kinds draws every kind of chart from one list of numbers and one name.
func kinds(values []float64, name string, log bool) []drawn {
	h := chart.Head{ID: name, Title: "t" + name}
	a := chart.Axis{Label: name, Unit: chart.Unit(name), Log: log}
	ref := chart.Ref{Title: name, Href: name, Step: name, Variant: name}
	var points []chart.Point
	var line []chart.LinePoint
	var bars []chart.Bar
	var rows []curves.RequestSpan
	var levels []curves.Level
	lane := chart.Lane{Name: name}
	var vertices []curves.CDFVertex
	for i, v := range values {
		vertices = append(vertices, curves.CDFVertex{X: v, P: float64(i+1) / float64(len(values))})
		next := values[(i+1)%len(values)]
		points = append(points, chart.Point{X: v, Y: next, Label: name, Ref: ref})
		line = append(line, chart.LinePoint{X: v, Y: next, Low: &v, High: &next, Ref: ref})
		bars = append(bars, chart.Bar{Label: name, Slot: i, Value: v, Low: &v, High: &next, Ref: ref})
		rows = append(rows, curves.RequestSpan{Index: i, IntendedS: v, SentS: &next, FirstS: &v, EndS: next})
		levels = append(levels, curves.Level{AtS: v, Value: next})
		lane.Spans = append(lane.Spans, chart.Span{
			FromS: v, ToS: next,
			Class: chart.Class([]string{"ok", "failed", name}[i%3]), Label: name, Ref: ref,
		})
		lane.Marks = append(lane.Marks, chart.Mark{AtS: v, Label: name, Ref: ref})
	}
	series := []chart.LineSeries{{Name: name, Points: line}}
	timeline := chart.TimelineSpec{Head: h, Lanes: []chart.Lane{lane}, Curves: []chart.Panel{{Y: a, Series: series}}}
	clock := timeline
	clock.Start = time.Date(2026, 11, 28, 23, 59, 0, 0, time.UTC)
	var front []chart.XY
	for _, p := range points {
		front = append(front, chart.XY{X: p.X, Y: p.Y})
	}
	return []drawn{
		{"scatter", func() (chart.SVG, error) {
			return chart.Scatter(chart.ScatterSpec{
				Head: h, X: a, Y: a,
				Series: []chart.PointSeries{{Name: name, Points: points}}, Front: front, Better: name,
			})
		}},
		{"lines", func() (chart.SVG, error) {
			return chart.Lines(chart.LinesSpec{Head: h, X: a, Y: a, Series: series})
		}},
		{"cdf", func() (chart.SVG, error) {
			return chart.CDF(chart.CDFSpec{Head: h, X: a, Series: []chart.CDFSeries{{
				Name: name, Vertices: vertices, N: len(values),
			}}})
		}},
		{"bars", func() (chart.SVG, error) {
			return chart.Bars(chart.BarsSpec{Head: h, Value: a, Bars: bars, Reference: new(1.0)})
		}},
		{"timeline", func() (chart.SVG, error) { return chart.Timeline(timeline) }},
		{"clock", func() (chart.SVG, error) { return chart.Timeline(clock) }},
		{"requests", func() (chart.SVG, error) { return chart.Requests(chart.RequestsSpec{Head: h, Rows: rows}) }},
		{"in-flight", func() (chart.SVG, error) {
			return chart.InFlight(chart.InFlightSpec{
				Head:   h,
				Panels: []chart.Panel{{Y: a, Series: []chart.LineSeries{{Name: name, Points: chart.Levels(levels)}}}},
			})
		}},
	}
}

func TestHardCases(t *testing.T) {
	many := make([]float64, 2500)
	for i := range many {
		many[i] = math.Sin(float64(i)/50) * float64(i)
	}
	inf, nan := math.Inf(1), math.NaN()
	for name, values := range map[string][]float64{
		"none": nil, "one": {3}, "one zero": {0}, "equal": {5, 5, 5, 5}, "nothing known": {nan, nan},
		"infinite":   {inf, -inf, inf},
		"some known": {1, nan, 3, inf, 2}, "negative": {-3, -2, -9}, "huge": {-math.MaxFloat64, math.MaxFloat64, 0, 1},
		"tiny": {math.SmallestNonzeroFloat64, 0, 1e-300}, "many": many, "decades": {1e-9, 1e9, 1e15},
		"close": {1e9, 1e9 + 1e-4, 1e9 + 2e-4},
	} {
		for _, log := range []bool{false, true} {
			if log && len(values) > 1000 {
				continue
			}
			for _, d := range kinds(values, name, log) {
				t.Run(fmt.Sprintf("%s/%s/log=%v", name, d.name, log), func(t *testing.T) {
					svg := draw(t, d)
					valid(t, svg)
					if len(svg) > 2<<20 {
						t.Errorf("%d bytes", len(svg))
					}
				})
			}
		}
	}
}

func TestHostileNames(t *testing.T) {
	for _, name := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onclick='x`, "a&b",
		"\x00\x01\x1b[31m\x7f\u0085", "\xff\xfe", "]]>",
		"javascript:alert(1)", " JavaScript:alert(1)", "data:text/html,x", "\u202eright", "\ufffe", "名前とても長い名前",
		strings.Repeat("x", 5000), "日本\nnew\tline",
	} {
		for _, d := range kinds([]float64{1, 2, 3, 4}, name, false) {
			t.Run(fmt.Sprintf("%.20q/%s", name, d.name), func(t *testing.T) { valid(t, draw(t, d)) })
		}
	}
}

func TestNoTitle(t *testing.T) {
	for _, d := range []func() (chart.SVG, error){
		func() (chart.SVG, error) { return chart.Scatter(chart.ScatterSpec{}) },
		func() (chart.SVG, error) {
			return chart.Bars(chart.BarsSpec{Head: chart.Head{Title: "  "}})
		},
	} {
		if _, err := d(); err == nil || !strings.Contains(err.Error(), "no title") {
			t.Errorf("error %v, want one about the title", err)
		}
	}
}

func FuzzDrawings(f *testing.F) {
	f.Add("a<b>&\"'", 1.0, 2.0, 3.0, false)
	f.Add("javascript:x", math.Inf(1), -1e308, 1e308, true)
	f.Add("\x00", math.NaN(), 0.0, 5e-324, true)
	f.Fuzz(func(t *testing.T, name string, a, b, c float64, log bool) {
		for _, d := range kinds([]float64{a, b, c, a}, name, log) {
			svg := draw(t, d)
			valid(t, svg)
			if again := draw(t, d); again != svg {
				t.Errorf("%s: drawn twice, it differs", d.name)
			}
		}
	})
}
