package compare

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/aclements/go-moremath/stats"

	"github.com/benchrig/bench/metrics/catalog"
)

// Closeness is what the data says about a figure that was measured again.
type Closeness string

// The verdicts of a reproduction. Agreement is a finding of its own, never the
// lack of a difference.
const (
	Agrees        Closeness = "agrees"
	Differs       Closeness = "differs"
	Undecided     Closeness = "cannot tell"
	NotComparable Closeness = "not comparable"
)

// Basis says where the spread between server lives is taken from.
type Basis string

// The bases, the best first.
const (
	onLives   Basis = "lives"      // of both sides, each its own
	OnPooled  Basis = "pooled"     // of both sides together, where one has only two lives; they are taken to be alike
	OnOneSide Basis = "one side"   // of the side with several lives; the other is taken to be alike
	OnStated  Basis = "stated"     // as the user says
	OnBound   Basis = "assumption" // the widest that is thought possible: it shows an interval and decides nothing
)

// Nobody knows the spread of one life. For a figure of one life on each side it
// is taken to be at most that, as a share of the figure: repeats of real
// engines on one machine lie well below.
const (
	boundOfMeans = 0.10
	boundOfTails = 0.30 // of percentiles from tailFrom on
	tailFrom     = 90
)

// enoughForPool lives have a spread, and too small a one by chance too often to
// be used by itself.
const enoughForPool = 2

// BoundOf is the widest deviation between lives that is thought possible of a
// figure, relative.
func BoundOf(f catalog.Figure) float64 {
	if f.P >= tailFrom {
		return boundOfTails
	}
	return boundOfMeans
}

// AgreeRule says how a reproduction is judged.
type AgreeRule struct {
	Confidence float64 // of intervals; 1 - it is the rate of false "differs" over all figures together
	Margin     float64 // relative change that does not matter
	Power      float64 // chance that MoreRepeats aims at
	Spread     float64 // relative deviation between lives, as the user states it; 0: not stated
}

// Agreement sets a figure measured again beside the origin's. Relative figures
// are shares of the origin's mean.
type Agreement struct {
	Figure string  `json:"figure"`
	Origin Summary `json:"origin"`
	Here   Summary `json:"here"`

	Delta *float64 `json:"delta"` // relative change
	Low   *float64 `json:"low"`   // interval of Delta
	High  *float64 `json:"high"`
	Basis Basis    `json:"basis"`  // "": no interval
	P     *float64 `json:"p"`      // of a change this far beyond the margin if none is
	PHolm *float64 `json:"p_holm"` // P after Holm's correction over all figures judged together

	Verdict Closeness `json:"verdict"`
	// further repeats here that would decide; 0: it is decided, or they would not
	MoreHere   int `json:"more_here"`
	MoreOrigin int `json:"more_origin"` // those that the origin would need as well, with as many here

	se float64 // of Delta
	df float64 // +Inf: the spread is taken as known
}

// Agree sets the values of a figure side by side, one per server life. bound is
// BoundOf the figure. The verdict is JudgeAgreements' to give.
func Agree(figure string, origin, here Sample, bound float64, rule AgreeRule) Agreement {
	a := Agreement{
		Figure: figure, Verdict: Undecided, Origin: origin.Summarize(rule.Confidence),
		Here: here.Summarize(rule.Confidence),
	}
	if a.Origin.N == 0 || a.Here.N == 0 {
		a.Verdict = NotComparable
		return a
	}
	if *a.Origin.Mean == 0 {
		if *a.Here.Mean != 0 {
			a.Verdict = NotComparable // no share of nothing
		}
		return a
	}

	a.Delta = new(*a.Here.Mean / *a.Origin.Mean - 1)
	a.spread(bound, rule)
	half := quantile(rule.Confidence, a.df) * a.se
	a.Low, a.High = new(*a.Delta-half), new(*a.Delta+half)
	a.P = new(a.beyond(rule.Margin))
	return a
}

// relative is an arm's deviation as a share of its mean.
func relative(s Summary) float64 {
	if s.SD == nil || *s.Mean == 0 {
		return 0
	}
	return *s.SD / math.Abs(*s.Mean)
}

// spread finds the standard error of the ratio of the means by the delta
// method, and its degrees of freedom.
func (a *Agreement) spread(bound float64, rule AgreeRule) {
	no, nh := float64(a.Origin.N), float64(a.Here.N)
	ratio := math.Abs(*a.Here.Mean / *a.Origin.Mean)
	ro, rh := relative(a.Origin), relative(a.Here)
	a.df = math.Inf(1)
	switch {
	case min(a.Origin.N, a.Here.N) == enoughForPool:
		a.Basis, a.df = OnPooled, no+nh-2
		ro = math.Sqrt(((no-1)*ro*ro + (nh-1)*rh*rh) / a.df)
		rh = ro
	case a.Origin.N > enoughForPool && a.Here.N > enoughForPool:
		a.Basis = onLives
		vo, vh := ro*ro/no, rh*rh/nh
		if vo+vh > 0 {
			a.df = (vo + vh) * (vo + vh) / (vo*vo/(no-1) + vh*vh/(nh-1))
		}
	case a.Origin.N > 1:
		a.Basis, rh, a.df = OnOneSide, ro, no-1
	case a.Here.N > 1:
		a.Basis, ro, a.df = OnOneSide, rh, nh-1
	case rule.Spread > 0:
		a.Basis, ro, rh = OnStated, rule.Spread, rule.Spread
	default:
		a.Basis, ro, rh = OnBound, bound, bound
	}

	a.se = ratio * math.Sqrt(ro*ro/no+rh*rh/nh)
}

func quantile(confidence, df float64) float64 {
	if math.IsInf(df, 1) {
		return stats.InvCDF(stats.StdNormal)(1 - (1-confidence)/2)
	}
	return TQuantile(confidence, df)
}

// beyond is the chance of a change as far beyond the margin as the one seen,
// if the true one lies within.
func (a *Agreement) beyond(margin float64) float64 {
	size := math.Abs(*a.Delta)
	if a.se == 0 {
		if size > margin {
			return 0
		}
		return 1
	}
	tail := func(x float64) float64 {
		if math.IsInf(a.df, 1) {
			return 1 - stats.StdNormal.CDF(x)
		}
		return 1 - stats.TDist{V: a.df}.CDF(x)
	}
	return min(1, tail((size-margin)/a.se)+tail((size+margin)/a.se))
}

// JudgeAgreements gives each figure its verdict. It differs if its interval
// lies outside the margin, and still does so when all figures of the
// reproduction are taken together: that one of many lies outside by chance is
// likely. It agrees if its interval lies within the margin. One start against
// another does neither, as in reports, unless the user states their spread.
func JudgeAgreements(all []*Agreement, rule AgreeRule) {
	holmOver(all)
	for _, a := range all {
		if a.Low == nil || a.Verdict == NotComparable {
			continue
		}

		outside := *a.Low > rule.Margin || *a.High < -rule.Margin
		inside := *a.Low > -rule.Margin && *a.High < rule.Margin

		switch {
		case a.Basis == OnBound: // as in reports: one start against another decides nothing
			a.Verdict = Undecided
			a.more(rule)
		case outside && *a.PHolm < 1-rule.Confidence:
			a.Verdict = Differs
		case inside:
			a.Verdict = Agrees
		default:
			a.Verdict = Undecided
			a.more(rule)
		}
	}
}

func holmOver(all []*Agreement) {
	var tested []*Agreement
	for _, a := range all {
		if a.P != nil && a.Verdict != NotComparable {
			tested = append(tested, a)
		}
	}
	slices.SortStableFunc(tested, func(a, b *Agreement) int { return cmp.Compare(*a.P, *b.P) })
	least := 0.0
	for i, a := range tested {
		least = max(least, min(1, float64(len(tested)-i)**a.P))
		a.PHolm = new(least)
	}
}

// more is how many further lives would tell, at the spread seen so far and if
// the change stays as it is. Where the origin's own lives spread too widely for
// any number here, both sides need more; near the margin none would tell.
func (a *Agreement) more(rule AgreeRule) {
	const fewest = 3
	if a.Basis == OnBound {
		a.MoreHere = fewest - 1
		return
	}

	size := math.Abs(*a.Delta)
	// both ends of the interval count
	target, confidence, power := math.Abs(rule.Margin-size), rule.Confidence, rule.Power
	if size > rule.Margin {
		power = 2*power - 1 // one of them
	}
	if size > rule.Margin && a.PHolm != nil && *a.PHolm > 0 && *a.P > 0 {
		confidence = 1 - (1-confidence)**a.P / *a.PHolm
	}

	ro, rh := relative(a.Origin), relative(a.Here)
	switch {
	case a.Basis == OnStated:
		ro, rh = rule.Spread, rule.Spread
	case a.Origin.N < 2:
		ro = rh
	case a.Here.N < 2:
		rh = ro
	}

	no, nh := a.Origin.N, a.Here.N
	decides := func(no, nh int) bool {
		vo, vh := ro*ro/float64(no), rh*rh/float64(nh)
		df := math.Inf(1)
		if no > 1 && nh > 1 && vo+vh > 0 {
			df = (vo + vh) * (vo + vh) / (vo*vo/float64(no-1) + vh*vh/float64(nh-1))
		} else if n := max(no, nh); n > 1 && a.Basis != OnStated {
			df = float64(n - 1)
		}
		width := quantile(confidence, df) + quantile(power, df)
		return (1+*a.Delta)*width*math.Sqrt(vo+vh) <= target
	}

	here := sort.Search(MaxRepeats, func(more int) bool { return decides(no, nh+more+1) }) + 1
	if here < MaxRepeats {
		a.MoreHere = here
		return
	}

	both := sort.Search(MaxRepeats, func(more int) bool { return decides(no+more+1, nh+more+1) }) + 1
	if both < MaxRepeats {
		a.MoreHere, a.MoreOrigin = both, both
	}
}
