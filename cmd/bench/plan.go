package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/harness/cluster"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/plan/show"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/scenarios"
)

const planLong = `Show what a run would do: for each variant the exact command line, environment,
GPUs, load points and repeats; every hook, check and notification; an estimate of
the time; and what will make the figures less reliable.

It starts no server, sends no request and writes no file.`

type planOptions struct {
	scenarioOptions
	machineOptions
	json, full, explain bool
}

func newPlanCommand(e env) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use: "plan SCENARIO", Short: "Show what a run would do", Long: planLong,
		Example: "  bench plan scenarios/mi300x-70b.yaml --box amd:8\n" +
			"  bench plan my.yaml --explain\n" +
			"  bench plan my.yaml --json",
		ValidArgsFunction: scenarioFiles,
		Args:              args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command,
			given []string,
		) error {
			return runPlan(cmd.Context(), e, o, given[0])
		},
	}

	o.scenarioOptions.addFlags(cmd)
	o.machineOptions.addFlags(cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the plan as JSON, as plan.json holds it")
	cmd.Flags().BoolVar(&o.full, "full", false, "list every step and server start, with seeds, in the order of the run")
	cmd.Flags().BoolVar(&o.explain, "explain", false,
		"also list the defaults that were applied and the variables that were read")
	return cmd
}

func runPlan(ctx context.Context, e env, o planOptions, path string) error {
	o.withoutSecrets = true
	sc, err := o.load(e, path)
	if err != nil {
		return err
	}

	machine, err := o.machine(ctx, e)
	if err != nil {
		return err
	}
	if sc.On == scenarios.OnSlurm && o.as == "" {
		machine.GPUs, machine.Devices, machine.Allowed = 0, nil, nil // those of this machine are of no meaning
	}

	p, err := plan.New(sc, machine)
	if err != nil {
		return usageError(err)
	}
	var short []string
	if len(sc.Blockers()) == 0 { // files that are on this machine can be read as run reads them
		if short, err = step.CheckDatasets(ctx, sc); err != nil {
			return usageError(err)
		}
	}
	if sc.On == scenarios.OnSlurm && o.as == "" {
		p.Problems = []string{}
	}
	if o.as == "" && sc.On != scenarios.OnSlurm {
		p.Problems = session.Missing(sc, p, e.Environ)
	}
	if o.json {
		return printJSON(e, p)
	}

	out, columns := e.stdout, e.width
	e.stdout = text.Wrapper{W: out, Width: func() int { return columns }}
	for _, warning := range slices.Concat(sc.Warnings, plan.RecipeWarnings(sc), short) {
		fmt.Fprintf(e.stdout, "warning: %s\n", warning)
	}

	session.WarnSimulated(e.stdout, sc)
	show.Plan(out, sc, p, show.Options{Full: o.full, Width: columns})
	show.Dropped(e.stdout, plan.DroppedEnv(sc, machine, e.Environ))
	printLimits(e.stdout, sc, p, machine)
	if o.as == "" {
		printBusy(ctx, e, sc, p, machine)
	}
	if sc.On == scenarios.OnSlurm {
		if err := cluster.ShowJobs(e.stdout, sc, p, e.Self); err != nil {
			return usageError(err)
		}
	}

	if o.explain {
		show.Explain(e.stdout, sc)
	}

	return nil
}

// printBusy warns of GPUs to be used that have memory in use.
func printBusy(ctx context.Context, e env, sc *scenarios.Scenario, p *plan.Plan, machine plan.Machine) {
	if len(machine.Devices) == 0 || sc.Simulation.On {
		return
	}
	watcher := gpu.NewWatcher(e.GPUOptions(), gpu.Inventory{GPUs: machine.Devices})
	defer func() { _ = watcher.Close() }() // nothing was changed
	used, err := watcher.Used(ctx)
	if err != nil {
		return // a run says what cannot be read
	}

	for _, line := range show.Busy(sc, p, machine.Devices, used) {
		fmt.Fprintf(e.stdout, "warning: %s\n", line)
	}
}

// printLimits says what will limit the trust in the figures of a run.
func printLimits(w io.Writer, sc *scenarios.Scenario, p *plan.Plan, machine plan.Machine) {
	limits := show.Limits(sc, p, machine)
	if len(limits) > 0 {
		fmt.Fprintf(w, "\nlimits of these results:\n%s", text.Indent(limits))
	}
}
