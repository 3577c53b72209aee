package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/report"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

const reproduceLong = `Repeat somebody's run on this box and say, figure by figure, whether it holds:
agrees, differs, cannot tell, not comparable, each with its interval.

FILE is a bundle, a run folder, a step's result.json in a run folder, or a
scenario together with --against, the run whose figures it is held to.

First this box is set beside the origin's: GPUs, driver, kernel, CPU, bench,
engines, models, prompts, disk, and what cannot be the same. Then the same steps
are run, with the very prompts that the origin sent, into a results folder
of its own, which keeps agreement.md and agreement.json.

--check-only stops after the first part. --run DIR compares a run that is there
already and runs nothing.

Exit codes here: 0 nothing differs (which is no agreement where it cannot be
told), 2 it cannot be run here and nothing was started, 3 steps failed,
4 a figure differs.`

type reproduceOptions struct {
	boxWait
	set, steps                     []string
	repeats                        int
	out, against, dir, format, run string
	difference, spread             string
	checkOnly, allowMissing        bool
	uncertain                      bool
	margin, deviation              float64 // of difference and spread
}

func newReproduceCommand(e env) *cobra.Command {
	var o reproduceOptions
	cmd := &cobra.Command{
		Use: "reproduce FILE", Short: "Repeat a run on this box and say whether its figures hold", Long: reproduceLong,
		Example: "  bench reproduce night.zip --check-only\n  bench reproduce night.zip --set server.model=/models/llama.gguf\n" +
			"  bench reproduce my.yaml --against colleague/result.json\n  bench reproduce night.zip --run results/night/20260201-080000-cd34",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error { return runReproduce(cmd.Context(), e, o, given[0]) },
	}
	f := cmd.Flags()
	o.addFlags(f)
	f.StringArrayVar(&o.set, "set", nil, "override a key of the scenario, `a.b=value`, as the path of a model; may be repeated")
	f.StringSliceVar(&o.steps, "steps", nil, "repeat only these steps, by their ids")
	f.IntVar(&o.repeats, "repeats", 0, "repeats of each step, in place of the scenario's")
	f.StringVar(&o.out, "out", "results", "folder that gets SCENARIO/RUN-ID/")
	f.StringVar(&o.against, "against", "", "with a scenario: the `RUN` whose figures it is held to")
	f.StringVar(&o.dir, "dir", "", "folder from which relative paths in the scenario start (default: that of the origin where it is there, else the current one)")
	f.StringVar(&o.run, "run", "", "compare this run and run nothing")
	f.StringVar(&o.format, "format", "table", "table, markdown or json")
	f.StringVar(&o.difference, "smallest-difference", "", "relative difference that does not matter, as 2%; that of the origin's scenario without it")
	f.StringVar(&o.spread, "spread", "", "relative deviation between server lives, as 1%, where neither side has repeats")
	f.BoolVar(&o.checkOnly, "check-only", false, "only set this box beside the origin's")
	f.BoolVar(&o.allowMissing, "allow-missing", false, "run although models or programs are missing; their steps will fail")
	f.BoolVar(&o.uncertain, "fail-if-uncertain", false, "exit code 4 also where it cannot be told or compared")
	return cmd
}

func (o *reproduceOptions) parse() error {
	var err error
	if o.margin, err = percentOf("--smallest-difference", o.difference); err != nil {
		return err
	}
	if o.deviation, err = percentOf("--spread", o.spread); err != nil {
		return err
	}
	switch o.format {
	case "table", "markdown", "json":
	default:
		return fmt.Errorf("--format %q: want table, markdown or json", o.format)
	}
	if o.repeats < 0 {
		return fmt.Errorf("--repeats %d: want 1 or more", o.repeats)
	}
	if o.run != "" && o.checkOnly {
		return errors.New("--run and --check-only: give one of them")
	}
	return nil
}

func percentOf(flag, text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	var percent float64
	if _, err := fmt.Sscanf(strings.ReplaceAll(text, " ", ""), "%g%%", &percent); err != nil || percent <= 0 {
		return 0, fmt.Errorf("%s %q: want a percentage above 0, as 2%%", flag, text)
	}
	return percent / 100, nil
}

func runReproduce(ctx context.Context, e env, o reproduceOptions, path string) error {
	if err := o.parse(); err != nil {
		return usageError(err)
	}
	from, err := openOrigin(ctx, o, path)
	if err != nil {
		return err
	}
	defer from.close()
	if o.run != "" {
		here, err := results.Read(o.run)
		if err != nil {
			return err
		}
		return o.tell(e, from, here, nil)
	}
	sc, err := from.scenario(e, o)
	if err != nil {
		return err
	}
	again, err := newAgain(ctx, e, o, from, sc)
	if err != nil {
		return err
	}
	defer again.Close()
	if err := again.check(ctx, o); err != nil || o.checkOnly {
		return err
	}
	return again.carryOut(ctx, o, path)
}

// again is a run about to be repeated on this box.
type again struct {
	*session
	from *origin
}

// newAgain plans the steps to repeat, with the origin's prompts where it has
// them all.
func newAgain(ctx context.Context, e env, o reproduceOptions, from *origin, sc *scenarios.Scenario) (*again, error) {
	frozen, err := plan.OpenFrozen(from.prompts)
	if err != nil {
		return nil, err
	}
	plan, err := plan.New(sc, plan.Box{Self: e.Self})
	if err != nil {
		return nil, usageError(err)
	}
	if plan, err = o.only(plan, from); err != nil {
		return nil, usageError(err)
	}
	if len(plan.Unfrozen(sc, frozen, true)) == 0 {
		sc.ForgetDatasets()
	}
	s, err := newSession(ctx, e, sc)
	if err != nil {
		return nil, err
	}
	a := &again{s, from}
	if s.plan, err = o.only(s.plan, from); err != nil {
		a.Close()
		return nil, usageError(err)
	}
	s.plan.Freeze(frozen)
	s.origin = &from.is
	s.origin.Steps = o.steps
	return a, nil
}

// only is the part of the plan that is asked for: the named steps, and with
// more repeats those of the same variants and points.
func (o reproduceOptions) only(plan *plan.Plan, from *origin) (*plan.Plan, error) {
	if o.steps == nil {
		return plan, nil
	}
	ids := o.steps
	if o.repeats > 0 {
		ids = nil
		for _, id := range o.steps {
			step := from.run.Step(id)
			if step == nil {
				return nil, fmt.Errorf("--steps: the origin has no step %q", id)
			}
			for _, ref := range plan.Refs() {
				if ref.Variant == step.Result.Step.Variant && ref.Point == step.Result.Step.Point {
					ids = append(ids, ref.ID)
				}
			}
		}
	}
	return plan.Only(ids)
}

// carryOut runs the steps and compares them.
func (a *again) carryOut(ctx context.Context, o reproduceOptions, path string) error {
	if err := a.takeBox(ctx, "bench reproduce "+path, o.wait); err != nil {
		return err
	}
	folder, err := prepare(ctx, o.out, a.session, nil)
	if err != nil {
		return err
	}
	lock, err := folder.Lock()
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release() }() // the kernel would do it anyway
	if err := copyPrompts(a.from.prompts, folder.Dir()); err != nil {
		return err
	}
	frozen, err := plan.OpenFrozen(folder.Dir())
	if err != nil {
		return err
	}
	a.plan.Freeze(frozen)
	outcome, err := a.measure(ctx, folder, nil)
	if err != nil {
		return err
	}
	quiet := a.e
	quiet.stdout = io.Discard
	if err := printReport(quiet, folder.Dir(), reportOptions{write: true}); err != nil {
		return err
	}
	here, err := results.Read(folder.Dir())
	if err != nil {
		return err
	}
	fmt.Fprintf(a.e.Stderr, "results: %s\n", folder.Dir())
	return errors.Join(o.keep(folder, a.from, here), o.tell(a.e, a.from, here, &outcome))
}

// repeatOf gives the session of a repetition that goes on the steps and prompts
// that its folder has.
func (s *session) repeatOf(run *results.Run) error {
	if run.Manifest.Reproduces == nil {
		return nil
	}
	frozen, err := plan.OpenFrozen(run.Dir)
	if err != nil {
		return err
	}
	var ids []string
	for _, ref := range run.Manifest.Planned {
		ids = append(ids, ref.ID)
	}
	if s.plan, err = s.plan.Only(ids); err != nil {
		return fmt.Errorf("not the experiment that the run began with: %w", err)
	}
	s.plan.Freeze(frozen)
	return nil
}

// copyPrompts gives the run the prompts of the origin, so that it is complete
// in itself and can be resumed.
func copyPrompts(from, to string) error {
	if from == "" {
		return nil
	}
	source := filepath.Join(from, plan.PromptsName)
	if _, err := os.Stat(source); err != nil {
		return nil //nolint:nilerr // the origin keeps none
	}
	if err := os.CopyFS(filepath.Join(to, plan.PromptsName), os.DirFS(source)); err != nil {
		return fmt.Errorf("copy prompts: %w", err)
	}
	return nil
}

func (o reproduceOptions) reproduction(from *origin, here *results.Run) (*report.Reproduction, error) {
	return report.Reproduce(from.run, here, report.ReproduceOptions{Margin: o.margin, Spread: o.deviation, Steps: o.steps})
}

// keep writes the agreement into the run folder.
func (o reproduceOptions) keep(folder *results.Folder, from *origin, here *results.Run) error {
	r, err := o.reproduction(from, here)
	if err != nil {
		return err
	}
	var page, data strings.Builder
	return errors.Join(r.Write(&page, table.ForMarkdown, table.Options{}), r.JSON(&data),
		folder.WriteFile("agreement.md", []byte(page.String())), folder.WriteFile("agreement.json", []byte(data.String())))
}

// tell prints what came of it and gives the exit code. outcome is nil where
// nothing was run.
func (o reproduceOptions) tell(e env, from *origin, here *results.Run, outcome *ended) error {
	r, err := o.reproduction(from, here)
	if err != nil {
		return err
	}
	switch o.format {
	case "json":
		err = r.JSON(e.stdout)
	case "markdown":
		err = r.Write(e.stdout, table.ForMarkdown, table.Options{})
	default:
		err = r.Write(e.stdout, table.ForTerminal, table.Options{Width: e.width, Color: e.width > 0})
	}
	if err != nil {
		return err
	}
	if outcome != nil {
		if err := outcome.exit(); err != nil {
			return err
		}
	}
	t := r.Tally()
	switch {
	case t.Failed > 0:
		return codeError{code: exitStepsFailed}
	case t.Differ > 0, o.uncertain && (t.CannotTell+t.NotComparable > 0 || t.Agree == 0):
		return codeError{code: exitChanged}
	}
	return nil
}
