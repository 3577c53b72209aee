package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

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

const planLong = `Show what a run of a scenario would do: for each variant the exact command line,
the environment that differs, GPUs, load points and repeats; an estimate of the
time; every hook, check and notification; and what will limit the trust in the
figures. --full lists every step in the order of the run.

Nothing is touched: no server is started, no request is sent, no file is written.`

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
		if err := printJobs(e, sc, p); err != nil {
			return usageError(err)
		}
	}

	if o.explain {
		show.Explain(e.stdout, sc)
	}

	return nil
}

// printJobs shows the groups and the script that would be submitted.
func printJobs(e env, sc *scenarios.Scenario, plan *plan.Plan) error {
	groups := cluster.Groups(sc, plan)
	fmt.Fprintf(e.stdout, "\n%s of a Slurm cluster, which plan again on their nodes:\n", text.Count(len(groups), "job"))
	for _, group := range groups {
		on := ""
		if group.Nodes > 1 {
			on = fmt.Sprintf(" on %d nodes", group.Nodes)
		}
		fmt.Fprintf(e.stdout, "  %s  %s: %s%s\n", group.ID, strings.Join(group.Lives, ", "),
			text.Count(len(group.Steps), "step"), on)
	}

	fmt.Fprint(e.stdout, "\nsubmitted with sbatch, as several arrays where the cluster allows fewer jobs in one:\n")
	for _, array := range cluster.Arrays(groups, len(groups)) {
		script, err := cluster.Script(sc, e.Self, array)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.stdout, "\n%s", text.Indent(strings.Split(strings.TrimSpace(script), "\n")))
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
