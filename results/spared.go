package results

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// setAsideSpared moves the steps that were not needed out of those that the run
// was to have.
func (r *Run) setAsideSpared() {
	spared := func(s Step) bool {
		return s.Result.Verdict == NotRun && s.Result.Failure != nil && s.Result.Failure.Class.Spared()
	}
	for _, s := range r.Steps {
		if spared(s) {
			r.Spared = append(r.Spared, s)
		}
	}
	r.Steps = slices.DeleteFunc(r.Steps, spared)
}

// nameSearched names the points of a search by their load, which is known where
// a step has a result: steps at one load stand beside each other, whichever
// step of the search each was. Manifest.Planned keeps the planned names.
func (r *Run) nameSearched() {
	policy := r.Manifest.Search
	if policy == nil {
		return
	}
	loads := map[string]float64{}
	for i := range r.Steps {
		result := r.Steps[i].Result
		load, label := policy.label(result)
		if label == "" {
			continue
		}
		result.Step.Point, loads[label] = label, load
	}
	var points []string
	for label := range loads {
		points = append(points, label)
	}
	slices.SortFunc(points, func(a, b string) int { return cmp.Compare(loads[a], loads[b]) })
	for _, s := range r.Steps {
		if !slices.Contains(points, s.Result.Step.Point) {
			points = append(points, s.Result.Step.Point)
		}
	}
	r.Manifest.Points = points
}

// label is what a sweep would call the load of a step; "" where it is not known.
func (p SearchPolicy) label(r *Result) (load float64, label string) {
	if load = p.LoadOf(r.Asked); load == 0 {
		return 0, ""
	}
	prefix := "rate"
	if p.Metric == SearchConcurrency {
		prefix = "c"
	}
	return load, prefix + strconv.FormatFloat(load, 'g', -1, 64)
}

// LoadOf is the load of a step of the search; 0 where it is not known.
func (p SearchPolicy) LoadOf(a Asked) float64 {
	switch {
	case p.Metric == SearchConcurrency && a.MaxConcurrency != nil:
		return float64(*a.MaxConcurrency)
	case p.Metric == SearchRate && a.RequestRate != nil && !math.IsInf(*a.RequestRate, 0):
		return *a.RequestRate
	}
	return 0
}
