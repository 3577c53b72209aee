package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/harness/reproduce"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/internal/offer"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/differences"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

const reproduceLong = `Repeat a run on this machine and decide for each figure, with its interval, whether
it holds: agrees, differs, cannot tell, or not comparable.

FILE is a bundle, a run folder, a step's result.json, or a scenario with --against,
the run to compare with.

bench first compares this machine with the original one: GPUs, driver, kernel, CPU,
bench, engines, models, prompts, disk. Then it runs the same steps with the same
prompts into a new results folder, and writes agreement.md and agreement.json there.

--check-only stops after the comparison of machines. --run DIR compares an existing
run and runs nothing.

Exit codes: 0 no figure differs (some may be undecided), 2 the run cannot be repeated
here and nothing was started, 3 steps failed, 4 a figure differs.`

type reproduceOptions struct {
	reproduce.Options
	lockWait
	format, run             string
	margin, spread          share
	checkOnly, allowMissing bool
	uncertain               bool
}

func newReproduceCommand(e env) *cobra.Command {
	o := reproduceOptions{format: "table"}
	cmd := &cobra.Command{
		Use: "reproduce FILE", Short: "Repeat a run on this machine and check whether its figures hold",
		Long: reproduceLong,
		Example: "  bench reproduce night.zip --check-only\n" +
			"  bench reproduce night.zip --set server.model=/models/llama.gguf\n" +
			"  bench reproduce my.yaml --against colleague/result.json\n" +
			"  bench reproduce night.zip --run results/night/20260201-080000-cd34",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error { return runReproduce(cmd.Context(), e, o, given[0]) },
	}

	f := cmd.Flags()
	o.addFlags(f)
	f.StringArrayVar(&o.Set, "set", nil, "override a key of the scenario, `a.b=value`, such as the path of a model; "+
		"repeatable")
	f.StringSliceVar(&o.Steps, "steps", nil, "repeat only the steps with these ids")
	f.IntVar(&o.Repeats, "repeats", 0, "`number` of repeats of each step, in place of the scenario's")
	f.StringVar(&o.Out, "out", store.DefaultDir, "`folder` for results; the run goes to SCENARIO/RUN-ID below it")
	f.StringVar(&o.Against, "against", "", "with a scenario: the `RUN` to compare with")
	f.StringVar(&o.Dir, "dir", "", "`folder` for relative paths in the scenario (default: the original one if it "+
		"exists here, else the current one)")
	f.StringVar(&o.run, "run", "", "compare this `run` and run nothing")
	addChoice(cmd, &o.format, "format", "", "table", "markdown", "json")
	f.Var(&o.margin, "smallest-difference",
		"smallest relative difference of interest, such as 2% (default: that of the original scenario)")
	f.Var(&o.spread, "spread", "relative standard deviation of server speed per start, such as 1%, if "+
		"neither side has repeats")
	completeSets(cmd)
	complete(cmd, "steps", offer.Steps)
	f.BoolVar(&o.checkOnly, "check-only", false, "compare this machine with the original one and stop")
	f.BoolVar(&o.allowMissing, "allow-missing", false, "run although models or programs are missing; their steps fail")
	f.BoolVar(&o.uncertain, "fail-if-uncertain", false,
		"exit code 4 also if a figure is undecided or cannot be compared")
	return cmd
}

func (o *reproduceOptions) parse() error {
	if o.Repeats < 0 {
		return fmt.Errorf("--repeats %d: want 1 or more", o.Repeats)
	}
	if o.run != "" && o.checkOnly {
		return errors.New("--run and --check-only cannot be combined")
	}

	return nil
}

func runReproduce(ctx context.Context, e env, o reproduceOptions, path string) error {
	if err := o.parse(); err != nil {
		return usageError(err)
	}

	if info, err := os.Stat(path); path == store.Latest || err == nil && info.IsDir() {
		if path, err = runFolder(e, path); err != nil {
			return err
		}
	}

	from, err := reproduce.Open(ctx, o.Options, path)
	if err != nil {
		return err
	}
	defer from.Close()

	if o.run != "" {
		dir, err := runFolder(e, o.run)
		if err != nil {
			return err
		}
		here, err := store.Read(dir)
		if err != nil {
			return err
		}
		r, err := o.reproduction(from, here)
		if err != nil {
			return err
		}
		return o.printResult(e, r, nil)
	}

	sc, err := from.Scenario(e.Process, o.Options)
	if err != nil {
		return err
	}

	again, err := reproduce.New(ctx, e.Process, o.Options, from, sc)
	if err != nil {
		return err
	}
	defer again.Close()

	again.Show = e.screen.Show
	if err := o.check(ctx, e, again); err != nil || o.checkOnly {
		return err
	}

	return o.carryOut(ctx, e, again, path)
}

// check sets this machine beside the origin's, prints it, and refuses where the run
// cannot be repeated here.
func (o reproduceOptions) check(ctx context.Context, e env, a *reproduce.Again) error {
	b, err := a.Check(ctx, o.Options)
	if err != nil {
		return err
	}

	out := e.Stderr // the result of the command is the agreement
	if o.checkOnly {
		out = e.stdout
	}

	form := table.ForTerminal
	if o.checkOnly {
		form = table.Format(o.format)
	}
	err = differences.WriteMachineCheck(out, b, form, table.Options{Width: e.width})
	if err != nil {
		return err
	}
	if len(b.Problems) > 0 && !o.allowMissing {
		return usageError(fmt.Errorf("the run cannot be repeated on this machine: %s (--set gives other paths; "+
			"--allow-missing runs the rest)", strings.Join(b.Problems, "; ")))
	}

	return nil
}

// carryOut runs the steps and compares them.
func (o reproduceOptions) carryOut(ctx context.Context, e env, again *reproduce.Again, path string) error {
	o.Wait = o.wait
	folder, outcome, err := again.Measure(ctx, o.Options, path)
	if err != nil {
		return err
	}

	quiet := e
	quiet.stdout = io.Discard
	if err := printReport(quiet, folder.Dir(), reportOptions{write: true}); err != nil {
		return err
	}

	here, err := store.Read(folder.Dir())
	if err != nil {
		return err
	}

	fmt.Fprintf(e.Stderr, "results: %s\n", folder.Dir())
	r, err := o.reproduction(again.From, here)
	if err != nil {
		return err
	}
	return errors.Join(reproduce.Keep(folder, r), o.printResult(e, r, &outcome))
}

func (o reproduceOptions) reproduction(from *reproduce.Origin, here *results.Run) (*versus.Reproduction, error) {
	return versus.Reproduce(from.Run, here, versus.ReproduceOptions{
		Margin: float64(o.margin), Spread: float64(o.spread),
		Steps: o.Steps,
	})
}

// printResult prints how the figures agree and gives the exit code. outcome is nil where
// nothing was run.
func (o reproduceOptions) printResult(e env, r *versus.Reproduction, outcome *session.Outcome) error {
	err := differences.WriteReproduction(e.stdout, r, table.Format(o.format),
		e.tables())
	if err != nil {
		return err
	}
	if outcome != nil {
		if err := exitOf(*outcome); err != nil {
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
