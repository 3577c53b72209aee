package versus

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
)

// Condition is a change that must not be: "output_throughput<-3%".
type Condition struct {
	Text   string
	Figure string
	Below  bool    // the change is less than Limit; else more
	Limit  float64 // relative, -0.03 for -3 %
}

var conditionPattern = regexp.MustCompile(`^\s*([\w.@ +/:-]*\w)\s*([<>])\s*([+-]?\d+(?:\.\d+)?)\s*%\s*$`)

// ParseCondition reads NAME<-N% or NAME>N%. NAME is a figure's name as in
// summary.csv.
func ParseCondition(text string) (Condition, error) {
	found := conditionPattern.FindStringSubmatch(text)
	if found == nil {
		return Condition{}, fmt.Errorf("condition %q: want FIGURE<-N%% or FIGURE>N%%, as in output_throughput<-3%%",
			text)
	}
	percent, err := strconv.ParseFloat(found[3], 64)
	if err != nil || math.IsInf(percent, 0) {
		return Condition{}, fmt.Errorf("condition %q: %q is not a number of percent", text, found[3])
	}
	return Condition{
		Text: strings.TrimSpace(text), Figure: catalog.NameOf(found[1]), Below: found[2] == "<",
		Limit: percent / 100,
	}, nil
}

// Finding is a condition that holds somewhere, or may hold.
type Finding struct {
	Condition string `json:"condition"`
	Where     string `json:"where"`     // side, variant, point
	Uncertain bool   `json:"uncertain"` // it may hold, but that is not certain
	Why       string `json:"why"`
}

// Check looks for conditions that hold: the change is beyond the limit, and it
// is established, that is its verdict is better or worse. Those that may hold
// are uncertain. A candidate without figures where the baseline has some holds
// every condition: what broke did not stay within a limit.
func (c *Comparison) Check(conditions []Condition) ([]Finding, error) {
	var all []Finding
	for _, condition := range conditions {
		if !slices.ContainsFunc(c.Figures, func(f catalog.Figure) bool { return f.Name == condition.Figure }) {
			return nil, fmt.Errorf("condition %q: unknown figure %q; want one of %s", condition.Text,
				condition.Figure, strings.Join(figureNames(c.Figures), ", "))
		}
		checked := 0
		for _, v := range c.Others {
			for i := range v.Pairs {
				checked++
				if f := condition.check(&v.Pairs[i]); f != nil {
					f.Condition, f.Where = condition.Text,
						text.Clean(c.Sides[v.Side].Name+", "+v.Pairs[i].Candidate.Variant+", "+v.Pairs[i].Point)
					all = append(all, *f)
				}
			}
		}
		if checked == 0 {
			all = append(all, Finding{
				Condition: condition.Text, Where: "everywhere", Uncertain: true,
				Why: "no variant and load point of the two runs match",
			})
		}
	}

	return all, nil
}

// check is nil where the condition surely does not hold.
func (c Condition) check(s *Pair) *Finding {
	switch {
	case s.NotCompared != "":
		return &Finding{Uncertain: true, Why: "not comparable: " + s.NotCompared}
	case len(s.Baseline.Counted) == 0:
		return &Finding{Uncertain: true, Why: "the baseline has no figures"}
	case len(s.Candidate.Counted) == 0:
		return &Finding{Why: strings.Join(s.Failed, "; ")}
	}

	at := slices.IndexFunc(s.Differences, func(d compare.Difference) bool { return d.Figure == c.Figure })
	if at < 0 || s.Differences[at].Delta == nil {
		return &Finding{Uncertain: true, Why: "the change is not known"}
	}

	d := s.Differences[at]
	why := strings.TrimSuffix(fmt.Sprintf("%s, %s, %s", ChangeText(d.Delta), IntervalText(d), VerdictText(d)), ", ")
	switch {
	case c.beyond(*d.Delta) && (d.Verdict == compare.Better || d.Verdict == compare.Worse):
		return &Finding{Why: why}
	case d.Verdict == compare.CannotTell && (d.Low == nil || c.beyond(*d.Low) || c.beyond(*d.High)):
		return &Finding{Uncertain: true, Why: why}
	}

	return nil
}

func (c Condition) beyond(change float64) bool {
	if c.Below {
		return change < c.Limit
	}
	return change > c.Limit
}
