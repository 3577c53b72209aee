package stated

import (
	"math"
	"slices"

	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/results"
)

// set gives a figure its value, in bench's unit. It returns false where the figure
// has another value already, or cannot have this one.
func (e *Entry) set(t labels.Target, v float64) bool {
	f := &e.Figures
	if t.Stat != "" {
		return e.setLatency(t, v)
	}

	switch t.Name {
	case "completed":
		return setCount(&f.Completed, v)
	case "failed":
		return setCount(&f.Failed, v)
	case "duration_s":
		if f.DurationS != 0 && f.DurationS != v || v < 0 {
			return false
		}
		f.DurationS = v
		return true
	case "total_input_tokens":
		return setTotal(&f.TotalInputTokens, v)
	case "total_output_tokens":
		return setTotal(&f.TotalOutputTokens, v)
	case "peak_concurrent_requests":
		if e.Peak != nil || v != math.Trunc(v) || math.Abs(v) > math.MaxInt32 {
			return false
		}
		e.Peak = new(int(v))
		return true
	}

	known, err := catalog.Find(t.Name)
	return err == nil && known.At != nil && setOnce(known.At(f), v)
}

func setOnce(at **float64, v float64) bool {
	if *at != nil {
		return **at == v
	}
	*at = &v
	return true
}

func setCount(at *int, v float64) bool {
	if v != math.Trunc(v) || v < 0 || v > math.MaxInt32 || *at != 0 && *at != int(v) {
		return false
	}
	*at = int(v)
	return true
}

func setTotal(at **int64, v float64) bool {
	const most = 1 << 53
	if v != math.Trunc(v) || v < 0 || v > most || *at != nil && **at != int64(v) {
		return false
	}
	*at = new(int64(v))
	return true
}

func (e *Entry) setLatency(t labels.Target, v float64) bool {
	all := catalog.Samples()
	at := slices.IndexFunc(all, func(s catalog.Sample) bool { return s.Name == t.Name })
	if at < 0 {
		return false
	}

	d := all[at].At(&e.Figures)
	switch t.Stat {
	case "n":
		return setCount(&d.N, v)
	case "p":
		if known := metrics.At(*d, t.P); known != nil {
			return *known == v
		}
		at, _ := slices.BinarySearchFunc(d.Percentiles, t.P,
			func(f results.PercentileFigure, p float64) int { return int(math.Copysign(1, f.P-p)) })
		d.Percentiles = slices.Insert(d.Percentiles, at, results.PercentileFigure{P: t.P, Value: &v})
		return true
	}

	return setOnce(map[string]**float64{
		"mean": &d.Mean, "median": &d.Median, "std": &d.Std, "min": &d.Min, "max": &d.Max,
	}[t.Stat], v)
}
