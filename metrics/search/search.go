package search

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// NextLoad is what a search does after what it has seen.
type NextLoad struct {
	Done bool
	Load float64 // to measure next, unless Done
	Why  string  // this load, or why the search ends

	Met    *float64 // highest load that meets the targets, decisively; null: none was seen
	Missed *float64 // lowest load that misses them, decisively; null: none was seen
	Within bool     // the two are within the tolerance, and both outcomes are decisive
	Doubts []string // what does not fit loads that get worse as they rise
}

// NextOf decides on the next load of a search. It is a function of the policy,
// the estimate to start from (0: none) and the steps so far alone, so that a
// run that was cut off continues as it would have gone.
//
// The first load is the estimate, or the lowest. From there it climbs, or
// descends, until one load met the targets and one missed them, and then
// halves what lies between on a logarithmic scale. A load whose outcome is
// near a target is measured again before it counts as decisive, and a third time if
// the two disagree.
func NextOf(policy results.SearchPolicy, estimate float64, probes []Probe) NextLoad {
	s := search{policy: policy, estimate: estimate, probes: probes}
	s.tally()
	next := s.next()
	next.Doubts = s.doubts()
	if s.low != nil {
		next.Met = &s.low.load
	}
	if s.high != nil {
		next.Missed = &s.high.load
	}
	if !next.Done && len(probes) >= policy.Steps {
		next.Done = true
		next.Why = fmt.Sprintf("the limit of %s is reached; the next load would have been %s: %s",
			text.Count(policy.Steps, "step"), LoadText(next.Load), next.Why)
	}

	return next
}

// search is what the steps so far say.
type search struct {
	policy    results.SearchPolicy
	estimate  float64
	probes    []Probe
	loads     []level // that say something, ascending
	low, high *level  // the bracket: highest that met beneath the lowest that missed
}

// level is a load and what its measurements said.
type level struct {
	load        float64
	met, missed int
	clear       bool
}

func (l level) tied() bool     { return l.met == l.missed }
func (l level) decisive() bool { return !l.tied() && (l.clear || max(l.met, l.missed) > 1) }

func (s *search) tally() {
	for _, p := range s.probes {
		if p.Outcome == ProbeUnknown {
			continue
		}
		at := slices.IndexFunc(s.loads, func(l level) bool { return l.load == p.Load })
		if at < 0 {
			at = len(s.loads)
			s.loads = append(s.loads, level{load: p.Load, clear: true})
		}
		l := &s.loads[at]
		if p.Outcome == ProbeMet {
			l.met++
		} else {
			l.missed++
		}
		l.clear = l.clear && p.Clear
	}

	slices.SortStableFunc(s.loads, func(a, b level) int {
		if a.load < b.load {
			return -1
		}
		return 1
	})

	for i := range s.loads {
		if l := &s.loads[i]; l.missed > l.met {
			s.high = l
			break
		} else if l.met > l.missed {
			s.low = l
		}
	}
}

func (s *search) next() NextLoad {
	if again, ok := s.afterUnknown(); ok {
		return again
	}

	for _, l := range s.loads {
		if l.tied() {
			return NextLoad{Load: l.load, Why: fmt.Sprintf("%d of %d measurements there met the targets", l.met,
				l.met+l.missed)}
		}
	}

	switch {
	case len(s.loads) == 0:
		return s.first()
	case s.low == nil:
		return s.descend()
	case s.high == nil:
		return s.climb()
	case s.close():
		return s.conclude()
	}

	return NextLoad{Load: s.middle(), Why: fmt.Sprintf("between %s, which met the targets, and %s, which missed",
		LoadText(s.low.load), LoadText(s.high.load))}
}

// afterUnknown measures a load once more whose step said nothing, and gives up
// after two in a row.
func (s *search) afterUnknown() (NextLoad, bool) {
	n := len(s.probes)
	if n == 0 || s.probes[n-1].Outcome != ProbeUnknown {
		return NextLoad{}, false
	}
	last := s.probes[n-1]
	if n > 1 && s.probes[n-2].Outcome == ProbeUnknown {
		return NextLoad{Done: true, Why: "two steps in a row gave no result: " + last.Why}, true
	}
	if last.Load == 0 {
		return NextLoad{}, false
	}
	return NextLoad{Load: last.Load, Why: "the step at that load gave no result: " + last.Why}, true
}

func (s *search) first() NextLoad {
	if s.policy.Start != nil {
		return NextLoad{Load: *s.policy.Start, Why: "the estimate that the scenario gives"}
	}
	if s.estimate > 0 {
		return NextLoad{Load: s.snap(s.estimate), Why: "what an earlier repeat found"}
	}
	return NextLoad{Load: s.policy.From, Why: "the lowest load"}
}

func (s *search) climb() NextLoad {
	if s.low.load >= s.policy.To {
		if !s.low.decisive() {
			return s.again(s.low)
		}
		return NextLoad{Done: true, Why: fmt.Sprintf("the highest load, %s, met the targets: the limit is above",
			LoadText(s.policy.To))}
	}
	return NextLoad{Load: s.snap(s.low.load * s.stride()), Why: "all loads so far met the targets"}
}

func (s *search) descend() NextLoad {
	if s.high.load <= s.policy.From {
		if !s.high.decisive() {
			return s.again(s.high)
		}
		return NextLoad{Done: true, Why: fmt.Sprintf("the lowest load, %s, missed the targets",
			LoadText(s.policy.From))}
	}
	return NextLoad{Load: s.snap(s.high.load / s.stride()), Why: "all loads so far missed the targets"}
}

const (
	maxStride  = 8 // a server that is driven far beyond its limit takes long to recover
	firstPower = 2 // of 1 + tolerance, the first stride from an estimate
)

// stride is the factor to the next load while the limit lies on one side: a
// third of the range from its end, and from an estimate little at first, then
// its square, and so on.
func (s *search) stride() float64 {
	widest := min(math.Cbrt(s.policy.To/s.policy.From), maxStride)
	if s.probes[0].Load == s.policy.From {
		return widest
	}
	return min(widest, math.Pow(1+s.policy.Tolerance, math.Pow(firstPower, float64(len(s.loads)))))
}

// snap makes a load of a number: whole, or of three digits, within the range.
func (s *search) snap(load float64) float64 {
	if s.policy.Metric == results.SearchConcurrency {
		load = math.Round(load)
	} else {
		const digits = 3
		load, _ = strconv.ParseFloat(strconv.FormatFloat(load, 'g', digits, 64), 64)
	}
	const nearEnd = 1.02 // a step more for the last 2 % adds nothing
	switch {
	case load*nearEnd >= s.policy.To:
		return s.policy.To
	case load <= s.policy.From*nearEnd:
		return s.policy.From
	}
	return load
}

func (s *search) middle() float64 { return s.snap(math.Sqrt(s.low.load * s.high.load)) }

// close reports whether the limit is known well enough, or no load lies between.
func (s *search) close() bool {
	const slack = 1e-9
	mid := s.middle()
	return s.high.load <= s.low.load*(1+s.policy.Tolerance)*(1+slack) || mid <= s.low.load || mid >= s.high.load
}

// conclude measures the ends of the bracket again until both are decisive.
func (s *search) conclude() NextLoad {
	for _, end := range []*level{s.low, s.high} {
		if !end.decisive() {
			return s.again(end)
		}
	}
	return NextLoad{Done: true, Within: true, Why: fmt.Sprintf("%s met the targets and %s missed them",
		LoadText(s.low.load), LoadText(s.high.load))}
}

func (s *search) again(l *level) NextLoad {
	was := "met"
	if l.missed > l.met {
		was = "missed"
	}
	return NextLoad{Load: l.load, Why: fmt.Sprintf("once more before it counts: it %s the targets only narrowly", was)}
}

// doubts tell where loads contradict themselves or each other.
func (s *search) doubts() []string {
	var lines []string
	lowestMissed := ""
	for _, l := range s.loads {
		switch {
		case l.met > 0 && l.missed > 0:
			lines = append(lines, fmt.Sprintf("%s: %d of %d measurements met the targets", LoadText(l.load), l.met,
				l.met+l.missed))
		case l.met > 0 && lowestMissed != "":
			lines = append(lines, fmt.Sprintf("%s met the targets although the lower %s missed them", LoadText(l.load),
				lowestMissed))
		}
		if l.missed > l.met && lowestMissed == "" {
			lowestMissed = LoadText(l.load)
		}
	}

	return lines
}

// LoadText is a load as reports print it.
func LoadText(load float64) string {
	return strconv.FormatFloat(load, 'g', -1, 64)
}
