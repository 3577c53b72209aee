package show

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/scenarios"
)

// variantPlan is what a plan holds of one variant.
type variantPlan struct {
	name   string
	first  plan.Life
	starts int
	upTo   bool // some of them may turn out not to be needed
	lines  []stepLine
}

// stepLine is a load point of a variant and how often it is run.
type stepLine struct {
	step    plan.Step // the first of them
	repeats int
	later   string // what decides about later repeats, where the first is run in any case
}

// byVariant groups server starts by their variant, in the order of the scenario,
// without those that no outcome needs.
func byVariant(lives []plan.Life) []*variantPlan {
	var all []*variantPlan
	for _, life := range lives {
		if unneeded(life) {
			continue
		}
		at := slices.IndexFunc(all, func(v *variantPlan) bool { return v.name == life.Variant })
		if at < 0 {
			at = len(all)
			all = append(all, &variantPlan{name: life.Variant, first: life})
		}
		all[at].add(life)
	}
	slices.SortStableFunc(all, func(a, b *variantPlan) int {
		return cmp.Compare(a.first.VariantIndex, b.first.VariantIndex)
	})
	return all
}

func unneeded(life plan.Life) bool {
	return !slices.ContainsFunc(life.Steps, func(s plan.Step) bool { return !s.Unneeded })
}

func optional(life plan.Life) bool {
	return !slices.ContainsFunc(life.Steps, func(s plan.Step) bool { return !s.Optional })
}

func (v *variantPlan) add(life plan.Life) {
	v.starts++
	v.upTo = v.upTo || optional(life)
	if life.SecondPass != nil {
		v.starts++
	}

	for _, step := range life.Steps {
		at := slices.IndexFunc(v.lines, func(l stepLine) bool { return l.step.Point == step.Point })
		if at < 0 {
			at = len(v.lines)
			v.lines = append(v.lines, stepLine{step: step})
		}
		l := &v.lines[at]
		l.repeats++
		if l.later == "" && l.step.Decided == "" && step.Decided != "" {
			l.later = fmt.Sprintf("; from repeat %d on: %s", step.Repeat, step.Decided)
		}
	}
}

// print shows the variant: how often its servers start, their command lines the
// first time, and its load points, unless another variant has the same.
func (v *variantPlan) print(w *printer, sc *scenarios.Scenario, programs string, printed map[string]string) {
	atMost := ""
	if v.upTo {
		atMost = "up to "
	}
	fmt.Fprintf(w, "\n%s: %s%s\n", v.name, atMost, starts(v.starts, programs))
	commands(w, v.first)
	smoke(w, sc, v.name)

	points := v.points(sc)
	if other, found := printed[points]; found {
		fmt.Fprintf(w, "    load points as %s\n", other)
		return
	}
	printed[points] = v.name
	fmt.Fprint(w, points)
}

// points are the load points, a line each; those that differ by their prompts
// alone, as the steps of a search do, share one.
func (v *variantPlan) points(sc *scenarios.Scenario) string {
	var out strings.Builder
	for at := 0; at < len(v.lines); {
		l, last := v.lines[at], at
		for last+1 < len(v.lines) && v.lines[last+1].describe(sc) == l.describe(sc) {
			last++
		}

		label, seed := l.step.Point, l.repeats == 1 && last == at
		if last > at {
			label += " to " + v.lines[last].step.Point
		}
		repeats := ""
		if l.repeats > 1 {
			repeats = fmt.Sprintf("%d x ", l.repeats)
		}
		fmt.Fprintf(&out, "    %-20s %s%s%s\n", label, repeats, describeStep(sc, l.step, seed), l.later)
		at = last + 1
	}

	if v.first.SecondPass != nil {
		out.WriteString("    each followed by a second pass on servers of its own: the same prompts, answers of one " +
			"token\n")
	}

	return out.String()
}

func (l stepLine) describe(sc *scenarios.Scenario) string {
	return fmt.Sprint(l.repeats, describeStep(sc, l.step, false), l.later)
}
