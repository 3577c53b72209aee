package search

import (
	"slices"

	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// Run is one search of a run: that of a variant in a repeat.
type Run struct {
	Variant string
	Repeat  int
	Steps   []*results.Result // that were measured, in their order
	Probes  []Probe           // of the steps
	Whys    []string          // why each step had its load
	End     NextLoad          // what comes after them; not Done: the run ended before the search did
}

// Of reads the searches of a run, in the order of its plan; none where
// it has no search.
func Of(run *results.Run) []Run {
	policy := run.Manifest.Search
	if policy == nil {
		return nil
	}

	var all []Run
	measured := map[string][]*results.Result{} // by variant
	for _, ref := range run.Manifest.Planned {
		at := slices.IndexFunc(all, func(s Run) bool { return s.Variant == ref.Variant && s.Repeat == ref.Repeat })
		if at < 0 {
			at = len(all)
			all = append(all, Run{Variant: ref.Variant, Repeat: ref.Repeat})
		}
		step := run.Step(ref.ID)
		if step == nil || step.State != results.StepDone || step.Result.Verdict == results.NotRun {
			continue
		}
		all[at].Steps = append(all[at].Steps, step.Result)
		measured[ref.Variant] = append(measured[ref.Variant], step.Result)
	}

	for i := range all {
		s := &all[i]
		earlier := slices.DeleteFunc(slices.Clone(measured[s.Variant]),
			func(r *results.Result) bool { return r.Step.Repeat >= s.Repeat })
		estimate := EstimateOf(*policy, earlier)
		s.Probes = ProbesOf(*policy, s.Steps)
		for k := range s.Probes {
			s.Whys = append(s.Whys, NextOf(*policy, estimate, s.Probes[:k]).Why)
		}
		s.End = NextOf(*policy, estimate, s.Probes)
	}

	return all
}

// Limits are what the searches of a variant found, one per server life, in the
// order of the repeats; only searches that came within the tolerance count.
func Limits(searches []Run, variant string) compare.Sample {
	sample := compare.Sample{Name: variant}
	for _, s := range searches {
		if s.Variant == variant && s.End.Within {
			sample.Values = append(sample.Values, *s.End.Met)
		}
	}
	return sample
}

// ClientLimited counts the steps of a variant's searches in which the client
// was the limit, and all of them. Where there are any, the server may bear more
// than the limit that was found.
func ClientLimited(searches []Run, variant string) (limited, all int) {
	for _, s := range searches {
		if s.Variant != variant {
			continue
		}
		all += len(s.Steps)
		for _, r := range s.Steps {
			if slices.ContainsFunc(r.Warnings,
				func(w results.Warning) bool { return w.Code == results.WarnClientLimit }) {
				limited++
			}
		}
	}

	return limited, all
}

// LimitsOf are the ends of the brackets of a variant's searches that came within
// the tolerance, how many those are, and of how many.
func LimitsOf(searches []Run, variant string) (met, missed []float64, ended, all int) {
	for _, s := range searches {
		if s.Variant != variant {
			continue
		}
		all++
		if s.End.Within {
			ended++
			met, missed = append(met, *s.End.Met), append(missed, *s.End.Missed)
		}
	}
	return met, missed, ended, all
}
