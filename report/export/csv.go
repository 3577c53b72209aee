package export

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// CSV prints one row a step, in the order of the plan, in base units. A field
// is empty where nothing is known.
func CSV(w io.Writer, run *results.Run) error {
	fields := csvFields(run)
	out := newWriter(w)
	record := make([]string, len(fields))
	for i, f := range fields {
		record[i] = f.name
	}

	if err := out.write(record); err != nil {
		return err
	}

	for i := range run.Steps {
		for k, f := range fields {
			record[k] = f.value(&run.Steps[i])
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

	fields = append(fields,
		ofFigures("asked", func(f *results.Figures) string { return strconv.Itoa(f.Asked) }),
		ofFigures("completed", func(f *results.Figures) string { return strconv.Itoa(f.Completed) }),
		ofFigures("failed", func(f *results.Figures) string { return strconv.Itoa(f.Failed) }),
		ofFigures("unsent", func(f *results.Figures) string { return strconv.Itoa(f.Unsent) }),
		ofFigures("duration_s", func(f *results.Figures) string { return table.Exact(&f.DurationS) }),
		ofFigures("total_input_tokens", func(f *results.Figures) string { return table.ExactInt(f.TotalInputTokens) }),
		ofFigures("total_output_tokens",
			func(f *results.Figures) string { return table.ExactInt(f.TotalOutputTokens) }),
		ofFigures("cached_tokens", func(f *results.Figures) string { return table.ExactInt(f.CachedTokens) }),
		ofFigures("request_throughput", func(f *results.Figures) string { return table.Exact(f.RequestThroughput) }),
		ofFigures("request_goodput", func(f *results.Figures) string { return table.Exact(f.RequestGoodput) }),
		ofFigures("output_throughput", func(f *results.Figures) string { return table.Exact(f.OutputThroughput) }),
		ofFigures("total_token_throughput",
			func(f *results.Figures) string { return table.Exact(f.TotalTokenThroughput) }),
		ofFigures("max_output_tokens_per_s",
			func(f *results.Figures) string { return table.Exact(f.MaxOutputTokensPerS) }),
		ofFigures("peak_concurrent_requests",
			func(f *results.Figures) string { return strconv.Itoa(f.PeakConcurrent) }),
		ofFigures("tokens_per_chunk", func(f *results.Figures) string { return table.Exact(f.TokensPerChunk) }),
	)

	fields = append(fields, gpuFields(run)...)
	fields = append(fields, costFields(run)...)
	percentiles := percentilesOf(run)
	for _, d := range []struct {
		name string
		dist func(*results.Figures) results.Dist
	}{
		{"ttft_s", grid.Ttft},
		{"tpot_s", grid.Tpot},
		{"itl_s", func(f *results.Figures) results.Dist { return f.ITL }},
		{"e2el_s", grid.E2el},
		{"ttft_from_intended_s", func(f *results.Figures) results.Dist { return f.TTFTFromIntended }},
		{"e2el_from_intended_s", func(f *results.Figures) results.Dist { return f.E2ELFromIntended }},
		{"icl_s", func(f *results.Figures) results.Dist { return f.ICL }},
	} {
		fields = append(fields, distFields(d.name, d.dist, percentiles)...)
	}

	return fields
}

func distFields(name string, dist func(*results.Figures) results.Dist, percentiles []float64) []csvField {
	fields := []csvField{
		ofFigures("n_"+name, func(f *results.Figures) string { return strconv.Itoa(dist(f).N) }),
		ofFigures("mean_"+name, func(f *results.Figures) string { return table.Exact(dist(f).Mean) }),
		ofFigures("median_"+name, func(f *results.Figures) string { return table.Exact(dist(f).Median) }),
		ofFigures("std_"+name, func(f *results.Figures) string { return table.Exact(dist(f).Std) }),
		ofFigures("min_"+name, func(f *results.Figures) string { return table.Exact(dist(f).Min) }),
		ofFigures("max_"+name, func(f *results.Figures) string { return table.Exact(dist(f).Max) }),
	}
	for _, p := range percentiles {
		fields = append(fields, ofFigures(metrics.PercentileName(p)+"_"+name,
			func(f *results.Figures) string { return table.Exact(metrics.At(dist(f), p)) }))
	}
	return fields
}

func ofStep(name string, value func(*results.Result) string) csvField {
	return csvField{name, func(s *results.Step) string { return value(s.Result) }}
}

// ofFigures is empty for steps without figures. Where one replica stands for
// several the rates are those of all.
func ofFigures(name string, value func(*results.Figures) string) csvField {
	return ofPart(name, (*results.Result).Headline, value)
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
	slices.SortFunc(all, cmp.Compare[float64])
	return slices.Compact(all)
}

// costFields are the columns of summary.csv about costs, where a step has any.
func costFields(run *results.Run) []csvField {
	if !slices.ContainsFunc(run.Steps, func(s results.Step) bool { return s.Result.Cost != nil }) {
		return nil
	}

	field := func(name string, of func(*results.Cost) string) csvField {
		return ofPart(name, func(r *results.Result) *results.Cost { return r.Cost }, of)
	}
	number := func(name string, of func(*results.Cost) *float64) csvField {
		return field(name, func(c *results.Cost) string { return table.Exact(of(c)) })
	}
	return []csvField{
		field("cost_currency", func(c *results.Cost) string { return text.Clean(c.Price.Currency) }),
		number("price_per_gpu_hour", func(c *results.Cost) *float64 { return c.Price.PerGPUHour }),
		number("price_per_kwh", func(c *results.Cost) *float64 { return c.Price.PerKWh }),
		field("cost_gpus", func(c *results.Cost) string {
			if c.GPUs == nil {
				return ""
			}
			return strconv.Itoa(*c.GPUs)
		}),
		number("gpu_hours", func(c *results.Cost) *float64 { return c.GPUHours }),
		number("energy_kwh", func(c *results.Cost) *float64 { return c.EnergyKWh }),
		number("cost_total", func(c *results.Cost) *float64 { return c.Total }),
		number("cost_per_million_output_tokens", grid.PerMillionOutput),
		number("cost_per_million_total_tokens", grid.PerMillionTotal),
		number("cost_per_request", grid.PerRequest),
	}
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
