package chart

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func labelsOf(s scale) string {
	var out []string
	for _, t := range s.ticks {
		out = append(out, t.label)
	}
	return strings.Join(out, " ")
}

func TestTicks(t *testing.T) {
	for name, c := range map[string]struct {
		axis   Axis
		values []float64
		grows  bool
		want   string
		title  string
	}{
		"plain":     {Axis{Label: "n"}, []float64{0, 7}, loose, "0 2 4 6 8", "n"},
		"not grown": {Axis{Label: "n"}, []float64{0, 7}, tight, "0 2 4 6", "n"},
		"from zero": {Axis{Zero: true}, []float64{40, 95}, loose, "0 20 40 60 80 100", ""},
		"thousands": {
			Axis{Label: "t", Unit: "tok/s", Zero: true},
			[]float64{4100},
			loose,
			"0 1,000 2,000 3,000 4,000 5,000", "t (tok/s)",
		},
		"milliseconds": {
			Axis{Label: "TTFT", Unit: Seconds},
			[]float64{0.012, 0.047},
			loose, "10 20 30 40 50",
			"TTFT (ms)",
		},
		"microseconds": {Axis{Unit: Seconds, Zero: true}, []float64{0.0004}, loose, "0 100 200 300 400", "µs"},
		"minutes":      {Axis{Unit: Seconds}, []float64{0, 600}, loose, "0 2 4 6 8 10", "min"},
		"quarters":     {Axis{Unit: Seconds}, []float64{0, 3600}, loose, "0 15 30 45 60", "min"},
		"bytes": {
			Axis{Label: "VRAM", Unit: Bytes, Zero: true},
			[]float64{70 << 30},
			loose, "0 20 40 60 80",
			"VRAM (GiB)",
		},
		"share":        {Axis{Unit: Share}, []float64{-0.05, 0.1}, loose, "−5 0 5 10", "%"},
		"fractions":    {Axis{}, []float64{0.1, 0.35}, loose, "0.10 0.15 0.20 0.25 0.30 0.35", ""},
		"log":          {Axis{Log: true}, []float64{1, 100}, tight, "1 2 5 10 20 50 100", ""},
		"many decades": {Axis{Log: true}, []float64{1e-3, 1e6}, tight, "0.001 0.1 10 1,000 100k", ""},
		"given":        {Axis{Ticks: []float64{1, 8, 64, 1024}, Log: true}, []float64{1, 64}, tight, "1 8 64", ""},
		"nearly equal": {
			Axis{},
			[]float64{1e9, 1e9 + 4},
			loose,
			"1G 1.000000001G 1.000000002G 1.000000003G 1.000000004G", "",
		},
		"large":      {Axis{Zero: true}, []float64{2.4e6}, loose, "0 500k 1M 1.5M 2M 2.5M", ""},
		"one value":  {Axis{}, []float64{3}, loose, "2.6 2.8 3.0 3.2 3.4", ""},
		"zero only":  {Axis{}, []float64{0}, loose, "0.0 0.2 0.4 0.6 0.8 1.0", ""},
		"below zero": {Axis{Zero: true}, []float64{-30}, loose, "−30 −20 −10 0", ""},
	} {
		s := newSpan(c.axis)
		for _, v := range c.values {
			s.add(v)
		}
		got := newScale(c.axis, s, 5, c.grows)
		if labelsOf(got) != c.want || got.title(c.axis) != c.title {
			t.Errorf("%s: ticks %q, title %q, want %q, %q", name, labelsOf(got), got.title(c.axis), c.want, c.title)
		}
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		unit Unit
		v    float64
		want string
	}{
		{Number, 0, "0"},
		{Number, 1234, "1,234"},
		{Number, 99999, "99,999"},
		{Number, 123456, "123k"},
		{Number, 2.5e9, "2.5G"},
		{Number, -0.125, "−0.125"},
		{Number, 1e-9, "1e-9"},
		{Number, math.NaN(), "not known"},
		{Number, math.Inf(1), "not known"},
		{Number, 0.99951, "1"},
		{Seconds, 0.0123, "12.3 ms"},
		{Seconds, 2, "2 s"},
		{Seconds, 95, "95 s"},
		{Seconds, 600, "10 min"},
		{Seconds, 3600 * 5, "5 h"},
		{Seconds, 0, "0 s"},
		{Seconds, 2e-6, "2 µs"},
		{Bytes, 0, "0 B"},
		{Bytes, 1 << 30, "1 GiB"},
		{Bytes, 1536, "1.5 KiB"},
		{Share, 0.034, "3.4 %"},
		{"tok/s", 812.34, "812 tok/s"},
	} {
		if got := c.unit.words(c.v); got != c.want {
			t.Errorf("Unit(%q).words(%g) = %q, want %q", c.unit, c.v, got, c.want)
		}
	}
}

func TestClockTicks(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	for name, c := range map[string]struct {
		start  time.Time
		hi     float64
		want   string
		titled string
	}{
		"hours over midnight": {
			time.Date(2026, 11, 27, 22, 13, 5, 0, zone), 4 * 3600,
			"27 Nov 22:30 23:00 23:30 28 Nov 00:00 00:30 01:00 01:30 02:00", "time of day, CET",
		},
		"half a minute": {
			time.Date(2026, 11, 27, 22, 13, 5, 0, time.UTC), 40,
			"27 Nov 22:13:05 22:13:10 22:13:15 22:13:20 22:13:25 22:13:30 22:13:35 22:13:40 22:13:45",
			"time of day, UTC",
		},
		"two seconds": {
			time.Date(2026, 11, 27, 22, 13, 5, 0, time.UTC), 2, "0.0 0.5 1.0 1.5 2.0",
			"time since 2026-11-27 22:13:05 UTC (s)",
		},
		"a quarter of a second": { // the labels are in the unit that the title says
			time.Date(2026, 11, 27, 22, 13, 5, 0, time.UTC), 0.24, "0 50 100 150 200",
			"time since 2026-11-27 22:13:05 UTC (ms)",
		},
		"years": {time.Date(2026, 11, 27, 22, 13, 5, 0, time.UTC), 1e12, "", "time of day, UTC"},
	} {
		ticks, title := clockTicks(c.start, 0, c.hi, 9)
		if got := labelsOf(scale{ticks: ticks}); got != c.want || title != c.titled {
			t.Errorf("%s: %q, %q, want %q, %q", name, got, title, c.want, c.titled)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"short", "short"}, {"  spaced ", "spaced"}, {"a-long-variant-name-fp8", "a-long…me-fp8"}, {"", ""},
	} {
		got := cut(c.in, textSize, 90)
		if got != c.want {
			t.Errorf("cut(%q) = %q, want %q", c.in, got, c.want)
		}
		if w := textWidth(got, textSize); w > 90 {
			t.Errorf("cut(%q) is %g wide", c.in, w)
		}
	}
}

// No peak and no dip is lost by thinning.
func TestThinnedKeepsExtremes(t *testing.T) {
	c := newCanvas(400, 200)
	f := newFrame(c, scale{max: 1}, scale{max: 1}, 10, 10, 10, 10)
	var points []LinePoint
	for i := range 50_000 {
		points = append(points, LinePoint{X: float64(i) / 50_000, Y: 0.5})
	}
	points[12_345].Y, points[33_333].Y = 1, 0
	line := f.runs(points)[0]
	got := f.thinned(line)
	if len(got) > 4*400 {
		t.Errorf("%d points of %d are left", len(got), len(line))
	}
	for _, i := range []int{0, 12_345, 33_333, 49_999} {
		if !slices.Contains(got, line[i]) {
			t.Errorf("point %d is lost", i)
		}
	}
}

func TestSafeHref(t *testing.T) {
	for in, want := range map[string]string{
		"#step": "#step", "steps/a/server.log": "steps/a/server.log",
		"https://example.org/x?a=b:c": "https://example.org/x?a=b:c", "": "",
		"javascript:alert(1)": "", "JAVASCRIPT:x": "", "java\nscript:x": "", " data:text/html,x": "", "a/b:c": "a/b:c",
		"?q=a:b": "?q=a:b", "file:///etc/passwd": "",
	} {
		if got := safeHref(in); got != want {
			t.Errorf("safeHref(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestIDs(t *testing.T) {
	for in, want := range map[string]string{
		"night": "night", "9 lives": "c9-lives", "": "c", "a\"><b": "a---b",
		"é": "c-",
	} {
		if got := idOf(in); got != want {
			t.Errorf("idOf(%q) = %q, want %q", in, got, want)
		}
	}
}

// What differs by rounding only is one value, not the two ends of an axis.
func TestRoundingIsNoRange(t *testing.T) {
	lo, hi := limits(Axis{}, &span{lo: 11.1111111111111, hi: 11.1111111111112})
	if hi-lo < 1 {
		t.Errorf("from %v to %v", lo, hi)
	}
	if lo, hi := limits(Axis{}, &span{lo: 1000, hi: 1000.001}); lo != 1000 || hi != 1000.001 {
		t.Errorf("a small range: from %v to %v", lo, hi)
	}
}
