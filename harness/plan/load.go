package plan

import (
	"math"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/scenarios"
)

// ShareOf is the load that one replica gets of which several are to be
// extrapolated: its part of the concurrency and of the rate. It sends all
// prompts.
func ShareOf(v scenarios.Variant, l scenarios.Load) scenarios.Load {
	n := v.Extrapolate
	if n <= 1 {
		return l
	}
	if l.MaxConcurrency > 0 {
		l.MaxConcurrency = max(1, l.MaxConcurrency/n)
	}
	if !math.IsInf(l.RequestRate, 1) {
		l.RequestRate /= float64(n)
	}
	l.Ramp.Start, l.Ramp.End = l.Ramp.Start/float64(n), l.Ramp.End/float64(n)
	return l
}

// oneTokenPoint is a load whose answers have one token.
func oneTokenPoint(l scenarios.Load) scenarios.Load {
	l.OutputLen = 1
	return l
}

// WarmupSeed moves warm-up prompts away from the seeds of the measured ones.
const WarmupSeed = 1_000_003

// WarmupCount is how many prompts are made for the warm-ups.
func WarmupCount(l scenarios.Load) int {
	switch {
	case l.Dataset.NumPrefixes > 0:
		return max(l.Warmups, l.Dataset.NumPrefixes) // fewer cannot be made
	case l.Dataset.Kind == "prefix_repetition":
		return max(l.Warmups, 10)
	}
	return l.Warmups
}

// PromptSpec returns the order for n prompts of a load's dataset, made from seed.
func PromptSpec(l scenarios.Load, seed uint64, n int) dataset.Spec {
	d := l.Dataset
	spec := dataset.Spec{
		Kind: d.Kind, Path: d.Path, Seed: seed, N: n, InputLen: l.InputLen, OutputLen: l.OutputLen,
		TokenIDs: d.TokenIDs, VocabSize: d.VocabSize, RangeRatio: d.RangeRatio, PrefixLen: d.PrefixLen,
		Shuffle: d.Shuffle,
		Compat:  l.Compat, RangeRatioOutput: d.OutputRangeRatio, SuffixLen: d.SuffixLen, NumPrefixes: d.NumPrefixes,
		NoOversample: !d.Oversample, Turns: d.Turns, Subset: d.Subset, Field: d.Field,
		TemplateTokens: d.TemplateTokens, BlockLen: d.BlockLen, TimeUnitS: d.TimeUnit.Seconds(),
	}

	if d.Images.PerRequest > 0 {
		spec.Images = &dataset.Images{
			PerRequest: d.Images.PerRequest, Format: d.Images.Format,
			Quality: d.Images.Quality,
		}
		for _, size := range d.Images.Sizes {
			spec.Images.Sizes = append(spec.Images.Sizes, dataset.ImageSize{Width: size.Width, Height: size.Height})
		}
	}

	return spec
}
