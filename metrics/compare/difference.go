package compare

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/aclements/go-moremath/stats"

	"github.com/benchrig/bench/metrics"
)

// Verdict is what the data says about a candidate beside a baseline.
type Verdict string

// The verdicts. No difference is a finding of its own: the interval lies
// within the smallest difference of interest. Cannot tell is the lack of one.
const (
	Better       Verdict = "better"
	Worse        Verdict = "worse"
	NoDifference Verdict = "no difference"
	CannotTell   Verdict = "cannot tell"
)

// Reversed is the verdict with baseline and candidate exchanged.
func (v Verdict) Reversed() Verdict {
	switch v {
	case Better:
		return Worse
	case Worse:
		return Better
	default:
		return v
	}
}

// Rule says how differences are judged. The zero value is DefaultRule.
type Rule struct {
	Confidence float64 // of intervals, and 1 - the rate of false alarms over all figures together
	Margin     float64 // smallest relative difference of interest
	Power      float64 // chance to find a difference of Margin that MoreRepeats aims at
	Seed       uint64  // of the bootstrap
	Rounds     int     // of the bootstrap; 0: 10 000
}

// DefaultRule is 95 % confidence, 3 % margin, 80 % power.
func DefaultRule() Rule { return Rule{Confidence: 0.95, Margin: 0.03, Power: 0.8, Seed: 1} }

// Difference compares one figure of two arms. Relative figures are of the
// candidate's mean against the baseline's, 0.03 for 3 % more.
type Difference struct {
	Figure    string  `json:"figure"`
	Higher    bool    `json:"higher_is_better"`
	Baseline  Summary `json:"baseline"`
	Candidate Summary `json:"candidate"`

	Delta *float64 `json:"delta"` // relative; null without values or with a baseline of 0
	// Welch t interval of Delta on the scale of logarithms; null with fewer than two values an arm
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`      //
	BootLow  *float64 `json:"boot_low"`  // percentile bootstrap interval of Delta, means resampled within arms
	BootHigh *float64 `json:"boot_high"` //
	// two-sided; for values without spread, their resolution bounds it
	PWelch *float64 `json:"p_welch"`
	PRank  *float64 `json:"p_rank"` // two-sided Mann-Whitney U, exact with ties too
	PHolm  *float64 `json:"p_holm"` // of the verdict: after Holm's correction over all figures judged together
	Effect *float64 `json:"effect"` // Hedges' g; null without spread

	Verdict     Verdict `json:"verdict"`
	MoreRepeats int     `json:"more_repeats"` // further repeats of each arm that would decide; 0: it is decided
	// all values of one arm came before those of the other, and a drift would explain the difference
	OneAfter bool `json:"one_after_the_other"`

	// that is corrected: the larger one of Welch's and, of arms one after the other, that with the drift taken out
	p *float64
}

// MaxRepeats bounds Difference.MoreRepeats: that many would not tell either.
const MaxRepeats = 1000

// Compare sets a candidate's figure beside the baseline's. The verdict is
// Judge's to give.
func Compare(figure string, higher bool, baseline, candidate Sample, rule Rule) Difference {
	d := Difference{
		Figure: figure, Higher: higher, Verdict: CannotTell,
		Baseline: baseline.Summarize(rule.Confidence), Candidate: candidate.Summarize(rule.Confidence),
	}

	if d.Baseline.N == 0 || d.Candidate.N == 0 || *d.Baseline.Mean == 0 {
		return d
	}

	d.Delta = new(*d.Candidate.Mean / *d.Baseline.Mean - 1)
	if d.Baseline.N < 2 || d.Candidate.N < 2 {
		return d
	}

	least := leastVariance(resolutionOf(slices.Concat(baseline.Values, candidate.Values)...))
	d.interval(rule.Confidence, least)
	d.bootstrap(baseline.Values, candidate.Values, rule)
	d.test(baseline.Values, candidate.Values, least)
	return d
}

// interval is Welch's for the logarithm of the ratio of the means, by the delta
// method, so that the baseline's own spread counts and no ratio is below 0. A
// spread below what the values' digits can show counts as that. There is no interval
// where a mean is not above 0.
func (d *Difference) interval(confidence, least float64) {
	b, c := *d.Baseline.Mean, *d.Candidate.Mean
	if b <= 0 || c <= 0 {
		return
	}
	if *d.Baseline.SD == 0 && *d.Candidate.SD == 0 && b == c {
		d.Low, d.High = new(0.0), new(0.0) // one value
		return
	}

	vb := max(*d.Baseline.SD**d.Baseline.SD, least) / float64(d.Baseline.N) / (b * b)
	vc := max(*d.Candidate.SD**d.Candidate.SD, least) / float64(d.Candidate.N) / (c * c)
	half := 0.0
	if vb+vc > 0 {
		half = TQuantile(confidence, welchFreedom(vb, d.Baseline.N, vc, d.Candidate.N)) * math.Sqrt(vb+vc)
	}
	ratio := math.Log(c / b)
	d.Low, d.High = new(math.Expm1(ratio-half)), new(math.Expm1(ratio+half))
}

// welchFreedom are Satterthwaite's degrees of freedom; va and vb are variances
// of means.
func welchFreedom(va float64, na int, vb float64, nb int) float64 {
	return (va + vb) * (va + vb) / (va*va/float64(na-1) + vb*vb/float64(nb-1))
}

// cautiousFreedom are Welch's degrees of freedom, nearer to those of the smaller
// arm where it has few values: their own variances say too little of which arm
// spreads more, and Welch's test alone gives up to 6.8 % false alarms at a level
// of 5 % (see the simulated pairs in docs/metrics.md). Of more values they are a
// tenth less than Welch's, which keeps false alarms below the level where the
// spread of one arm dwarfs the other's.
func cautiousFreedom(va float64, na int, vb float64, nb int) float64 {
	welch, least := welchFreedom(va, na, vb, nb), float64(min(na, nb)-1)
	switch min(na, nb) {
	case 2:
		return 0.95 * (least + 0.15*(welch-least))
	case 3:
		return 0.97 * (least + 0.25*(welch-least))
	case 4:
		return least + 0.5*(welch-least)
	default:
		return 0.9 * welch
	}
}

func (d *Difference) bootstrap(baseline, candidate []float64, rule Rule) {
	const usual = 10_000
	rounds := cmp.Or(rule.Rounds, usual)
	random := rand.New(rand.NewPCG(rule.Seed, uint64(len(baseline))<<32|uint64(len(candidate)))) //nolint:gosec // a reproducible resampling, no secret
	deltas := make([]float64, 0, rounds)
	for range rounds {
		if b := resampled(baseline, random); b != 0 {
			deltas = append(deltas, resampled(candidate, random)/b-1)
		}
	}

	if len(deltas) == 0 {
		return
	}

	slices.Sort(deltas)
	tail := 100 * (1 - rule.Confidence) / 2
	d.BootLow, d.BootHigh = new(metrics.Percentile(deltas, tail)), new(metrics.Percentile(deltas, 100-tail))
}

// resampled is the mean of as many values drawn with replacement.
func resampled(values []float64, random *rand.Rand) float64 {
	total := 0.0
	for range values {
		total += values[random.IntN(len(values))]
	}
	return total / float64(len(values))
}

func (d *Difference) test(baseline, candidate []float64, least float64) {
	welch, err := stats.TwoSampleWelchTTest(stats.Sample{Xs: candidate}, stats.Sample{Xs: baseline},
		stats.LocationDiffers)
	switch {
	case err == nil:
		d.PWelch = new(welch.P)
	case errors.Is(err, stats.ErrZeroVariance):
		d.PWelch = new(d.boundedP(least))
	}
	if d.PWelch != nil {
		d.p = new(max(*d.PWelch, d.boundedP(least), d.pooledP()))
	}
	d.PRank = new(rankTest(candidate, baseline))

	n := float64(d.Baseline.N + d.Candidate.N)
	if pooled := d.pooledSD(); pooled > 0 {
		const hedges = 9 // 1 - 3/(4n-9) takes the bias of small samples out of Cohen's d
		d.Effect = new((*d.Candidate.Mean - *d.Baseline.Mean) / pooled * (1 - 3/(4*n-hedges)))
	}
}

// boundedP is Welch's p with a spread of at least what the values' digits can
// show: two constants that differ in the last digit prove nothing.
func (d *Difference) boundedP(least float64) float64 {
	diff := *d.Candidate.Mean - *d.Baseline.Mean
	if diff == 0 {
		return 1
	}
	vb := max(*d.Baseline.SD**d.Baseline.SD, least) / float64(d.Baseline.N)
	vc := max(*d.Candidate.SD**d.Candidate.SD, least) / float64(d.Candidate.N)
	if vb+vc == 0 {
		return 0
	}
	t := stats.TDist{V: cautiousFreedom(vb, d.Baseline.N, vc, d.Candidate.N)}
	return min(1, 2*t.CDF(-math.Abs(diff)/math.Sqrt(vb+vc)))
}

// pooledP is Student's p, with one spread for both arms, where one arm has more
// values than the other; otherwise 0, which bounds nothing. Few values may all
// have one level, as if they had no spread, while more of the same kind show
// several: Welch's test then takes chance for a difference.
func (d *Difference) pooledP() float64 {
	nb, nc := d.Baseline.N, d.Candidate.N
	sd := d.pooledSD()
	if nb == nc || sd == 0 {
		return 0
	}
	diff := math.Abs(*d.Candidate.Mean - *d.Baseline.Mean)
	t := stats.TDist{V: float64(nb + nc - 2)}
	return 2 * t.CDF(-diff/(sd*math.Sqrt(1/float64(nb)+1/float64(nc))))
}

func (d *Difference) pooledSD() float64 {
	nb, nc := float64(d.Baseline.N), float64(d.Candidate.N)
	return math.Sqrt(((nb-1)**d.Baseline.SD**d.Baseline.SD + (nc-1)**d.Candidate.SD**d.Candidate.SD) / (nb + nc - 2))
}

// Judge gives each difference its verdict. They are corrected together: that
// one of many figures differs by chance is likely.
func Judge(all []Difference, rule Rule) {
	decide(all, rule)
	for i := range all {
		if all[i].Verdict == CannotTell {
			all[i].MoreRepeats = all[i].more(rule)
		}
	}
}

// decide gives the verdicts.
func decide(all []Difference, rule Rule) {
	holm(all)
	for i := range all {
		d := &all[i]
		switch {
		case d.PHolm == nil || d.Low == nil:
		// the ratio's interval is wider where the baseline's own spread is large
		case *d.PHolm < 1-rule.Confidence && *d.Low**d.High > 0:
			d.Verdict = Worse
			if (*d.Delta > 0) == d.Higher {
				d.Verdict = Better
			}
		case *d.Low > -rule.Margin && *d.High < rule.Margin:
			d.Verdict = NoDifference
		}
	}
}

// holm fills in PHolm. Figures that move together exactly, as requests and
// tokens a second do where all answers have one length, are one question and
// count once.
func holm(all []Difference) {
	var tested []*Difference
	same := make(map[*Difference][]*Difference)
	for i := range all {
		d := &all[i]
		if d.p == nil {
			d.p = d.PWelch
		}
		if d.p == nil {
			continue
		}
		at := slices.IndexFunc(tested, func(t *Difference) bool { return t.sameAs(d) })
		if at >= 0 {
			same[tested[at]] = append(same[tested[at]], d)
			continue
		}
		tested = append(tested, d)
	}

	slices.SortStableFunc(tested, func(a, b *Difference) int {
		switch {
		case *a.p < *b.p:
			return -1
		case *a.p > *b.p:
			return 1
		}
		return 0
	})

	least := 0.0
	for i, d := range tested {
		least = max(least, min(1, float64(len(tested)-i)**d.p))
		d.PHolm = new(least)
		for _, other := range same[d] {
			other.PHolm = new(least)
		}
	}
}

// sameAs reports whether two figures of a pair are proportional in every life.
func (d *Difference) sameAs(other *Difference) bool {
	const rounding = 1e-9
	near := func(a, b *float64) bool {
		return a != nil && b != nil && math.Abs(*a-*b) <= rounding*max(math.Abs(*a), math.Abs(*b))
	}
	return d.Delta != nil && *d.Delta != 0 && near(d.Delta, other.Delta) && near(d.PWelch, other.PWelch) &&
		near(d.Low, other.Low) && near(d.PRank, other.PRank)
}

// Settle gives the figure of a difference that was judged with other questions
// the verdict it has there, and so the figures that move with it exactly.
func (p *Pair) Settle(judged Difference) {
	at := slices.IndexFunc(p.Differences, func(d Difference) bool { return d.Figure == judged.Figure })
	if at < 0 {
		return
	}

	figure := p.Differences[at]
	for i := range p.Differences {
		d := &p.Differences[i]
		if i != at && !figure.sameAs(d) {
			continue
		}
		d.Verdict, d.PHolm, d.MoreRepeats, d.OneAfter = judged.Verdict, judged.PHolm, judged.MoreRepeats,
			judged.OneAfter
		if d.Higher != judged.Higher {
			d.Verdict = d.Verdict.Reversed()
		}
	}
}

// more is how many further repeats of each arm give rule.Power to find a
// difference of rule.Margin, at the spread seen so far. Where the interval
// leaves out 0, and only the correction over all figures withholds a verdict,
// it is those that give it for a difference as large as the one seen.
func (d *Difference) more(rule Rule) int {
	const fewest = 3
	have := min(d.Baseline.N, d.Candidate.N)
	if d.PWelch == nil {
		return max(1, fewest-have)
	}

	target, confidence := rule.Margin, rule.Confidence
	if d.PHolm != nil && *d.PHolm > 0 && d.Low != nil && *d.Low**d.High > 0 {
		target = max(target, math.Abs(*d.Delta))
		confidence = 1 - (1-confidence)**d.p / *d.PHolm
	}

	spread := d.pooledSD() / math.Abs(*d.Baseline.Mean)
	least := max(fewest, have+1)
	// The interval narrows with every repeat.
	n := least + sort.Search(max(0, MaxRepeats-least), func(further int) bool {
		n := least + further
		df := float64(2*n - 2)
		t := TQuantile(confidence, df) + stats.InvCDF(stats.TDist{V: df})(rule.Power)
		return t*spread*math.Sqrt(2/float64(n)) <= target
	})

	if n >= MaxRepeats {
		return MaxRepeats
	}

	return n - have
}

// DifferenceOfMeans is the mean of a less that of b, and half of its interval by
// Welch; false where one of them has fewer than two values.
func DifferenceOfMeans(a, b []float64, confidence float64) (difference, half float64, ok bool) {
	if len(a) < 2 || len(b) < 2 {
		return 0, 0, false
	}

	x, y := Sample{Values: a}.Summarize(confidence), Sample{Values: b}.Summarize(confidence)
	va, vb := *x.SD**x.SD/float64(len(a)), *y.SD**y.SD/float64(len(b))
	difference = *x.Mean - *y.Mean
	if va+vb == 0 {
		return difference, 0, true
	}
	return difference, TQuantile(confidence, welchFreedom(va, len(a), vb, len(b))) * math.Sqrt(va+vb), true
}
