package results

import (
	"fmt"
	"hash/fnv"

	"github.com/benchrig/bench/internal/text"
)

// MostTrails is of how many prompts a result keeps the trails.
const MostTrails = 256

// trailBytes are the lengths at which answers are compared: each 1.41 times the one
// before.
func trailBytes() []int {
	return []int{
		4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256, 362, 512, 724, 1024, 1448, 2048, 2896, 4096, 5793, 8192,
		11585, 16384, 23170, 32768, 46341, 65536,
	}
}

// TrailOf is the trail of an answer's text, see Record.TextTrail.
func TrailOf(text []byte) string {
	const hex = "0123456789abcdef"
	var trail []byte
	h := fnv.New32a()
	from := 0
	for _, to := range trailBytes() {
		if to > len(text) {
			break
		}
		_, _ = h.Write(text[from:to]) // it never fails
		from = to
		sum := h.Sum32()
		sum ^= sum >> 16
		sum ^= sum >> 8
		trail = append(trail, hex[sum>>4&15], hex[sum&15])
	}
	return string(trail)
}

// TrailDiverges says between which lengths of text two answers that differ begin to
// do so: they are equal up to from, and differ at to. to is 0 where they are
// equal as far as their trails go.
func TrailDiverges(a, b string) (from, to int) {
	for i, length := range trailBytes() {
		if 2*i+2 > min(len(a), len(b)) {
			break
		}
		if a[2*i:2*i+2] != b[2*i:2*i+2] {
			return from, length
		}
		from = length
	}
	return from, 0
}

// AnswersCompared are two sets of greedy answers to the same prompts.
type AnswersCompared struct {
	Prompts int `json:"prompts"` // that both answered
	Equal   int `json:"equal"`
	// bytes that the answers which differ have in common at least: the fewest, and the median; null: none differs, or
	// not known
	FirstDivergence  *int `json:"first_divergence_bytes"`
	MedianDivergence *int `json:"median_divergence_bytes"`
}

// Text is the share that is equal, and where the others begin to differ: "14 of 16
// answers are equal (87.5 %), the others for the first 45 bytes, in the median 128".
func (c AnswersCompared) Text() string {
	said := fmt.Sprintf("%d of %s are equal (%.1f %%)", c.Equal, text.Count(c.Prompts, "answer"),
		100*float64(c.Equal)/float64(max(c.Prompts, 1)))
	if c.FirstDivergence != nil && c.MedianDivergence != nil {
		said += fmt.Sprintf(", the others for at least %s (median %d)", text.Count(*c.FirstDivergence, "byte"),
			*c.MedianDivergence)
	}
	return said
}

// Resent is what came of requests of the pass that were sent again after it, one at
// a time.
type Resent struct {
	Sent   int `json:"sent"`
	Failed int `json:"failed"`
	// their answers beside those of the pass; null: the temperature is not 0, or none can be compared
	Answers *AnswersCompared `json:"answers"`
	// time per output token after the first, median: of them, and of as many new prompts of the same words, sent
	// between them; null: not known
	TPOT      *float64 `json:"tpot_s"`
	FreshTPOT *float64 `json:"fresh_tpot_s"`
	// of sent, how many came far faster than the model makes them; null: there is nothing to compare with
	AtOnce *int `json:"at_once"`
}

// Evaluation is what came of questions with exact answers that were asked after a
// pass.
type Evaluation struct {
	Set      string        `json:"set"` // "exact"
	Asked    int           `json:"asked"`
	Right    int           `json:"right"`
	Failed   int           `json:"failed"`    // requests without an answer
	Score    float64       `json:"score"`     // right / asked
	MinScore float64       `json:"min_score"` // that was to be reached; 0: none
	Kinds    []KindScore   `json:"kinds"`
	Wrong    []WrongAnswer `json:"wrong"` // the first ones, at most MostWrong
}

// KindScore is the part of an evaluation that is about one kind of question.
type KindScore struct {
	Kind  string `json:"kind"` // "arithmetic", "copying", "ordering"
	Asked int    `json:"asked"`
	Right int    `json:"right"`
}

// WrongAnswer is a question that was answered otherwise than it had to be.
type WrongAnswer struct {
	Question string `json:"question"`
	Want     string `json:"want"`
	Got      string `json:"got"` // its beginning
}

// MostWrong is how many wrong answers a result keeps.
const MostWrong = 5

// Missed reports whether the score is below the one that was asked for.
func (e *Evaluation) Missed() bool { return e != nil && e.Score < e.MinScore }

// CommandScore is what came of a command of the user that measured the quality of a
// variant's answers.
type CommandScore struct {
	Name    string   `json:"name"`
	Score   *float64 `json:"score"`             // null: there is none
	Min     *float64 `json:"min"`               // that was to be reached; null: none
	Problem string   `json:"problem,omitempty"` // why there is no score
	TookS   float64  `json:"took_s"`
}

// Missed reports whether a minimum was asked for and not reached.
func (s *CommandScore) Missed() bool {
	return s != nil && s.Min != nil && (s.Score == nil || *s.Score < *s.Min)
}
