package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/harness/doctor"
	"github.com/benchrig/bench/harness/doctor/look"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/scenarios"
)

const doctorLong = `Say on one page whether this box is ready for a night: engines, GPUs and who
reads and uses them, limits, disk, memory, CPU settings, clock, ports, what is
left of earlier runs; each line ok, note or problem, with what to do about it.
With a scenario also what that one needs: programs, models, datasets, GPUs, its
checks, the programs of its hooks.

It starts nothing but the tools themselves, to ask for their versions, each for
five seconds at most. vLLM and SGLang load for long before they tell their
version: it is read from their installation instead, unless --ask-engines.

Exit code 0 says that there is no problem, 3 that there is one.`

type doctorOptions struct {
	scenarioOptions
	out              string
	asJSON, askHeavy bool
}

func newDoctorCommand(e env) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use: "doctor [SCENARIO]", Short: "Say whether this box is ready for a night", Long: doctorLong,
		Example: "  bench doctor\n  bench doctor my.yaml\n  bench doctor --json",
		Args:    args(cobra.MaximumNArgs(1)),
		RunE:    func(cmd *cobra.Command, given []string) error { return runDoctor(cmd.Context(), e, o, given) },
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&o.out, "out", "results", "folder that results will go to")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&o.askHeavy, "ask-engines", false, "start vllm and sglang for their versions, too, for a minute each")
	return cmd
}

func runDoctor(ctx context.Context, e env, o doctorOptions, given []string) error {
	var sc *scenarios.Scenario
	if len(given) == 1 {
		var err error
		if sc, err = o.load(e, given[0]); err != nil {
			return err
		}
	}
	l := look.Look{Process: e.Process, Out: o.out, AskEngines: o.askHeavy}
	findings := doctor.Judge(l.View(ctx, sc))
	if o.asJSON {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		if err := enc.Encode(map[string]any{"ready": doctor.Ready(findings), "findings": findings}); err != nil {
			return err
		}
	} else {
		printFindings(e, findings)
	}
	if !doctor.Ready(findings) {
		return codeError{code: exitStepsFailed}
	}
	return nil
}

func printFindings(e env, findings []doctor.Finding) {
	area := ""
	counts := map[doctor.Status]int{}
	for _, f := range findings {
		if f.Area != area {
			area = f.Area
			fmt.Fprintf(e.stdout, "%s\n", area)
		}
		counts[f.Status]++
		fmt.Fprintf(e.stdout, "  %-8s %s\n", f.Status, f.Text)
		if f.Advice != "" && f.Status != doctor.OK {
			fmt.Fprintf(e.stdout, "           -> %s\n", f.Advice)
		}
	}
	verdict := "ready"
	if counts[doctor.Problem] > 0 {
		verdict = "not ready"
	}
	fmt.Fprintf(e.stdout, "\n%s: %s, %s\n", verdict, text.Count(counts[doctor.Problem], "problem"), text.Count(counts[doctor.Note], "note"))
}
