package plan

import (
	"math"
	"slices"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
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

	l.Stages = slices.Clone(l.Stages)
	for i := range l.Stages {
		s := &l.Stages[i]
		if s.RequestRate != nil {
			s.RequestRate = new(*s.RequestRate / float64(n))
		}
		if s.MaxConcurrency > 0 {
			s.MaxConcurrency = max(1, s.MaxConcurrency/n)
		}
	}

	l.Ramp.Start, l.Ramp.End = l.Ramp.Start/float64(n), l.Ramp.End/float64(n)
	return l
}

// oneTokenPoint is a load whose answers have one token.
func oneTokenPoint(l scenarios.Load) scenarios.Load {
	l.OutputLen = 1
	l.OfClass = slices.Clone(l.OfClass)
	for i := range l.OfClass {
		l.OfClass[i].OutputLen = 1
	}
	return l
}

// WarmupSeed moves warm-up prompts away from the seeds of the measured ones.
const WarmupSeed = 1_000_003

// warmupCount is how many prompts are made for the warm-ups.
func warmupCount(l scenarios.Load) int {
	switch {
	case l.Dataset.NumPrefixes > 0:
		return max(l.Warmups, l.Dataset.NumPrefixes) // fewer cannot be made
	case l.Dataset.Kind == "prefix_repetition":
		return max(l.Warmups, 10)
	}
	return l.Warmups
}

// Part is what one recipe makes of a load's prompts: those of a class, or all.
type Part struct {
	Load scenarios.Load // as if it were alone
	Seed uint64
}

// Parts are the recipes of a load's prompts: one, or one for each class.
func Parts(l scenarios.Load, seed uint64) []Part {
	if len(l.OfClass) == 0 {
		l.Warmups = spec.MixedWarmups(l.Kinds(), l.Warmups)
		return []Part{{l, seed}}
	}
	parts := make([]Part, len(l.OfClass))
	for i, own := range l.OfClass {
		parts[i] = Part{own, seed + own.Dataset.Seed - l.Dataset.Seed + uint64(i)*spec.ClassSeed}
	}
	return parts
}

// Measured is the order for the measured prompts.
func (p Part) Measured() dataset.Spec { return PromptSpec(p.Load, p.Seed, p.Load.NumPrompts) }

// Warm is the order for the prompts of the warm-up.
func (p Part) Warm() dataset.Spec {
	return PromptSpec(p.Load, p.Seed+WarmupSeed, warmupCount(p.Load))
}

// answersNumbers reports whether a load asks for embeddings or scores.
func answersNumbers(l scenarios.Load) bool {
	api, err := dialect.APINamed(l.API)
	return err == nil && api.Numbers
}

// PromptSpec returns the order for n prompts of a load's dataset, made from seed.
func PromptSpec(l scenarios.Load, seed uint64, n int) dataset.Spec {
	d := l.Dataset
	order := dataset.Spec{
		Kind: d.Kind, Path: d.Path, Seed: seed, N: n, InputLen: l.InputLen, OutputLen: l.OutputLen,
		TokenIDs: d.TokenIDs, VocabSize: d.VocabSize, RangeRatio: d.RangeRatio, PrefixLen: d.PrefixLen,
		Shuffle: d.Shuffle,
		Compat:  l.Compat, RangeRatioOutput: d.OutputRangeRatio, SuffixLen: d.SuffixLen, NumPrefixes: d.NumPrefixes,
		NoOversample: !d.Oversample, Turns: d.Turns, Subset: d.Subset, Field: d.Field,
		BatchSize: d.BatchSize, NoOutput: answersNumbers(l),
		TemplateTokens: d.TemplateTokens, BlockLen: d.BlockLen, TimeUnitS: d.TimeUnit.Seconds(),
		MaxWaitS: d.MaxWait.Seconds(), SubAgents: d.SubAgents, AudioS: d.AudioLen.Seconds(),
	}

	if d.Images.PerRequest > 0 {
		order.Images = &dataset.Images{
			PerRequest: d.Images.PerRequest, Format: d.Images.Format,
			Quality: d.Images.Quality,
		}
		for _, size := range d.Images.Sizes {
			order.Images.Sizes = append(order.Images.Sizes, dataset.ImageSize{Width: size.Width, Height: size.Height})
		}
	}

	return order
}
