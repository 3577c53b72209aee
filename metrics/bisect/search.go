package bisect

import (
	"fmt"
	"math"
	"slices"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// Stage is what rounds are for.
type Stage int

// The stages of a search, in their order.
const (
	Ends    Stage = iota // whether the first and the last version differ
	Middle               // on which side of the change a version in between lies
	Confirm              // the two versions that were found, in rounds that no choice has used
	Over
)

// Search is how far a search has come.
type Search struct {
	Stage  Stage
	Lo, Hi int // versions between which the change lies
	Mid    int // that is measured beside them, or could not be told to lie on either side; -1: none

	Skipped map[int]string // versions that gave no figure, and why
	Failed  int            // of the ends, the one that gave no figure; -1: none
	Change  float64        // of the logarithm of the figure, from the first version to the last

	began   int // round with which the stage, or the measurement of Mid, began
	rounds  int // that are over
	policy  results.BisectPolicy
	samples []map[int]sample // by version: by round
}

// sample is what a version gave in a round.
type sample struct {
	log     float64 // logarithm of the figure
	failed  string  // why there is none; "": there is one
	suspect bool
}

const (
	confidence = 0.95 // that no decision of a whole search is wrong
	fewest     = 3    // rounds before the first look at the ends
)

// searchOf carries a search on through the rounds that are over.
func searchOf(policy results.BisectPolicy, versions []string, rounds int, steps []*results.Result) *Search {
	s := &Search{
		Hi: len(versions) - 1, Mid: -1, Failed: -1, Skipped: map[int]string{}, began: 1, policy: policy,
		samples: make([]map[int]sample, len(versions)),
	}
	for i := range s.samples {
		s.samples[i] = map[int]sample{}
	}
	for _, r := range steps {
		if i := slices.Index(versions, r.Step.Variant); i >= 0 && r.Verdict != results.NotRun {
			s.samples[i][r.Step.Repeat] = sampleOf(policy, r)
		}
	}
	for round := 1; round <= rounds && s.Stage != Over; round++ {
		s.rounds = round
		s.advance()
	}
	return s
}

func sampleOf(policy results.BisectPolicy, r *results.Result) sample {
	f, err := catalog.Named(policy.Figure)
	switch {
	case r.Verdict == results.Failed && r.Failure != nil:
		return sample{failed: string(r.Failure.Class) + ": " + r.Failure.Message}
	case err != nil || f.Of(r) == nil || *f.Of(r) <= 0:
		return sample{failed: policy.Figure + " is not known"}
	}
	return sample{log: math.Log(*f.Of(r)), suspect: r.Verdict == results.Suspect}
}

// advance draws the conclusions of a further round.
func (s *Search) advance() {
	switch s.Stage {
	case Ends:
		s.ends()
	case Middle:
		s.middle()
	case Confirm:
		if s.rounds-s.began+1 >= s.policy.Confirm {
			s.Stage = Over
		}
	case Over:
	}
}

// ends decides whether the first and the last version differ.
func (s *Search) ends() {
	for _, end := range []int{s.Lo, s.Hi} {
		if s.samples[end][s.rounds].failed != "" {
			s.Failed, s.Stage = end, Over
			return
		}
	}

	change, n := s.contrast(func(round int) (float64, bool) { return s.difference(s.Hi, s.Lo, round) })
	if n < fewest {
		return
	}
	looks := s.policy.Starts - fewest + 1
	if s.beyond(change, 2/float64(n), looks) {
		s.Change = change
		s.next()
	} else if n >= s.policy.Starts {
		s.Stage = Over
	}
}

// middle decides on which side of the change Mid lies.
func (s *Search) middle() {
	if why := s.samples[s.Mid][s.rounds].failed; why != "" {
		s.Skipped[s.Mid] = why
		s.next()
		return
	}

	above, n := s.contrast(func(round int) (float64, bool) {
		fromLo, ok1 := s.difference(s.Mid, s.Lo, round)
		fromHi, ok2 := s.difference(s.Mid, s.Hi, round)
		return (fromLo + fromHi) / 2, ok1 && ok2
	})
	switch tries := s.rounds - s.began + 1; {
	case n > 0 && s.beyond(above, 1.5/float64(n), s.policy.Starts):
		if above > 0 == (s.Change > 0) {
			s.Hi = s.Mid
		} else {
			s.Lo = s.Mid
		}
		s.next()
	case tries >= s.policy.Starts:
		s.Stage = Over
	}
}

// next chooses what is measured next: the version nearest to the middle, or the
// last two once none is left between them.
func (s *Search) next() {
	s.Stage, s.Mid, s.began = Confirm, -1, s.rounds+1
	middle := float64(s.Lo+s.Hi) / 2
	for i := s.Lo + 1; i < s.Hi; i++ {
		if s.Skipped[i] != "" {
			continue
		}
		if s.Mid < 0 || math.Abs(float64(i)-middle) < math.Abs(float64(s.Mid)-middle) {
			s.Stage, s.Mid = Middle, i
		}
	}
}

// difference is by how much two versions of a round differ; false where one has no
// figure.
func (s *Search) difference(a, b, round int) (float64, bool) {
	x, okX := s.samples[a][round]
	y, okY := s.samples[b][round]
	return x.log - y.log, okX && okY && x.failed == "" && y.failed == ""
}

// contrast is the mean of what each round since the beginning of the stage says:
// versions are compared within rounds, so that slow drift does not matter.
func (s *Search) contrast(of func(round int) (float64, bool)) (mean float64, n int) {
	sum := 0.0
	for round := s.began; round <= s.rounds; round++ {
		if v, ok := of(round); ok {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(max(1, n)), n
}

// beyond reports whether a contrast whose variance is so many times that of one
// start is not 0. It is asked looks times of each decision; all decisions of a
// search together are right with the search's confidence.
func (s *Search) beyond(contrast, variance float64, looks int) bool {
	spread, freedom := s.spread()
	if freedom < 1 {
		return false
	}
	alpha := (1 - confidence) / float64(looks) / float64(1+decisions(len(s.samples)))
	return math.Abs(contrast) > compare.TQuantile(1-alpha, float64(freedom))*spread*math.Sqrt(variance)
}

// decisions is how many versions between the ends a search asks about at most.
func decisions(versions int) int {
	n := 0
	for gap := versions - 1; gap > 1; gap = (gap + 1) / 2 {
		n++
	}
	return n
}

// spread is the standard deviation of the logarithm between starts of one version,
// of all versions together.
func (s *Search) spread() (spread float64, freedom int) {
	sum := 0.0
	for version := range s.samples {
		values := s.values(version, 1)
		mean := 0.0
		for _, v := range values {
			mean += v / float64(len(values))
		}
		for _, v := range values {
			sum += (v - mean) * (v - mean)
		}
		freedom += max(0, len(values)-1)
	}
	return max(compare.LeastSpread, math.Sqrt(sum/float64(max(1, freedom)))), freedom
}

// values are the logarithms of a version's figure, from a round on.
func (s *Search) values(version, from int) []float64 {
	var values []float64
	for round := from; round <= s.rounds; round++ {
		if v, ok := s.samples[version][round]; ok && v.failed == "" {
			values = append(values, v.log)
		}
	}
	return values
}

// Round says what a round measures.
type Round struct {
	versions []string
	rest     string // why others are not measured
}

// Without says why a round does not need a step; "": it does.
func (r Round) Without(version, _ string) string {
	if slices.Contains(r.versions, version) {
		return ""
	}
	return r.rest
}

// RoundOf is what a round measures, by the results of the rounds before it.
func RoundOf(policy results.BisectPolicy, versions []string, round int, before []*results.Result) Round {
	s := searchOf(policy, versions, round-1, before)
	if s.Stage == Over {
		return Round{rest: "the search is over"}
	}
	r := Round{versions: []string{versions[s.Lo], versions[s.Hi]}}
	r.rest = fmt.Sprintf("round %d measures %s and %s", round, versions[s.Lo], versions[s.Hi])
	if s.Mid >= 0 {
		r.versions = append(r.versions, versions[s.Mid])
		r.rest = fmt.Sprintf("round %d measures %s between %s and %s", round, versions[s.Mid], versions[s.Lo],
			versions[s.Hi])
	}
	return r
}
