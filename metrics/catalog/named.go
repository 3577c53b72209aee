package catalog

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// NamedFigure is a figure of a step that a condition names.
type NamedFigure struct {
	Name   string
	P      float64 // the percentile that it is; 0: none
	Higher bool    // is better
	Share  bool    // from 0 to 1
	Goals  bool    // needs the load's goodput goals

	of func(*results.Result) *float64
}

// Of is the figure in the unit of its name; null where the step does not know it.
func (f NamedFigure) Of(r *results.Result) *float64 { return f.of(r) }

var timeName = regexp.MustCompile(`^(mean|median|std|min|max|p([0-9]+(?:\.[0-9]+)?))_(ttft|tpot|itl|icl|e2el|ttft_from_intended|e2el_from_intended)_(s|ms)$`)

// Named finds a figure by its name in summary.csv. Times may be asked for
// in ms too, and there are two shares: of requests that succeeded, and of those
// that met every goal of goodput, both of all requests that were sent or meant to be.
func Named(name string) (NamedFigure, error) {
	if parts := timeName.FindStringSubmatch(name); parts != nil {
		return timeFigure(name, parts[1], parts[2], parts[3], parts[4])
	}
	for _, f := range plainFigures() {
		if f.Name == name {
			return f, nil
		}
	}
	return NamedFigure{}, fmt.Errorf("figure %q: not known", name)
}

func timeFigure(name, kind, percentile, sample, unit string) (NamedFigure, error) {
	f := NamedFigure{Name: name}
	if percentile != "" {
		p, err := strconv.ParseFloat(percentile, 64)
		if err != nil || p > 100 {
			return f, fmt.Errorf("figure %q: a percentile is from 0 to 100", name)
		}
		f.P = p
	}

	scale := 1.0
	if unit == "ms" {
		scale = 1000
	}

	dist, pick := samples()[sample], picks()[kind]
	f.of = func(r *results.Result) *float64 {
		if r.Figures == nil {
			return nil
		}
		d := dist(r.Figures)
		v := metrics.At(d, f.P)
		if pick != nil {
			v = pick(d)
		}
		if v == nil {
			return nil
		}
		return new(*v * scale)
	}

	return f, nil
}

func samples() map[string]func(*results.Figures) results.Dist {
	return map[string]func(*results.Figures) results.Dist{
		"ttft": func(f *results.Figures) results.Dist { return f.TTFT }, "tpot": func(f *results.Figures) results.Dist { return f.TPOT },
		"itl": func(f *results.Figures) results.Dist { return f.ITL }, "icl": func(f *results.Figures) results.Dist { return f.ICL },
		"e2el":               func(f *results.Figures) results.Dist { return f.E2EL },
		"ttft_from_intended": func(f *results.Figures) results.Dist { return f.TTFTFromIntended },
		"e2el_from_intended": func(f *results.Figures) results.Dist { return f.E2ELFromIntended },
	}
}

func picks() map[string]func(results.Dist) *float64 {
	return map[string]func(results.Dist) *float64{
		"mean": func(d results.Dist) *float64 { return d.Mean }, "median": func(d results.Dist) *float64 { return d.Median },
		"std": func(d results.Dist) *float64 { return d.Std }, "min": func(d results.Dist) *float64 { return d.Min }, "max": func(d results.Dist) *float64 { return d.Max },
	}
}

func plainFigures() []NamedFigure {
	rate := func(name string, of func(*results.Figures) *float64) NamedFigure {
		return NamedFigure{Name: name, Higher: true, of: func(r *results.Result) *float64 {
			if r.Figures == nil {
				return nil
			}
			return of(r.Figures)
		}}
	}

	share := func(name string, good func(*results.Figures) *float64) NamedFigure {
		f := rate(name, func(f *results.Figures) *float64 { return shareOfAsked(f, good(f)) })
		f.Share = true
		return f
	}

	goodput := func(f *results.Figures) *float64 { return f.RequestGoodput }
	all := []NamedFigure{
		rate("request_throughput", func(f *results.Figures) *float64 { return f.RequestThroughput }),
		rate("request_goodput", goodput),
		rate("output_throughput", func(f *results.Figures) *float64 { return f.OutputThroughput }),
		rate("total_token_throughput", func(f *results.Figures) *float64 { return f.TotalTokenThroughput }),
		share("success_share", func(f *results.Figures) *float64 { return f.RequestThroughput }),
		share("goodput_share", goodput),
		{Name: "j_per_output_token", of: joulesPerOutputToken},
	}

	for i := range all {
		all[i].Goals = all[i].Name == "request_goodput" || all[i].Name == "goodput_share"
	}

	return all
}

// shareOfAsked is a rate of requests as a share of all that were asked for.
func shareOfAsked(f *results.Figures, perSecond *float64) *float64 {
	asked := f.Completed + f.Failed + f.Unsent
	if perSecond == nil || asked == 0 {
		return nil
	}
	return new(math.Round(*perSecond*f.DurationS) / float64(asked))
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
