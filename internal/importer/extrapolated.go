package importer

import (
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/results"
)

// multiplied is a factor as a text beside a result gives it: "tp2 x 4", "4x",
// "multiply throughput × 4".
var multiplied = regexp.MustCompile(`(?i)(?:^|[\s\d(])(?:x|×|\*|times)\s?(\d{1,3})(?:$|[\s).,;])|` +
	`(?:^|[\s(])(\d{1,3})\s?(?:x|×|times)(?:$|[\s).,;])`)

// aloneOrResult is the number of a line that is one number, or ends in the
// result of a division: "286.06/4 = 71.515".
var aloneOrResult = regexp.MustCompile(`^(?:[\d.,]+\s*[/*x×]\s*\d+\s*=\s*)?(\d[\d.,]*)$`)

// sharedFactors are how many products a text must state beside a result before
// the result counts as one replica's that stands for several.
const sharedFactors = 2

// findFactor looks for the factor by which the text beside a result multiplies
// its rates and divides its duration. It is believed only where the text also
// states what comes out.
func (e *entry) findFactor() {
	if e.factor > 1 || e.figures.DurationS <= 0 {
		return
	}

	var stated []float64
	for _, note := range e.notes {
		if m := aloneOrResult.FindStringSubmatch(note); m != nil {
			if v, ok := plain.Number(m[1]); ok {
				stated = append(stated, v)
			}
		}
	}

	for _, text := range append([]string{e.variant}, e.notes...) {
		for _, m := range multiplied.FindAllStringSubmatch(text, -1) {
			n, err := strconv.Atoi(m[1] + m[2])
			if err == nil && n > 1 && e.productsAmong(stated, n) >= sharedFactors {
				e.factor = n
				return
			}
		}
	}
}

// mostReplicas is the largest factor that is believed.
const mostReplicas = 10_000

// takeFactor reads the factor of a row whose rates are those of all replicas.
func (e *entry) takeFactor(head, text string, line int) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostReplicas {
		e.warn(results.WarnImportedUnusable, "%s is %q, which is not a number of replicas: left out", head,
			plain.Shown(text))
		e.state(head, text, line, "")
		return
	}
	e.factor = n
	e.state(head, text, line, head)
}

// productsAmong counts the rates times n, and the duration over n, that were
// stated.
func (e *entry) productsAmong(stated []float64, n int) int {
	f := &e.figures
	count := 0
	whole := results.Extrapolate(*f, n, 0)
	for _, want := range []*float64{
		&whole.DurationS, whole.RequestThroughput, whole.OutputThroughput, whole.TotalTokenThroughput,
	} {
		const near = 0.0051 // of two decimals, as such texts give them
		if want != nil && slices.ContainsFunc(stated, func(v float64) bool { return math.Abs(v-*want) < near }) {
			count++
		}
	}
	return count
}

// divide turns figures that stand for several replicas into those of the one that
// ran.
func (e *entry) divide() {
	f, n := &e.figures, float64(e.factor)
	f.DurationS *= n
	for _, rate := range []**float64{
		&f.RequestThroughput, &f.RequestGoodput, &f.OutputThroughput, &f.TotalTokenThroughput, &f.MaxOutputTokensPerS,
	} {
		if *rate != nil {
			*rate = new(**rate / n)
		}
	}
}

// extrapolate marks the result of an entry with a factor.
func (e *entry) extrapolate(r *results.Result) {
	if e.factor <= 1 || r.Figures == nil {
		return
	}

	share := 0
	if c := r.Asked.MaxConcurrency; c != nil {
		share = *c
	}
	r.Extrapolated = results.Extrapolate(*r.Figures, e.factor, share)
	r.Warnf(results.WarnExtrapolated, "the file multiplies these rates by %d and divides the duration by it: "+
		"one of %d replicas ran, and the others were not measured", e.factor, e.factor)
}
