package metrics

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/benchrig/bench/internal/text"
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
		for _, o := range good[:min(len(good), results.MostTrails)] {
			a.Trails = append(a.Trails, o.TextTrail)
		}
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

// CompareAnswers compares the answers of two passes over the same prompts at
// temperature 0; nil where they cannot be compared.
func CompareAnswers(a, b *results.Figures) *results.AnswersCompared {
	if a == nil || b == nil || a.Answers == nil || b.Answers == nil || a.Answers.SHA256 == nil ||
		b.Answers.SHA256 == nil ||
		len(a.Answers.Marks) != len(b.Answers.Marks) {
		return nil
	}

	x, y := a.Answers.Marks, b.Answers.Marks
	c := &results.AnswersCompared{Prompts: len(x) / markDigits}
	var common []int
	for i := range c.Prompts {
		if x[i*markDigits:(i+1)*markDigits] == y[i*markDigits:(i+1)*markDigits] {
			c.Equal++
		} else if i < min(len(a.Answers.Trails), len(b.Answers.Trails)) {
			from, _ := results.TrailDiverges(a.Answers.Trails[i], b.Answers.Trails[i])
			common = append(common, from)
		}
	}
	if *a.Answers.SHA256 != *b.Answers.SHA256 { // also where the marks agree
		c.Equal = min(c.Equal, c.Prompts-1)
	}
	setDivergence(c, common)

	return c
}

// setDivergence notes how much the answers that differ have in common.
func setDivergence(c *results.AnswersCompared, common []int) {
	if len(common) == 0 {
		return
	}
	slices.Sort(common)
	c.FirstDivergence, c.MedianDivergence = new(common[0]), new(common[(len(common)-1)/2])
}

// atOnceShare is how much faster an answer must come, relative to the median of new
// prompts, to be no model's.
const (
	atOnceShare  = 1.0 / 10
	atOnceTokens = 4 // of an answer whose pace can be determined
)

// CompareResent compares requests that were sent again, one at a time, with those of
// the pass, and their pace with that of fresh prompts. The index of a record, modulo
// the number of prompts, is its prompt.
func CompareResent(pass, again, fresh []results.Record, prompts int, temperature *float64,
) *results.Resent {
	first := make(map[int]Observation)
	for _, o := range observeAll(pass) {
		if _, twice := first[o.Index%prompts]; o.OK() && !twice {
			first[o.Index%prompts] = o
		}
	}

	out := &results.Resent{Sent: len(again)}
	answers := &results.AnswersCompared{}
	var common []int
	var paces, news []float64
	for _, o := range observeAll(again) {
		if !o.OK() {
			out.Failed++
			continue
		}
		paces = AppendKnown(paces, pace(o))
		was, known := first[o.Index]
		if !known || o.TextSHA256 == "" || was.TextSHA256 == "" {
			continue
		}
		if answers.Prompts++; o.TextSHA256 == was.TextSHA256 {
			answers.Equal++
			continue
		}
		from, _ := results.TrailDiverges(o.TextTrail, was.TextTrail)
		common = append(common, from)
	}

	setDivergence(answers, common)
	if temperature != nil && *temperature == 0 && answers.Prompts > 0 {
		out.Answers = answers
	}
	for _, o := range observeAll(fresh) {
		if o.OK() {
			news = AppendKnown(news, pace(o))
		}
	}
	setPace(out, paces, news)
	return out
}

// pace is the time per output token after the first of an answer, also of one that came in
// one piece; nil for short answers, and for those that were not streamed.
func pace(o Observation) *float64 {
	ttft, e2el := o.TTFT(), o.E2EL()
	if ttft == nil || e2el == nil || o.OutputTokens == nil || *o.OutputTokens < atOnceTokens {
		return nil
	}
	return new((*e2el - *ttft) / float64(*o.OutputTokens-1))
}

func setPace(r *results.Resent, again, fresh []float64) {
	if len(again) == 0 || len(fresh) == 0 {
		return
	}
	r.TPOT, r.FreshTPOT = new(Median(Ascending(again))), new(Median(Ascending(fresh)))
	if *r.FreshTPOT <= 0 {
		return // answers come in one piece: nothing says how fast the model is
	}
	r.AtOnce = new(0)
	for _, p := range again {
		if p < atOnceShare**r.FreshTPOT {
			*r.AtOnce++
		}
	}
}

func warnResent(e Evidence) *results.Warning {
	if e.Resent == nil || e.Resent.Answers == nil || e.Resent.Answers.Equal == e.Resent.Answers.Prompts {
		return nil
	}
	return Warnf(results.WarnAnswersDiffer, "prompts sent again one at a time got other answers than in the pass: %s",
		e.Resent.Answers.Text())
}

// warnAtOnce speaks of answers that no model made: most of those that were sent again.
func warnAtOnce(e Evidence) *results.Warning {
	r := e.Resent
	if r == nil || r.AtOnce == nil || 2**r.AtOnce <= r.Sent-r.Failed {
		return nil
	}
	return Warnf(results.WarnAnswersCached, "%d of %s sent again were answered immediately (median %.3f ms per "+
		"output token, %.3f ms for new prompts): the server, or something before it, caches answers",
		*r.AtOnce, text.Count(r.Sent, "prompt"), 1000**r.TPOT, 1000**r.FreshTPOT)
}

func warnLowScore(e Evidence) *results.Warning {
	if !e.Scored.Missed() {
		return nil
	}
	first := ""
	if len(e.Scored.Wrong) > 0 {
		w := e.Scored.Wrong[0]
		first = fmt.Sprintf("; the first wrong one: %q to %q, want %q", w.Got, w.Question, w.Want)
	}
	return Warnf(results.WarnLowScore, "%d of %s were answered correctly (%s), at least %.4g %% are required%s",
		e.Scored.Right, text.Count(e.Scored.Asked, "question"), percent(e.Scored.Right, e.Scored.Asked),
		100*e.Scored.MinScore, first)
}

// toolCallsOf computes figures of the requests that offered tools; null if none did.
func toolCallsOf(good []Observation, percentiles []float64) *results.ToolFigures {
	f := &results.ToolFigures{}
	var first []float64
	for _, o := range good {
		calls := o.ToolCalls
		if calls == nil {
			continue
		}
		f.Requests++
		if calls.N == 0 {
			continue
		}
		f.WithCall++
		f.Calls += calls.N
		first = AppendKnown(first, o.firstCall())
		if calls.Invalid == 0 {
			f.Valid++
		} else if len(f.Problems) < maxFailureSamples && !slices.Contains(f.Problems, calls.Problem) {
			f.Problems = append(f.Problems, calls.Problem)
		}
	}

	if f.Requests == 0 {
		return nil
	}
	f.CallShare = new(float64(f.WithCall) / float64(f.Requests))
	if f.WithCall > 0 {
		f.ValidShare = new(float64(f.Valid) / float64(f.WithCall))
	}
	f.FirstCall = Describe(first, percentiles)
	return f
}

// firstCall is the time from sending to the first chunk of a tool call; null
// where the answer has none by itself, or was not streamed.
func (o Observation) firstCall() *float64 {
	at := strings.IndexByte(o.ChunkKinds, byte(results.ChunkTool))
	if at < 0 || at >= len(o.ChunkS) || o.SentS == nil || o.Whole() {
		return nil
	}
	return new(o.ChunkS[at] - *o.SentS)
}

func warnToolCalls(e Evidence) *results.Warning {
	f := e.Figures.Tools
	switch {
	case f == nil:
		return nil
	case f.WithCall == 0:
		return Warnf(results.WarnToolCalls, "%d requests offered tools, and no answer calls one", f.Requests)
	case float64(f.WithCall-f.Valid) <= badCallsShare*float64(f.WithCall):
		return nil
	}
	return Warnf(results.WarnToolCalls, "%d of %d answers with tool calls have an invalid one (%s): %s",
		f.WithCall-f.Valid, f.WithCall, percent(f.WithCall-f.Valid, f.WithCall), f.Problems[0])
}

// warnCommandScore speaks of a minimum that the evaluation command did not reach.
func warnCommandScore(e Evidence) *results.Warning {
	c := e.Command
	switch {
	case !c.Missed():
		return nil
	case c.Score == nil:
		return Warnf(results.WarnLowScore, "evaluation %s gave no score, at least %.4g is required", c.Name, *c.Min)
	}
	return Warnf(results.WarnLowScore, "evaluation %s: the score is %.4g, at least %.4g is required", c.Name, *c.Score,
		*c.Min)
}

func warnNoScore(e Evidence) *results.Warning {
	if e.Command == nil || e.Command.Score != nil {
		return nil
	}
	return Warnf(results.WarnNoScore, "evaluation %s: %s", e.Command.Name, e.Command.Problem)
}
