package stated

import (
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/results"
)

// multiplied matches a factor in a text beside a result: "tp2 x 4", "4x", "multiply
// throughput × 4".
var multiplied = regexp.MustCompile(`(?i)(?:^|[\s\d(])(?:x|×|\*|times)\s?(\d{1,3})(?:$|[\s).,;])|` +
	`(?:^|[\s(])(\d{1,3})\s?(?:x|×|times)(?:$|[\s).,;])`)

// aloneOrResult matches a line that is one number, or ends in the result of a
// multiplication or division: "286.06/4 = 71.515".
var aloneOrResult = regexp.MustCompile(`^(?:[\d.,]+\s*[/*x×]\s*\d+\s*=\s*)?(\d[\d.,]*)$`)

// sharedFactors is how many products a text must state beside a result before the
// result counts as that of one replica which stands for several.
const sharedFactors = 2

// findFactor looks for the factor by which the text beside a result multiplies
// its rates and divides its duration. It is believed only where the text also
// states what comes out.
func (e *Entry) findFactor() {
	if e.Figures.DurationS <= 0 {
		return
	}

	var stated []float64
	for _, note := range e.Notes {
		if m := aloneOrResult.FindStringSubmatch(note); m != nil {
			if v, ok := plain.Number(m[1]); ok {
				stated = append(stated, v)
			}
		}
	}

	for _, text := range append([]string{e.Variant}, e.Notes...) {
		for _, m := range multiplied.FindAllStringSubmatch(text, -1) {
			n, err := strconv.Atoi(m[1] + m[2])
			if err == nil && n > 1 && e.productsAmong(stated, n) >= sharedFactors {
				e.Factor = n
				return
			}
		}
	}
}

// mostReplicas is the largest factor that is believed.
const mostReplicas = 10_000

// TakeFactor reads the factor of a row whose rates are those of all replicas.
func (e *Entry) TakeFactor(head, text string, line int) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostReplicas {
		e.Warn(results.WarnImportedUnusable, "%s is %q, which is not a number of replicas: left out", head,
			plain.Shown(text))
		e.State(head, text, line, "")
		return
	}
	e.Factor = n
	e.State(head, text, line, head)
}

// productsAmong counts how many of the rates times n, and of the duration over n,
// are among the stated numbers.
func (e *Entry) productsAmong(stated []float64, n int) int {
	f := &e.Figures
	count := 0
	whole := results.Extrapolate(*f, n, 0)
	for _, want := range []*float64{
		&whole.DurationS, whole.RequestThroughput, whole.OutputThroughput, whole.TotalTokenThroughput,
	} {
		const near = 0.0051 // half a unit of two decimals, with which such texts give them
		if want != nil && slices.ContainsFunc(stated, func(v float64) bool { return math.Abs(v-*want) < near }) {
			count++
		}
	}
	return count
}

// divide turns figures that stand for several replicas into those of the one that
// ran.
func (e *Entry) divide() {
	f, n := &e.Figures, float64(e.Factor)
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
func (e *Entry) extrapolate(r *results.Result) {
	if e.Factor <= 1 || r.Figures == nil {
		return
	}

	share := 0
	if c := r.Asked.MaxConcurrency; c != nil {
		share = *c
	}
	r.Extrapolated = results.Extrapolate(*r.Figures, e.Factor, share)
	r.Warnf(results.WarnExtrapolated, "the file multiplies these rates by %d and divides the duration by it: "+
		"one of %d replicas ran, and the others were not measured", e.Factor, e.Factor)
}
