package scenarios

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// suggest is the candidate that word most probably means, "" if none is near.
// A word may also be near to the end of a candidate: "concurency" means
// "max-concurrency".
func suggest(word string, candidates []string) string {
	word = kebab(word)
	if len(word) > 100 {
		return ""
	}
	best, bestScore := "", 1+2*max(1, (len(word)+1)/3)
	for _, c := range candidates {
		if score := distance(word, kebab(c)); score < bestScore {
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

func kebab(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }

// didYouMean is the end of an error message about an unknown word.
func didYouMean(word string, candidates []string) string {
	if s := suggest(word, candidates); s != "" {
		return fmt.Sprintf(", did you mean %q?", s)
	}
	if len(candidates) > 0 && len(candidates) <= 12 {
		return ", expected one of " + strings.Join(candidates, ", ")
	}
	return ""
}
