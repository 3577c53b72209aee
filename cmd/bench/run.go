package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/harness/cluster"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/report/page"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

const runLong = `Run a scenario: start each server, wait until it streams a token, send the load,
stop the server, check that it is gone, and start the next.

A terminal shows the run live; press ? for the keys. Otherwise, or with --plain,
progress goes to stderr, one line for each event. The report goes to stdout at the
end; 'bench report' prints it again.

Press Ctrl-C once to stop cleanly and keep what was measured, twice to kill the
servers immediately. Closing the terminal does not stop the run.`

type runOptions struct {
	scenarioOptions
	lockWait
	plainFlags
	out    string
	detach bool
	asJSON bool

	allowMissing bool
}

// lockWait decides what happens while another bench uses this machine.
type lockWait struct{ wait bool }

func (o *lockWait) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.wait, "wait-for-box", false, "wait while another bench uses this machine, instead of refusing")
}

// plainFlags ask for plain line output also on a terminal.
type plainFlags struct{ plain bool }

func (o *plainFlags) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.plain, "plain", false, "plain line output, also on a terminal")
}

// of is the environment of a command with these flags.
func (o plainFlags) of(e env) env {
	if o.plain {
		e.screen.Terminal = nil
	}
	return e
}

func newRunCommand(e env) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use: "run SCENARIO", Short: "Run a scenario", Long: runLong,
		Example: "  bench run scenarios/quickstart.yaml\n" +
			"  bench run my.yaml --set load.num-prompts=16 --out /data/results\n" +
			"  bench run my.yaml --on slurm",
		ValidArgsFunction: scenarioFiles,
		Args:              args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command,
			given []string,
		) error {
			return runRun(cmd.Context(), o.of(e), o, given[0])
		},
	}

	o.addFlags(cmd)
	return cmd
}

func (o *runOptions) addFlags(cmd *cobra.Command) {
	o.scenarioOptions.addFlags(cmd)
	o.lockWait.addFlags(cmd.Flags())
	o.plainFlags.addFlags(cmd.Flags())
	o.addOutFlags(cmd.Flags())
	cmd.Flags().BoolVar(&o.detach, "detach", false, "with --on slurm: submit the jobs and return")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print the run as JSON in place of the report")
}

// addOutFlags are those that a queued run has too.
func (o *runOptions) addOutFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.out, "out", store.DefaultDir, "`folder` for results; the run goes to SCENARIO/RUN-ID below it")
	fs.BoolVar(&o.allowMissing, "allow-missing", false, "run although programs, files or GPUs are missing")
}

func runRun(ctx context.Context, e env, o runOptions, path string) error {
	sc, err := o.load(e, path)
	if err != nil {
		return err
	}
	if sc.On == scenarios.OnSlurm {
		c, err := cluster.Submit(ctx, e.Process, sc, o.out)
		if err != nil || o.detach {
			return err
		}
		return followCluster(ctx, e, c)
	}

	s, err := openSession(ctx, e, sc)
	if err != nil {
		return err
	}
	defer s.Close()

	if !o.allowMissing {
		if err := s.RefuseMissing(); err != nil {
			return err
		}
	}
	if err := waitToStart(ctx, e, sc); err != nil {
		return err
	}
	if err := s.Take(ctx, "bench run "+path, o.wait); err != nil {
		return err
	}

	printLimits(e.Stderr, sc, s.Plan, s.Machine)
	folder, err := s.Prepare(ctx, o.out, nil)
	if err != nil {
		return err
	}

	lock, err := folder.Lock()
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release() }() // the kernel would do it anyway

	return carryOut(ctx, e, s, folder, nil, o.asJSON)
}

// waitToStart waits for the scenario's start-at; Ctrl-C ends the wait.
func waitToStart(ctx context.Context, e env, sc *scenarios.Scenario) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	if err := session.WaitToStart(ctx, e.Stderr, sc); err != nil {
		fmt.Fprintln(e.Stderr, "bench: stopped before the run began")
		return codeError{code: exitInterrupted}
	}
	return nil
}

// openSession is a session whose run is shown on this terminal.
func openSession(ctx context.Context, e env, sc *scenarios.Scenario) (*session.Session, error) {
	s, err := session.Open(ctx, e.Process, sc)
	if err == nil {
		s.Show = e.screen.Show
	}
	return s, err
}

// carryOut runs what is to be run in a folder that is locked, and prints the
// report, or the run as JSON. resume is nil for a run that starts.
func carryOut(ctx context.Context, e env, s *session.Session, folder *store.Folder, resume *harness.Resume,
	asJSON bool,
) error {
	outcome, err := s.Measure(ctx, folder, resume)
	err = errors.Join(err, printReport(e, folder.Dir(), reportOptions{write: true, asJSON: asJSON}))
	if err != nil {
		return unwritten(err)
	}
	fmt.Fprintf(e.Stderr, "report: %s\n", filepath.Join(folder.Dir(), page.Name))
	if outcome.Ended != nil {
		fmt.Fprintf(e.Stderr, "bench: the run ended early: %s\n", outcome.Ended.Error())
	}
	if outcome.Ended != nil && outcome.Open > 0 {
		fmt.Fprintf(e.Stderr, "bench: to continue: bench resume %s\n", folder.Dir())
	}

	return exitOf(outcome.FailuresAsResults(s.Scenario.FailuresAreResults()))
}

// unwritten gives an error of the record keeping its exit code: of a run whose
// folder cannot be written to, steps are missing.
func unwritten(err error) error {
	if why := results.WriteFailure(err); why.Class == results.FailDisk {
		return codeError{exitStepsFailed, fmt.Errorf("%s; then continue with 'bench resume'", why.Message)}
	}
	return err
}

// exitOf gives the outcome of a run its exit code.
func exitOf(o session.Outcome) error {
	switch {
	case o.Interrupted:
		return codeError{code: exitInterrupted}
	case o.Failed+o.NotRun > 0:
		return codeError{code: exitStepsFailed}
	}
	return nil
}
