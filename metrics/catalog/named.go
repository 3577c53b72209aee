package catalog

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// timeName matches the name of a statistic of a sample: "p99_ttft_ms".
var timeName = sync.OnceValue(func() *regexp.Regexp {
	var samples []string
	for _, s := range Samples() {
		samples = append(samples, s.Name)
	}
	return regexp.MustCompile(`^(n|mean|median|std|min|max|p([0-9]+(?:\.[0-9]+)?))_(` + strings.Join(samples, "|") +
		`)_(s|ms)$`)
})

// findable lists the figures that have a name of their own.
var findable = sync.OnceValue(func() []Figure { return All(Pass, Shares, Energy, Hardware, Heat, Cost) })

// statistics are those of a sample apart from percentiles, in the order of
// summary.csv.
func statistics() []string { return []string{"n", "mean", "median", "std", "min", "max"} }

// Figure is a statistic of the sample: "n", "mean", "median", "std", "min",
// "max", or a percentile, as "p99".
func (s Sample) Figure(stat string, p float64) Figure {
	f := Figure{
		Name: stat + "_" + s.Name + "_s", Title: stat + " " + strings.ToUpper(s.Name) + " ms", Unit: "ms",
		Group: Latency, Scale: 1000, P: p, Shown: s.shown,
		Sample: func(r *results.Figures) results.Dist { return *s.At(r) },
		Stat: map[string]func(results.Dist) *float64{
			"n":      sampleSize,
			"mean":   func(d results.Dist) *float64 { return d.Mean },
			"median": func(d results.Dist) *float64 { return d.Median },
			"std":    func(d results.Dist) *float64 { return d.Std },
			"min":    func(d results.Dist) *float64 { return d.Min },
			"max":    func(d results.Dist) *float64 { return d.Max },
		}[stat],
		Whole: stat == "n", Condition: stat != "n", Drawn: slices.Contains(s.drawn, stat),
	}

	if stat == "n" {
		f.File = "n_" + s.Name // a count, not seconds
	}
	if f.Stat == nil {
		f.Stat = func(d results.Dist) *float64 { return metrics.At(d, p) }
	}
	if slices.Contains(s.columns, stat) {
		f.Column = Heading{strings.ToUpper(s.Name) + " ms", stat}
	}

	f.pass = func(r *results.Figures) *float64 { return f.Stat(*s.At(r)) }
	return f.ready()
}

// InFile are all figures of the sample that summary.csv has.
func (s Sample) InFile(percentiles []float64) []Figure {
	var all []Figure
	for _, stat := range statistics() {
		all = append(all, s.Figure(stat, 0))
	}
	for _, p := range percentiles {
		all = append(all, s.Figure(metrics.PercentileName(p), p))
	}
	return all
}

// latencyFigures are mean, median and p99 of each sample that is compared.
func latencyFigures() []Figure {
	const p = 99
	var all []Figure
	for _, s := range Samples() {
		if s.compared {
			tail := s.Figure(metrics.PercentileName(p), p)
			for _, f := range []Figure{s.Figure("mean", 0), s.Figure("median", 0), tail} {
				f.Compared, f.Extra = true, s.extra
				all = append(all, f)
			}
		}
	}
	return all
}

// ofPart is the figure of a class, adapter or stage of a load, or of its probes. Only
// what follows from the requests is known of a part.
func (f Figure) ofPart(part string) (Figure, error) {
	if f.Group != Pass && f.Group != Latency && f.Group != Shares || part == "" {
		return Figure{}, fmt.Errorf("figure %q: not known of a part of a load", f.Name+"@"+part)
	}

	of := f.Of
	f.Of = func(r *results.Result) *float64 {
		figures := r.Part(part)
		if figures == nil {
			return nil
		}
		alone := *r
		alone.Figures, alone.Extrapolated = figures, nil
		return of(&alone)
	}
	f.Name, f.Title = f.Name+"@"+part, f.Title+" of "+part
	f.pass, f.Sample, f.Shown, f.At, f.file = nil, nil, nil, nil, nil
	f.Column, f.Detail, f.Drawn = Heading{}, Heading{}, false
	return f, nil
}

// Find is a figure by its name, or by that in summary.csv. That of a class, adapter
// or stage of a load has its name behind an @: "p99_ttft_s@chat".
func Find(name string) (Figure, error) { return withPart(name, find) }

// withPart finds the figure of a name, or that of the part behind an @.
func withPart(name string, find func(string) (Figure, error)) (Figure, error) {
	name, part, of := strings.Cut(name, "@")
	f, err := find(name)
	if err != nil || !of {
		return f, err
	}
	return f.ofPart(part)
}

func find(name string) (Figure, error) {
	if parts := timeName().FindStringSubmatch(name); parts != nil {
		p := 0.0
		if parts[2] != "" {
			var err error
			if p, err = strconv.ParseFloat(parts[2], 64); err != nil || p > 100 {
				return Figure{}, fmt.Errorf("figure %q: a percentile is from 0 to 100", name)
			}
		}
		all := Samples()
		at := slices.IndexFunc(all, func(s Sample) bool { return s.Name == parts[3] })
		return all[at].Figure(parts[1], p), nil
	}

	all := findable()
	if at := slices.IndexFunc(all, func(f Figure) bool { return f.Name == name || f.FileName() == name }); at >= 0 {
		return all[at], nil
	}
	return Figure{}, fmt.Errorf("figure %q: not known", name)
}

// Named finds a figure that a condition may name, as in summary.csv. Times may be
// asked for in ms too, and there are two shares: of requests that succeeded, and
// of those that met every goal of goodput, both of all requests that were sent or
// meant to be. Where one replica stands for several, it is that of the one.
func Named(name string) (Figure, error) { return withPart(name, named) }

func named(name string) (Figure, error) {
	f, err := find(name)
	if err != nil {
		return f, err
	}
	if !f.Condition {
		return Figure{}, fmt.Errorf("figure %q: not one of a condition", name)
	}

	if f.Name = name; f.pass == nil {
		return f, nil
	}

	scale := 1.0
	if InMilliseconds(name) {
		scale = 1000
	}
	f.Of = func(r *results.Result) *float64 {
		if r.Figures == nil {
			return nil
		}
		v := f.pass(r.Figures)
		if v == nil {
			return nil
		}
		return new(*v * scale)
	}

	return f, nil
}

// InMilliseconds reports whether the name of a figure, of a part of a load too, asks
// for it in ms.
func InMilliseconds(name string) bool {
	figure, _, _ := strings.Cut(name, "@")
	return strings.HasSuffix(figure, "_ms")
}

// ConditionNames are names of figures that conditions may use, those of
// percentiles by example.
func ConditionNames() []string {
	var names []string
	for _, f := range All(Pass, Shares, Energy) {
		if f.Condition {
			names = append(names, f.Name)
		}
	}
	for _, kind := range []string{"mean", "median", "p50", "p90", "p95", "p99"} {
		for _, s := range Samples() {
			names = append(names, kind+"_"+s.Name+"_ms", kind+"_"+s.Name+"_s")
		}
	}
	return names
}

// PercentileOf is the percentile that a figure is; ok is false if it is not one.
func PercentileOf(name string) (p float64, ok bool) {
	name, _, _ = strings.Cut(name, "@")
	parts := timeName().FindStringSubmatch(name)
	if parts == nil || parts[2] == "" {
		return 0, false
	}
	p, err := strconv.ParseFloat(parts[2], 64)
	return p, err == nil
}

// Holds reports whether a step's figure is as the condition says, and its value;
// null where the step does not have it.
func Holds(c results.Condition, r *results.Result) (value *float64, holds bool) {
	f, err := Named(c.Figure)
	if err != nil {
		return nil, false
	}
	if value = f.Of(r); value == nil {
		return nil, false
	}

	switch v := *value; c.Op {
	case "<":
		return value, v < c.Value
	case "<=":
		return value, v <= c.Value
	case ">":
		return value, v > c.Value
	default:
		return value, v >= c.Value
	}
}

// NameOf is the name of a figure that vLLM's client or summary.csv calls so:
// "p99_ttft_s" for "p99_ttft_ms".
func NameOf(name string) string {
	if whole, part, ok := strings.Cut(name, "@"); ok && part != "" {
		if _, err := Find(whole); err == nil { // not a test of llama-bench
			return NameOf(whole) + "@" + part
		}
	}
	if f, err := Find(name); err == nil && f.FileName() == name {
		return f.Name
	}
	if stem, ok := strings.CutSuffix(name, "_ms"); ok {
		return stem + "_s"
	}
	return name
}

// Among is the figure of a name, or one that shows the name alone.
func Among(figures []Figure, name string) Figure {
	at := slices.IndexFunc(figures, func(f Figure) bool { return f.Name == name })
	if at < 0 {
		return Figure{Name: name, Title: name, Scale: 1}
	}
	return figures[at]
}
