package scenarios

import "math/bits"

// Blame looks for the settings that make the difference between two variants: the
// variants of the scenario are a two-level fractional factorial over the settings
// in which the two differ.
type Blame struct {
	From, To string // names of the two variants; "": none are compared
	Figure   string
	Groups   []BlameGroup // settings that are exchanged together

	Factors []Factor          // what From and To differ in, in the order of the file
	Levels  map[string][]bool // by variant and factor: whether it has the setting of To
}

// BlameGroup is a factor of several settings.
type BlameGroup struct {
	Name     string
	Settings []string // as in Setting.Path
}

// Factor is what the variants of a factorial take from one of two variants.
type Factor struct {
	Name     string // of the group, else the path of the setting
	Settings []Setting
}

// Setting is a key in which two variants differ.
type Setting struct {
	Path     string // "args.max-num-seqs"
	From, To string // values as text, secrets hidden; "": not set
}

// FailuresAreResults reports whether steps that fail say something of their
// variants that the scenario wants to know.
func (s *Scenario) FailuresAreResults() bool {
	return s.Tune.Figure != "" || s.Blame.From != "" || s.Bisect.Figure != ""
}

// BlameProblems says which other keys keep the factorial from telling effects.
func (s *Scenario) BlameProblems() []string {
	if len(s.Blame.Factors) == 0 {
		return nil
	}
	return problems([]problem{
		{!s.Method.SendsRequests(), "blame is for methods that send requests"},
		{
			s.Search.Metric != "" || s.Tune.Figure != "" || s.Prune.When != nil || s.NullTest || s.Until.Width > 0,
			"blame cannot be combined with search, tune, prune, null-test or repeats.until: its design is fixed",
		},
		{s.Order == Grouped, "blame needs order shuffled or interleaved: drift would look like an effect"},
		{s.Restart == RestartNever, "blame needs server starts in each repeat: restart must not be never"},
		{s.Repeats < 2, "blame needs at least 2 repeats: one start of each variant does not show the noise"},
		{s.extrapolates(), "blame cannot be combined with extrapolate"},
	})
}

// MostFactors is how many factors a design can have.
const MostFactors = 16

// factorLetters name the factors of a design. There is no i, which stands for the
// identity where designs are written down.
const factorLetters = "abcdefghjklmnopq"

// FactorLetter is the letter of a factor in the names of variants.
func FactorLetter(factor int) string { return factorLetters[factor : factor+1] }

// Factorial lists the runs of a design: for each one, which factors have their
// second level. Up to three factors it has all combinations, else the fewest that
// confuse no effect of a factor with an interaction of two (resolution IV). The
// first run has no factor at its second level, and one has all.
//
// Columns beyond the basic ones are products of an odd number of those, and so is
// their defining relation made of words of even length: the resolution is at least
// IV, and both extremes are runs.
func Factorial(factors int) [][]bool {
	const whole = 3
	basic := factors
	if factors > whole {
		for basic = whole; 1<<(basic-1) < factors; basic++ {
		}
	}

	columns := oddProducts(basic)[:factors]
	runs := make([][]bool, 1<<basic)
	for run := range runs {
		runs[run] = make([]bool, factors)
		for i, column := range columns {
			runs[run][i] = odd(run & column)
		}
	}
	return runs
}

// oddProducts are sets of an odd number of basic factors as bits, the small sets
// first.
func oddProducts(basic int) []int {
	var products []int
	for size := 1; size <= basic; size += 2 {
		for set := range 1 << basic {
			if bits.OnesCount(uint(set)) == size {
				products = append(products, set)
			}
		}
	}
	return products
}

func odd(set int) bool { return bits.OnesCount(uint(set))%2 == 1 }
