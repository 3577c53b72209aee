package metrics

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/benchrig/bench/results"
)

const (
	fewestWords     = 8   // of an answer that can be called repetitive
	repetitiveShare = 0.8 // of its words that are the same
	fewestLetters   = 32  // of one without blanks
	markDigits      = 4   // of an answer's hash, hex
)

// answersOf looks at the texts of the answers; null where no hash of one is
// known. Requests that failed for want of a token are the empty ones.
func answersOf(all []Observation, asked int, temperature *float64) *results.Answers {
	a := &results.Answers{}
	same := make(map[string]int)
	repetitive, texts := 0, 0
	var good []Observation
	for _, o := range all {
		if !o.OK() && o.Failure.Class == results.FailNoTokens {
			a.Empty++
			a.N++
		}
		if !o.OK() || o.TextSHA256 == "" {
			continue
		}
		a.N++
		good = append(good, o)
		same[o.TextSHA256]++
		if o.Text != "" {
			texts++
			if isRepetitive(o.Text) {
				repetitive++
			}
		}
	}

	if a.N == 0 {
		return nil
	}

	for _, n := range same {
		if n > 1 {
			a.Identical += n
		}
	}

	if texts > 0 {
		a.Repetitive = &repetitive
	}
	if temperature != nil && *temperature == 0 && len(good) == asked {
		a.SHA256, a.Marks = hashAnswers(good)
	}

	return a
}

// hashAnswers is over the answers in the order of the prompt list, which good
// has, whatever order they came in.
func hashAnswers(good []Observation) (sum *string, marks string) {
	h := sha256.New()
	var b strings.Builder
	for _, o := range good {
		_, _ = fmt.Fprintf(h, "%d %s\n", o.Index, o.TextSHA256)
		b.WriteString(o.TextSHA256[:min(markDigits, len(o.TextSHA256))])
	}
	return new(hex.EncodeToString(h.Sum(nil))), b.String()
}

// isRepetitive reports whether a text is one word, or without blanks one
// letter, over and over.
func isRepetitive(text string) bool {
	words := strings.Fields(text)
	if len(words) >= fewestWords {
		return mostFrequent(words) >= repetitiveShare*float64(len(words))
	}
	letters := strings.Split(strings.Join(words, ""), "")
	return utf8.RuneCountInString(text) >= fewestLetters &&
		mostFrequent(letters) >= repetitiveShare*float64(len(letters))
}

func mostFrequent(list []string) float64 {
	counts := make(map[string]int)
	most := 0
	for _, s := range list {
		counts[s]++
		most = max(most, counts[s])
	}
	return float64(most)
}

// AnswersDiffer compares the answers of two passes over the same prompts at
// temperature 0: at how many of them they differ. It is false where they
// cannot be compared.
func AnswersDiffer(a, b *results.Figures) (differ, prompts int, comparable bool) {
	if a == nil || b == nil || a.Answers == nil || b.Answers == nil || a.Answers.SHA256 == nil ||
		b.Answers.SHA256 == nil ||
		len(a.Answers.Marks) != len(b.Answers.Marks) {
		return 0, 0, false
	}

	x, y := a.Answers.Marks, b.Answers.Marks
	prompts = len(x) / markDigits
	if *a.Answers.SHA256 == *b.Answers.SHA256 {
		return 0, prompts, true
	}

	for i := 0; i+markDigits <= len(x); i += markDigits {
		if x[i:i+markDigits] != y[i:i+markDigits] {
			differ++
		}
	}

	return max(differ, 1), prompts, true // the whole hashes differ even where the marks agree
}
