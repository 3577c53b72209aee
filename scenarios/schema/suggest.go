package schema

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Suggest is the candidate that word most probably means, "" if none is near.
// A word may also be near to the end of a candidate: "concurency" means
// "max-concurrency".
func Suggest(word string, candidates []string) string {
	word = kebab(word)
	if len(word) == 0 || len(word) > 100 {
		return ""
	}

	best, bestScore := "", 1+2*((len(word)+1)/3)
	for _, c := range candidates {
		score := distance(word, kebab(c))
		for i := range len(word) - 1 { // two letters swapped are one slip
			swapped := word[:i] + word[i+1:i+2] + word[i:i+1] + word[i+2:]
			score = min(score, 2+distance(swapped, kebab(c)))
		}
		if score < bestScore {
			best, bestScore = c, score
		}
	}

	return best
}

// distance counts edits twice, and one for each word of the candidate that was
// left away, so that a whole match wins over that of an end.
func distance(word, candidate string) int {
	best := 2 * levenshtein.ComputeDistance(word, candidate)
	left := 0
	for tail := candidate; ; {
		_, rest, more := strings.Cut(tail, "-")
		if !more || len(rest) < 4 {
			return best
		}
		left++
		tail = rest
		best = min(best, 2*levenshtein.ComputeDistance(word, tail)+left)
	}
}

// kebab spells a word in lower case with hyphens for underscores.
func kebab(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }

// DidYouMean is the end of an error message about an unknown word.
func DidYouMean(word string, candidates []string) string {
	if s := Suggest(word, candidates); s != "" {
		return fmt.Sprintf(", did you mean %q?", s)
	}
	if len(candidates) == 1 {
		return ", expected " + candidates[0]
	}
	if len(candidates) > 0 && len(candidates) <= 12 {
		return ", expected one of " + strings.Join(candidates, ", ")
	}
	return ""
}
