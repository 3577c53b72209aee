package export

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/export/mlflow"
	"github.com/benchrig/bench/results"
)

// MLflow counts what an export has done with the steps of a run.
type MLflow struct {
	Experiment string
	Added      int
	Present    int // an earlier export had written them
	Unmeasured int // pending, interrupted or not run: there is nothing to write
}

// ToMLflow writes each measured or failed step of a run as a run of MLflow, in the
// experiment of the scenario's name.
//
// A step is what has one server start, one load, one set of figures and one
// verdict. As runs, steps can be filtered, grouped and compared by all of these,
// and repeats keep their spread. As steps of one run, MLflow would draw them as a
// curve over training time, and its tables would show the last one alone.
func ToMLflow(store *mlflow.Store, run *results.Run) (MLflow, error) {
	done := MLflow{Experiment: cmp.Or(text.Clean(run.Manifest.Scenario), "bench")}
	figures := mlflowFigures(run)
	loads := loadVariables()
	for i := range run.Steps {
		s := &run.Steps[i]
		if s.State != results.StepDone || s.Result.Verdict == results.NotRun {
			done.Unmeasured++
			continue
		}

		added, err := store.Add(done.Experiment, mlflowRun(run, s, figures, loads))
		switch {
		case err != nil:
			return done, err
		case added:
			done.Added++
		default:
			done.Present++
		}
	}
	return done, nil
}

// mlflowFigures are all figures of the steps, with the percentiles that any has.
func mlflowFigures(run *results.Run) []catalog.Figure {
	steps := run.Results()
	figures := catalog.All(catalog.Pass, catalog.Hardware, catalog.Heat, catalog.Energy, catalog.Cost, catalog.Shares)
	percentiles := percentilesOf(run)
	for _, s := range catalog.Samples() {
		figures = append(figures, s.InFile(percentiles)...)
	}

	// Those of methods that send no requests; of the rest they are among these.
	known := map[string]bool{}
	for _, f := range figures {
		known[f.FileName()] = true
	}
	return append(figures, slices.DeleteFunc(catalog.FiguresOf(steps), func(f catalog.Figure) bool {
		return known[f.FileName()]
	})...)
}

func mlflowRun(run *results.Run, s *results.Step, figures []catalog.Figure, loads []csvField) mlflow.Run {
	r := s.Result
	out := mlflow.Run{
		Of:      r.Run + "\n" + r.Step.ID,
		Version: strconv.Itoa(r.Step.Attempt),
		Name:    mlflowName(r),
		Status:  mlflow.Finished,
		Params:  mlflowParams(s, loads),
		Tags:    mlflowTags(r),
	}
	if r.Verdict == results.Failed {
		out.Status = mlflow.Failed
	}
	if at, ok := unixMS(cmp.Or(r.StartedAt, run.Manifest.StartedAt)); ok {
		out.StartMS = at
	}
	if at, ok := unixMS(r.EndedAt); ok {
		out.EndMS = &at
	}

	for _, f := range figures {
		if v := f.InFile(r); v != nil {
			out.Metrics = append(out.Metrics, mlflow.Metric{Name: f.FileName(), Value: *v})
		}
	}
	return out
}

func unixMS(at string) (int64, bool) {
	t, err := time.Parse(time.RFC3339Nano, at)
	return t.UnixMilli(), err == nil
}

// mlflowName is how tables and charts of MLflow call a step, with what everybody
// must know who reads its figures.
func mlflowName(r *results.Result) string {
	name := text.Clean(r.Step.Variant)
	if r.Step.Point != "" { // methods without requests have none
		name += " " + text.Clean(r.Step.Point)
	}
	name += " #" + strconv.Itoa(r.Step.Repeat)
	var marks []string
	if r.Simulated {
		marks = append(marks, "SIMULATED")
	}
	if r.Verdict != results.OK {
		marks = append(marks, strings.ToUpper(string(r.Verdict)))
	}
	if marks != nil {
		name += " (" + strings.Join(marks, ", ") + ")"
	}
	return name
}

// mlflowParams are the settings of a step: variant, load, server, and all flags of
// its command.
func mlflowParams(s *results.Step, loads []csvField) []mlflow.Pair {
	r := s.Result
	params := []mlflow.Pair{
		{Name: "variant", Value: text.Clean(r.Step.Variant)},
		{Name: "point", Value: text.Clean(r.Step.Point)},
		{Name: "repeat", Value: strconv.Itoa(r.Step.Repeat)},
	}
	for _, f := range loads {
		params = append(params, mlflow.Pair{Name: f.name, Value: f.value(s)})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Params)) {
		params = append(params, mlflow.Pair{Name: "param." + name, Value: text.Clean(r.Params[name])})
	}

	arguments := versus.RecipeOf(r).Arguments()
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if strings.HasPrefix(name, "-") {
			params = append(params, mlflow.Pair{Name: argumentName(name), Value: text.Clean(arguments[name])})
		}
	}
	return params
}

func mlflowTags(r *results.Result) []mlflow.Pair {
	tags := []mlflow.Pair{
		{Name: "bench.version", Value: text.Clean(r.Bench)},
		{Name: "bench.scenario", Value: text.Clean(r.Scenario)},
		{Name: "bench.run_id", Value: text.Clean(r.Run)},
		{Name: "bench.step", Value: text.Clean(r.Step.ID)},
		{Name: "bench.attempt", Value: strconv.Itoa(r.Step.Attempt)},
		{Name: "bench.verdict", Value: string(r.Verdict)},
		{Name: "bench.simulated", Value: strconv.FormatBool(r.Simulated)},
		{Name: "bench.warnings", Value: warningCodes(r)},
	}
	if r.Failure != nil {
		tags = append(tags, mlflow.Pair{Name: "bench.failure_class", Value: string(r.Failure.Class)})
	}
	return append(tags, mlflow.Pair{Name: "mlflow.note.content", Value: mlflowNote(r)})
}

// mlflowNote is the description on the page of a run: what its figures are not
// good for. "" where there is nothing to say.
func mlflowNote(r *results.Result) string {
	var lines []string
	if r.Simulated {
		lines = append(lines, results.SimulatedMark+" these figures come from bench's simulator, not from a server.")
	}
	if r.Verdict == results.Suspect {
		lines = append(lines, "SUSPECT: the figures are in doubt.")
	}
	for _, w := range r.Warnings {
		lines = append(lines, text.Clean(string(w.Code)+": "+w.Message))
	}
	if f := r.Failure; f != nil {
		lines = append(lines, text.Clean("FAILED: "+string(f.Class)+": "+f.Message))
	}
	return strings.Join(lines, "\n\n")
}
