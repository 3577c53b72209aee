package text

import "github.com/agnivade/levenshtein"

// Nearest is the name that differs from word by a slip or two; "": none does.
func Nearest(word string, names []string) string {
	best, least := "", 1+min(2, len(word)/4)
	for _, name := range names {
		if d := levenshtein.ComputeDistance(word, name); d < least {
			best, least = name, d
		}
	}
	return best
}
