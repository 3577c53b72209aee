package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/harness/doctor"
	"github.com/benchrig/bench/harness/doctor/look"
	"github.com/benchrig/bench/scenarios"
)

const doctorLong = `Check that this machine is ready for an unattended run: engines, GPUs and their
users, limits, disk, memory, CPU settings, clock, ports, leftovers of earlier runs.
With a scenario, also its programs, models, datasets, GPUs, checks and hooks. Each
line is ok, note or problem, with what to do about it.

bench starts only the tools themselves, to ask for their versions, for at most five
seconds each. vLLM and SGLang take longer than that to print a version, so bench
reads it from their installation unless --ask-engines is given.

The exit code is 0 if there is no problem and 3 if there is one.`

type doctorOptions struct {
	scenarioOptions
	out              string
	asJSON, askHeavy bool
}

func newDoctorCommand(e env) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use: "doctor [SCENARIO]", Short: "Check that this machine is ready for an unattended run", Long: doctorLong,
		Example:           "  bench doctor\n  bench doctor my.yaml\n  bench doctor --json",
		ValidArgsFunction: scenarioFiles,
		Args:              args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command,
			given []string,
		) error {
			return runDoctor(cmd.Context(), e, o, given)
		},
	}

	o.addFlags(cmd)
	cmd.Flags().StringVar(&o.out, "out", "results", "`folder` that results will be written to")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&o.askHeavy, "ask-engines", false,
		"also start vllm and sglang to ask for their versions, up to a minute each")
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
		if err := printJSON(e, map[string]any{"ready": doctor.Ready(findings), "findings": findings}); err != nil {
			return err
		}
	} else {
		doctor.Print(e.stdout, findings)
	}

	if !doctor.Ready(findings) {
		return codeError{code: exitStepsFailed}
	}

	return nil
}
