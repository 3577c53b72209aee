package store

import (
	"cmp"
	"slices"

	"github.com/benchrig/bench/results"
)

// setAsideNotNeeded moves the steps that were not needed out of those that the run
// was to have.
func setAsideNotNeeded(r *results.Run) {
	notNeeded := func(s results.Step) bool {
		return s.Result.Verdict == results.NotRun && s.Result.Failure != nil && s.Result.Failure.Class.NotNeeded()
	}
	for _, s := range r.Steps {
		if notNeeded(s) {
			r.NotNeeded = append(r.NotNeeded, s)
		}
	}
	r.Steps = slices.DeleteFunc(r.Steps, notNeeded)
}

// nameSearched names the points of a search by their load, which is known where
// a step has a result: steps at one load stand beside each other, whichever
// step of the search each was. Manifest.Planned keeps the planned names.
func nameSearched(r *results.Run) {
	policy := r.Manifest.Search
	if policy == nil {
		return
	}

	loads := map[string]float64{}
	for i := range r.Steps {
		result := r.Steps[i].Result
		load, label := policy.Label(result)
		if label == "" {
			continue
		}
		result.Step.Point, loads[label] = label, load
	}

	var points []string
	for label := range loads {
		points = append(points, label)
	}

	slices.SortStableFunc(points, func(a, b string) int { return cmp.Compare(loads[a], loads[b]) })
	for _, s := range r.Steps {
		if !slices.Contains(points, s.Result.Step.Point) {
			points = append(points, s.Result.Step.Point)
		}
	}

	r.Manifest.Points = points
}
