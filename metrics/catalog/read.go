package catalog

import (
	"math"

	"github.com/benchrig/bench/results"
)

// OfFigures is null for steps without figures. Where one replica stands for
// several the rates are those of all.
func OfFigures(of func(*results.Figures) *float64) func(*results.Result) *float64 {
	return func(r *results.Result) *float64 {
		f := r.Headline()
		if f == nil {
			return nil
		}
		return of(f)
	}
}

// ofCounts is null for what an imported file does not state.
func ofCounts(of func(results.KnownCounts) *float64) func(*results.Result) *float64 {
	return func(r *results.Result) *float64 {
		f := r.Headline()
		if f == nil {
			return nil
		}
		return of(r.Known(f))
	}
}

// sampleSize is null where figures of a sample are stated and its size is not.
func sampleSize(d results.Dist) *float64 {
	if d.N == 0 && (d.Mean != nil || d.Median != nil || len(d.Percentiles) > 0 && d.Percentiles[0].Value != nil) {
		return nil
	}
	return new(float64(d.N))
}

// ofSum reads a figure of the GPUs together.
func ofSum(of func(*results.GPUFigures) *float64) func(*results.Result) *float64 {
	return func(r *results.Result) *float64 {
		if r.Telemetry == nil || r.Telemetry.Sum == nil {
			return nil
		}
		return of(r.Telemetry.Sum)
	}
}

func ofEfficiency(of func(*results.Efficiency) *float64) func(*results.Result) *float64 {
	return func(r *results.Result) *float64 {
		if r.Telemetry == nil || r.Telemetry.Efficiency == nil {
			return nil
		}
		return of(r.Telemetry.Efficiency)
	}
}

func ofCost(of func(*results.Cost) *float64) func(*results.Result) *float64 {
	return func(r *results.Result) *float64 {
		if r.Cost == nil {
			return nil
		}
		return of(r.Cost)
	}
}

func float[N int | int64](n *N) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

// memory is what a GPU had in use: video memory, or where it has none of its
// own, the host's as well.
type memory struct{ Baseline, Loaded, Peak *int64 }

// MemoryOf is the memory that figures of GPUs are about.
func MemoryOf(g *results.GPUFigures) memory {
	if g.Unified && g.MemoryPeak != nil {
		return memory{g.MemoryBase, g.MemoryLoaded, g.MemoryPeak}
	}
	return memory{g.VRAMBaseline, g.VRAMLoaded, g.VRAMPeak}
}

// shareOfAsked is a rate of requests as a share of all that were asked for.
func shareOfAsked(f *results.Figures, perSecond *float64) *float64 {
	asked := f.Completed + f.Failed + f.Unsent
	if perSecond == nil || asked == 0 {
		return nil
	}
	return new(math.Round(*perSecond*f.DurationS) / float64(asked))
}
