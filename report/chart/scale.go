package chart

import (
	"cmp"
	"math"
	"slices"
)

// scale maps the values of an axis to 0 to 1.
type scale struct {
	min, max float64
	log      bool
	show     show
	ticks    []tick
}

// tick is a labelled place of an axis.
type tick struct {
	at    float64
	label string
}

// span gathers the range of what is drawn.
type span struct {
	lo, hi float64
	log    bool
	left   int // values that a logarithmic axis cannot show
}

func newSpan(a Axis) *span { return &span{lo: math.Inf(1), hi: math.Inf(-1), log: a.Log} }

// add widens the range, unless v cannot be drawn.
func (s *span) add(v float64) {
	switch {
	case !finite(v):
	case s.log && v <= 0:
		s.left++
	default:
		s.lo, s.hi = min(s.lo, v), max(s.hi, v)
	}
}

func (s *span) empty() bool { return s.lo > s.hi }

// loose and tight axes: whether the range grows to the next tick.
const (
	tight = false
	loose = true
)

// newScale makes the scale of an axis for values within s, with about want
// ticks.
func newScale(a Axis, s *span, want int, grows bool) scale {
	lo, hi := limits(a, s)
	sc := scale{min: lo, max: hi, log: a.Log, show: showFor(a.Unit, max(math.Abs(lo), math.Abs(hi)))}
	if a.Ticks != nil {
		sc.setTicks(a.Ticks)
		return sc
	}

	if a.Log && lo > 0 {
		sc.setTicks(logTicks(lo, hi, want))
		if len(sc.ticks) >= 2 {
			return sc
		}
	}

	step := niceStep((hi/2-lo/2)/sc.show.per*2, want, sc.show.unit) * sc.show.per
	if grows && !a.Log {
		if !(a.Zero && lo == 0) {
			sc.min = bounded(math.Floor(lo/step+1e-9)*step, lo)
		}
		if !(a.Zero && hi == 0) {
			sc.max = bounded(math.Ceil(hi/step-1e-9)*step, hi)
		}
	}

	sc.evenTicks(step)

	return sc
}

// bounded is v, or instead of what no longer is a number the other.
func bounded(v, instead float64) float64 {
	if finite(v) {
		return v
	}
	return instead
}

// limits is the range that an axis shows; never empty.
func limits(a Axis, s *span) (lo, hi float64) {
	lo, hi = s.lo, s.hi
	if s.empty() {
		lo, hi = 0, 1
		if a.Log {
			lo = 0.1
		}
	}

	if a.Zero && !a.Log {
		lo, hi = min(lo, 0), max(hi, 0)
	}

	const rounding = 1e-9 // values as near as that are one: their difference is that of their sums
	switch {
	case hi/2-lo/2 > rounding*max(math.Abs(lo), math.Abs(hi)):
	case a.Log:
		lo, hi = max(lo/2, math.SmallestNonzeroFloat64), min(lo*2, math.MaxFloat64)
	case lo == 0:
		lo, hi = 0, 1
	default:
		around := max(math.Abs(lo)*0.1, math.SmallestNonzeroFloat64*8)
		lo, hi = lo-around, lo+around
	}

	return max(lo, -math.MaxFloat64), min(hi, math.MaxFloat64)
}

// norm is the place of v; NaN where it cannot be shown. Halves keep ranges as
// wide as numbers go from overflowing.
func (s scale) norm(v float64) float64 {
	if s.log {
		if v <= 0 {
			return math.NaN()
		}
		return (math.Log(v) - math.Log(s.min)) / (math.Log(s.max) - math.Log(s.min))
	}
	return (v/2 - s.min/2) / (s.max/2 - s.min/2)
}

// holds reports whether v lies within the axis, with room for rounding.
func (s scale) holds(v float64) bool {
	n := s.norm(v)
	return n >= -1e-6 && n <= 1+1e-6
}

// niceStep divides a range into about want steps of 1, 2 or 5 times a power of
// ten; minutes and hours also into 15 and 30.
func niceStep(width float64, want int, unit string) float64 {
	raw := width / float64(max(want, 1))
	if !(raw > 0) || math.IsInf(raw, 0) {
		return max(raw, 1)
	}

	power := math.Pow(10, math.Floor(math.Log10(raw)))
	steps := []float64{1, 2, 5, 10}
	if unit == "min" && raw > 5 && raw <= 30 {
		power, steps = 1, []float64{10, 15, 30}
	}

	for _, m := range steps {
		if m*power >= raw*0.999 {
			return m * power
		}
	}

	return steps[len(steps)-1] * power
}

// maxTicks bounds what a caller's limits can ask for.
const maxTicks = 40

// evenTicks sets ticks at the multiples of step.
func (s *scale) evenTicks(step float64) {
	if !(step > 0) {
		s.setTicks([]float64{s.min, s.max})
		return
	}
	var at []float64
	for i := math.Ceil(s.min/step - 1e-9); i*step <= s.max+step*1e-9 && len(at) < maxTicks; i++ {
		at = append(at, i*step)
	}
	if len(at) < 2 {
		at = []float64{s.min, s.max}
	}
	s.setTicks(at)
}

// logTicks are 1, 2 and 5 times the powers of ten, 1 and 3 times, the powers
// alone or every so many of them: the most that there is room for.
func logTicks(lo, hi float64, want int) []float64 {
	from, to := int(math.Floor(math.Log10(lo)+1e-9)), int(math.Ceil(math.Log10(hi)-1e-9))
	from, to = max(from, -324), min(to, 309) // as far as numbers go
	at := func(factors []float64, stride int) []float64 {
		var out []float64
		for e := from; e <= to; e += stride {
			for _, f := range factors {
				if v := f * math.Pow(10, float64(e)); v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
					out = append(out, v)
				}
			}
		}
		return out
	}

	for _, factors := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		if ticks := at(factors, 1); len(ticks) <= want+2 {
			return ticks
		}
	}

	return at([]float64{1}, max((to-from+want-1)/max(want, 1), 2))
}

// setTicks labels the ticks that the axis holds.
func (s *scale) setTicks(at []float64) {
	s.ticks = nil
	for _, v := range at {
		if finite(v) && s.holds(v) {
			s.ticks = append(s.ticks, tick{at: v})
		}
	}

	if places := s.decimals(at); places >= 0 {
		for i, t := range s.ticks {
			s.ticks[i].label = decimals(t.at/s.show.per, places)
		}
		return
	}

	for digits := 3; digits <= 15; digits++ {
		seen := map[string]bool{}
		for i, t := range s.ticks {
			s.ticks[i].label = figures(t.at/s.show.per, digits)
			seen[s.ticks[i].label] = true
		}
		if len(seen) == len(s.ticks) {
			return
		}
	}
}

// decimals is how many decimals tell all ticks apart; negative where each is
// better written by itself: on logarithmic axes and for very large, very small
// and nearly equal values.
func (s *scale) decimals(at []float64) int {
	if s.log || len(at) == 0 {
		return -1
	}

	largest := slices.MaxFunc(at, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	if math.Abs(largest/s.show.per) >= 1e5 {
		return -1
	}

	for places := range 7 {
		if slices.IndexFunc(at, func(v float64) bool {
			return !whole(v / s.show.per * math.Pow(10, float64(places)))
		}) < 0 {
			return places
		}
	}

	return -1
}

func whole(v float64) bool { return math.Abs(v-math.Round(v)) <= 1e-6*max(1, math.Abs(v)*1e-3) }

// title is the axis' label with its unit.
func (s scale) title(a Axis) string {
	switch {
	case s.show.unit == "":
		return a.Label
	case a.Label == "":
		return s.show.unit
	}
	return a.Label + " (" + s.show.unit + ")"
}
