package export

import (
	"io"
	"iter"
	"slices"
	"strconv"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/results"
)

// PartsName is the file of a run folder with the figures of parts of the load.
const PartsName = "parts.csv"

// HasParts reports whether any step has figures of parts of its load.
func HasParts(run *results.Run) bool {
	return slices.ContainsFunc(run.Steps, func(s results.Step) bool { return len(s.Result.Parts) > 0 })
}

// PartsCSV prints one row for each part of each step, such as a class of its
// requests, with the figures of summary.csv in base units. A field is empty where
// nothing is known.
func PartsCSV(w io.Writer, run *results.Run) error {
	fields := []csvField{
		ofStep("run_id", func(r *results.Result) string { return text.Clean(r.Run) }),
		ofStep("step", func(r *results.Result) string { return text.Clean(r.Step.ID) }),
		ofStep("variant", func(r *results.Result) string { return text.Clean(r.Step.Variant) }),
		ofStep("point", func(r *results.Result) string { return text.Clean(r.Step.Point) }),
		ofStep("repeat", func(r *results.Result) string { return strconv.Itoa(r.Step.Repeat) }),
		ofStep("verdict", func(r *results.Result) string { return string(r.Verdict) }),
		ofStep("simulated", func(r *results.Result) string { return strconv.FormatBool(r.Simulated) }),
		ofStep("by", func(r *results.Result) string { return string(r.Parts[0].By) }),
		ofStep("name", func(r *results.Result) string { return text.Clean(r.Parts[0].Name) }),
	}
	fields = append(fields, ofCatalog(catalog.All(catalog.Pass)...)...)
	for _, s := range catalog.Samples() {
		fields = append(fields, ofCatalog(s.InFile(percentilesOf(run))...)...)
	}

	return writeFields(w, fields, partsOf(run))
}

// partsOf are the parts of all steps, each as a step with the figures of the part.
func partsOf(run *results.Run) iter.Seq[results.Step] {
	return func(yield func(results.Step) bool) {
		for _, s := range run.Steps {
			for _, part := range s.Result.Parts {
				own := *s.Result
				own.Parts, own.Figures = []results.PartFigures{part}, &part.Figures
				if !yield(results.Step{Result: &own}) {
					return
				}
			}
		}
	}
}
