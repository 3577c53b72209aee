package export

import (
	"cmp"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// CSV prints one row a step, in the order of the plan, in base units. A field
// is empty where nothing is known.
func CSV(w io.Writer, run *results.Run) error {
	return writeFields(w, csvFields(run), slices.Values(run.Steps))
}

// writeFields prints the names of fields, and a row for each step.
func writeFields(w io.Writer, fields []csvField, steps iter.Seq[results.Step]) error {
	out := newWriter(w)
	record := make([]string, len(fields))
	for i, f := range fields {
		record[i] = f.name
	}
	if err := out.write(record); err != nil {
		return err
	}

	for step := range steps {
		for i, f := range fields {
			record[i] = f.value(&step)
		}
		if err := out.write(record); err != nil {
			return err
		}
	}

	return out.flush()
}

// csvField is one column of summary.csv.
type csvField struct {
	name  string
	value func(*results.Step) string
}

func csvFields(run *results.Run) []csvField {
	fields := []csvField{
		ofStep("scenario", func(r *results.Result) string { return text.Clean(r.Scenario) }),
		ofStep("run_id", func(r *results.Result) string { return text.Clean(r.Run) }),
		ofStep("step", func(r *results.Result) string { return text.Clean(r.Step.ID) }),
		ofStep("variant", func(r *results.Result) string { return text.Clean(r.Step.Variant) }),
		ofStep("point", func(r *results.Result) string { return text.Clean(r.Step.Point) }),
		ofStep("repeat", func(r *results.Result) string { return strconv.Itoa(r.Step.Repeat) }),
		ofStep("attempt", func(r *results.Result) string { return strconv.Itoa(r.Step.Attempt) }),
		ofStep("verdict", func(r *results.Result) string { return string(r.Verdict) }),
		ofPart("failure_class", failureOf, func(f *results.Failure) string { return string(f.Class) }),
		ofPart("failure_message", failureOf, func(f *results.Failure) string { return text.Clean(f.Message) }),
		ofStep("warnings", warningCodes),
		ofStep("simulated", func(r *results.Result) string { return strconv.FormatBool(r.Simulated) }),
	}

	fields = append(fields, variables(run)...)
	fields = append(fields, extrapolationFields(run)...)
	for _, name := range paramNames(run) {
		fields = append(fields, ofStep("param."+name,
			func(r *results.Result) string { return text.Clean(r.Params[name]) }))
	}

	fields = append(fields, ofCatalog(catalog.All(catalog.Pass)...)...)
	fields = append(fields, ofCatalog(catalog.MeasureFigures(run.Results())...)...)
	fields = append(fields, gpuFields(run)...)
	fields = append(fields, costFields(run)...)
	percentiles := percentilesOf(run)
	for _, s := range catalog.Samples() {
		fields = append(fields, ofCatalog(s.InFile(percentiles)...)...)
	}

	return fields
}

// ofCatalog are the columns of figures, empty for steps that do not know them.
func ofCatalog(figures ...catalog.Figure) []csvField {
	fields := make([]csvField, len(figures))
	for i, f := range figures {
		fields[i] = ofStep(f.FileName(), func(r *results.Result) string {
			v := f.InFile(r)
			if v != nil && f.Whole {
				return strconv.FormatInt(int64(*v), 10)
			}
			return table.Exact(v)
		})
	}
	return fields
}

func ofStep(name string, value func(*results.Result) string) csvField {
	return csvField{name, func(s *results.Step) string { return value(s.Result) }}
}

// ofPart is empty for steps without the part of a result that it is about.
func ofPart[P any](name string, part func(*results.Result) *P, value func(*P) string) csvField {
	return ofStep(name, func(r *results.Result) string {
		p := part(r)
		if p == nil {
			return ""
		}
		return value(p)
	})
}

func failureOf(r *results.Result) *results.Failure { return r.Failure }

func warningCodes(r *results.Result) string {
	var codes []string
	for _, w := range r.Warnings {
		codes = append(codes, string(w.Code))
	}
	return strings.Join(codes, ";")
}

// paramNames are the matrix names of all steps, sorted.
func paramNames(run *results.Run) []string {
	var names []string
	for _, s := range run.Steps {
		for name := range s.Result.Params {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// percentilesOf are the percentiles that any step has, ascending.
func percentilesOf(run *results.Run) []float64 {
	var all []float64
	for _, s := range run.Steps {
		if f := s.Result.Figures; f != nil {
			for _, d := range []results.Dist{f.TTFT, f.TPOT, f.ICL, f.ITL, f.E2EL} {
				for _, p := range d.Percentiles {
					all = append(all, p.P)
				}
			}
		}
	}
	slices.SortStableFunc(all, cmp.Compare[float64])
	return slices.Compact(all)
}

// costFields are the columns of summary.csv about costs, where a step has any.
func costFields(run *results.Run) []csvField {
	if !slices.ContainsFunc(run.Steps, func(s results.Step) bool { return s.Result.Cost != nil }) {
		return nil
	}
	currency := ofPart("cost_currency", func(r *results.Result) *results.Cost { return r.Cost },
		func(c *results.Cost) string { return text.Clean(c.Price.Currency) })
	return append([]csvField{currency}, ofCatalog(catalog.All(catalog.Cost)...)...)
}

// extrapolationFields are the columns of summary.csv about it, where a step is
// extrapolated.
func extrapolationFields(run *results.Run) []csvField {
	if !slices.ContainsFunc(run.Steps, func(s results.Step) bool { return s.Result.Extrapolated != nil }) {
		return nil
	}
	field := func(name string, of func(*results.Extrapolation) int) csvField {
		return ofPart(name, func(r *results.Result) *results.Extrapolation { return r.Extrapolated },
			func(e *results.Extrapolation) string { return strconv.Itoa(of(e)) })
	}
	return []csvField{
		field("extrapolated_factor", func(e *results.Extrapolation) int { return e.Factor }),
		field("extrapolated_share", func(e *results.Extrapolation) int { return e.Share }),
	}
}
