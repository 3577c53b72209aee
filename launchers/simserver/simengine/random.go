package simengine

import (
	"math"
	"math/rand/v2"
)

// Natural answers are drawn from a log-normal distribution like that of chat
// logs: median 130 tokens, mean about 187.
const (
	answerMedian = 130
	answerSigma  = 0.85
)

// Mix is one step of a 64 bit hash (the finalizer of splitmix64).
func Mix(h, v uint64) uint64 {
	h ^= v + 0x9e3779b97f4a7c15 + h<<6 + h>>2
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return h ^ h>>31
}

// HashTokens continues a hash over tokens; never 0.
func HashTokens(h uint64, tokens []int32) uint64 {
	for _, t := range tokens {
		h = Mix(h, uint64(t)+1)
	}
	return max(h, 1)
}

// HashString continues a hash over the bytes of a string. Unlike HashTokens it may return 0.
func HashString(h uint64, s string) uint64 {
	for i := range len(s) {
		h = Mix(h, uint64(s[i])+1)
	}
	return h
}

// AnswerLength draws the output length of a request by its key, so that the
// same prompt has the same answer in any order of arrival. stops is true when
// the answer ends by itself and not at the limit.
func AnswerLength(key uint64, limit, least int, ignoreEOS bool) (n int, stops bool) {
	if ignoreEOS {
		return limit, false
	}
	r := rand.New(rand.NewPCG(key, 1))
	drawn := int(math.Round(answerMedian * math.Exp(answerSigma*r.NormFloat64())))
	drawn = max(drawn, least+1, 2)
	if drawn > limit {
		return limit, false
	}
	return drawn, true
}

// NoiseFactor scatters a step's time; never below a half.
func NoiseFactor(r *rand.Rand, sigma float64) float64 {
	if sigma == 0 {
		return 1
	}
	return max(0.5, 1+sigma*r.NormFloat64())
}
