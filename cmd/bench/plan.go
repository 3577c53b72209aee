package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/harness/cluster"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

const planLong = `Show every step of a scenario in the order in which it would run: the exact
command line, the environment that differs, GPUs, prompts, and an estimate of the
time; and every hook, check and notification.

Nothing is touched: no server is started, no request is sent, no file is written.`

type planOptions struct {
	scenarioOptions
	boxOptions
	json, explain bool
}

func newPlanCommand(e env) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use: "plan SCENARIO", Short: "Show what a run would do", Long: planLong,
		Example: "  bench plan scenarios/mi300x-70b.yaml --box amd:8\n" +
			"  bench plan my.yaml --explain\n" +
			"  bench plan my.yaml --json",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error { return runPlan(cmd.Context(), e, o, given[0]) },
	}
	o.scenarioOptions.addFlags(cmd.Flags())
	o.boxOptions.addFlags(cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the plan as JSON, as plan.json holds it")
	cmd.Flags().BoolVar(&o.explain, "explain", false,
		"also list the defaults that were applied and the variables that were read")
	return cmd
}

func runPlan(ctx context.Context, e env, o planOptions, path string) error {
	sc, err := o.load(e, path)
	if err != nil {
		return err
	}

	box, err := o.box(ctx, e)
	if err != nil {
		return err
	}
	if sc.On == scenarios.OnSlurm && o.as == "" {
		box.GPUs, box.Devices = 0, nil // those of this box are of no meaning
	}

	p, err := plan.New(sc, box)
	if err != nil {
		return usageError(err)
	}
	if sc.On == scenarios.OnSlurm && o.as == "" {
		p.Problems = []string{}
	}
	if o.json {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(p)
	}

	for _, warning := range slices.Concat(sc.Warnings, plan.RecipeWarnings(sc)) {
		fmt.Fprintf(e.stdout, "warning: %s\n", warning)
	}

	session.WarnSimulated(e.stdout, sc)
	printPlan(e, sc, p)
	printDropped(e, plan.DroppedEnv(sc, box, e.Environ))
	if sc.On == scenarios.OnSlurm {
		if err := printJobs(e, sc, p); err != nil {
			return usageError(err)
		}
	}

	if o.explain {
		explain(e, sc)
	}

	return nil
}

func printPlan(e env, sc *scenarios.Scenario, p *plan.Plan) {
	w := e.stdout
	programs := "server lives"
	if sc.Method == scenarios.LlamaBench {
		programs = "runs of llama-bench"
	}

	fmt.Fprintf(w, "%s: %s%d steps in %d %s, %sabout %s%s\n", sc.Name, upTo(p), len(p.Refs()), p.Starts(), programs,
		upTo(p), clock(p.EstimateS), atLeast(p))
	fmt.Fprintf(w, "  (assuming %s)\n", p.Assumes)
	fmt.Fprintf(w, "  (%s)\n", plan.HygieneNote())
	for _, problem := range p.Problems {
		fmt.Fprintf(w, "problem on this box: %s\n", problem)
	}

	printAround(e, p.Around)
	for _, life := range p.Lives {
		printLife(w, life)
		printSmoke(w, sc, life.Variant)
		for _, step := range life.Steps {
			fmt.Fprintf(w, "    %-32s %s\n", step.ID, describeStep(sc, step))
		}
		if second := life.SecondPass; second != nil {
			printLife(w, *second)
			fmt.Fprintf(w, "    %-32s %s\n", life.Steps[0].ID, "second pass: the same prompts, answers of one token")
		}
	}
}

// upTo stands before what a plan comes to if every step is needed.
func upTo(plan *plan.Plan) string {
	if plan.LeastSteps == len(plan.Refs()) {
		return ""
	}
	return "up to "
}

// atLeast is what a plan comes to if no step is that is decided on later.
func atLeast(plan *plan.Plan) string {
	if plan.LeastSteps == len(plan.Refs()) {
		return ""
	}
	return fmt.Sprintf("; at least %d steps, about %s", plan.LeastSteps, clock(plan.LeastS))
}

func printLife(w io.Writer, life plan.Life) {
	fmt.Fprintf(w, "\n%s\n", life.ID)
	for _, server := range life.Servers {
		for _, program := range server.Beside {
			fmt.Fprintf(w, "  %s   # %s\n", program.CommandLine(), program.Note())
		}
		fmt.Fprintf(w, "  %s%s%s\n", plan.CommandLine(server), gpuNote(server.GPUs), nodesNote(server.Nodes))
	}
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

// describeStep is a step in a line.
func describeStep(sc *scenarios.Scenario, step plan.Step) string {
	if sc.Method == scenarios.LlamaBench {
		return fmt.Sprintf("repetitions of each test: %d", sc.LlamaBench.Repetitions)
	}
	text := describe(step.Asked)
	i := slices.IndexFunc(sc.Variants, func(v scenarios.Variant) bool { return v.Name == step.Variant })
	if n := sc.Variants[i].Extrapolate; n > 1 {
		text += fmt.Sprintf("; the share of one of %d replicas, extrapolated", n)
	}
	if step.Decided != "" {
		text += "; " + step.Decided
	}
	return text
}

// printAround shows everything that is run beside the servers: a scenario is
// data from somebody else.
func printAround(e env, around []plan.PlannedHook) {
	place := func(h plan.PlannedHook) string {
		switch {
		case h.Level == "variant" && h.Variant != "":
			return "around every server life of " + h.Variant
		case h.Level == "variant":
			return "around every server life"
		}
		return map[string]string{"run": "around the run", "step": "around every step"}[h.Level]
	}

	var places []string
	lines := map[string][]string{}
	for _, h := range around {
		at := place(h)
		if lines[at] == nil {
			places = append(places, at)
		}
		lines[at] = append(lines[at], h.String())
	}

	for _, at := range places {
		fmt.Fprintf(e.stdout, "\n%s\n", at)
		for _, line := range lines[at] {
			fmt.Fprintf(e.stdout, "  %s\n", line)
		}
	}
}

// printDropped tells what of this environment servers will not see.
func printDropped(e env, dropped map[string][]string) {
	if len(dropped) == 0 {
		return
	}
	fmt.Fprintln(e.stdout, "\nset here, and not inherited by servers unless the scenario sets it:")
	variants := map[string][]string{} // by what they drop
	for _, variant := range slices.Sorted(maps.Keys(dropped)) {
		names := strings.Join(dropped[variant], " ")
		variants[names] = append(variants[names], variant)
	}
	for _, names := range slices.Sorted(maps.Keys(variants)) {
		fmt.Fprintf(e.stdout, "  %s (%s)\n", names, strings.Join(variants[names], ", "))
	}
}

func nodesNote(nodes []string) string {
	if len(nodes) == 0 {
		return ""
	}
	return fmt.Sprintf("   # on node %s, over %d", nodes[0], len(nodes))
}

func gpuNote(gpus []int) string {
	if gpus == nil {
		return ""
	}
	return "   # GPUs " + strings.Trim(strings.ReplaceAll(fmt.Sprint(gpus), " ", ","), "[]")
}

// describe is a load point in a line.
func describe(a results.Asked) string {
	parts := []string{fmt.Sprintf("%d %s prompts (seed %d)", a.NumPrompts, a.Dataset, a.Seed)}
	if a.InputLen != nil {
		parts = append(parts, fmt.Sprintf("in %d", *a.InputLen))
	}
	if a.OutputLen != nil {
		parts = append(parts, fmt.Sprintf("out %d", *a.OutputLen))
	}
	if a.MaxConcurrency != nil {
		parts = append(parts, fmt.Sprintf("concurrency %d", *a.MaxConcurrency))
	}
	if a.RequestRate != nil {
		parts = append(parts, fmt.Sprintf("%g requests/s", *a.RequestRate))
	}
	if a.Ramp != nil {
		parts = append(parts, fmt.Sprintf("%s ramp from %g to %g requests/s", a.Ramp.Strategy, a.Ramp.StartRPS,
			a.Ramp.EndRPS))
	}
	if a.SendForS != nil {
		parts = append(parts, fmt.Sprintf("for %s", time.Duration(*a.SendForS*float64(time.Second))))
	}
	if a.Compat != "" {
		parts = append(parts, "as "+a.Compat)
	}

	return strings.Join(append(parts, "POST "+a.Endpoint), ", ")
}

func explain(e env, sc *scenarios.Scenario) {
	fmt.Fprintln(e.stdout, "\ndefaults applied:")
	for _, d := range sc.Defaults {
		fmt.Fprintf(e.stdout, "  %-40s %s\n", d.Path, d.Value)
	}
	if len(sc.EnvUsed) > 0 {
		fmt.Fprintln(e.stdout, "\nenvironment read:")
	}
	for _, use := range sc.EnvUsed {
		fmt.Fprintf(e.stdout, "  %-40s %s\n", use.Name, use.Value)
	}
}

func clock(seconds float64) string {
	return (time.Duration(seconds) * time.Second).String()
}
