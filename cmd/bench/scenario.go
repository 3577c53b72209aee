package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/profiles"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/parse"
)

// scenarioOptions are shared by the commands that read a scenario.
type scenarioOptions struct {
	set       []string
	sim       bool
	simSpeed  float64
	simDevice string
	on        string

	withoutSecrets bool // nothing is started or sent
}

func (o *scenarioOptions) addFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringArrayVar(&o.set, "set", nil, "override a key of the scenario, `a.b=value`; repeatable")
	fs.BoolVar(&o.sim, "sim", false, "replace every engine by the simulator; no GPU is used, and all figures are "+
		"marked as simulated")
	fs.Float64Var(&o.simSpeed, "sim-speed", 0,
		"with --sim: speed relative to the simulated engines (default: simulate.speed, else 10)")
	addChoice(cmd, &o.on, "on", "where servers run, in place of the scenario's on: ", "here", "slurm")
	addChoice(cmd, &o.simDevice, "sim-device",
		"with --sim, in place of simulate.device or a guess: ", scenarios.SimDevices()...)
	completeSets(cmd)
}

// sets are the overrides as given, and those that the flags of --sim stand
// for: a results folder keeps them all.
func (o *scenarioOptions) sets() ([]string, error) {
	sets := slices.Clone(o.set)
	if o.on != "" {
		sets = append(sets, "on="+o.on)
	}
	if !o.sim {
		if o.simSpeed != 0 || o.simDevice != "" {
			return nil, errors.New("--sim-speed and --sim-device need --sim")
		}
		return sets, nil
	}

	sets = append(sets, "simulate.on=true")
	if o.simSpeed != 0 {
		sets = append(sets, fmt.Sprintf("simulate.speed=%g", o.simSpeed))
	}
	if o.simDevice != "" {
		sets = append(sets, "simulate.device="+o.simDevice)
	}

	return sets, nil
}

func (o *scenarioOptions) load(e env, path string) (*scenarios.Scenario, error) {
	sets, err := o.sets()
	if err != nil {
		return nil, usageError(err)
	}
	options := parse.Options{
		Set: sets, LookupEnv: e.Lookup, Profile: profiles.Lookup, Profiles: profiles.Names(),
		WithoutSecrets: o.withoutSecrets,
	}
	sc, err := readScenario(e, path, options)
	if err != nil {
		return nil, usageError(err)
	}
	return sc, nil
}

// readScenario reads a file; - is standard input, whose relative paths start
// from the current folder.
func readScenario(e env, path string, options parse.Options) (*scenarios.Scenario, error) {
	if path != "-" {
		return parse.File(path, options)
	}
	source, err := io.ReadAll(e.stdin)
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	return parse.Source("stdin", source, options)
}

// machineOptions say for which machine a plan is made.
type machineOptions struct {
	as string
}

func (o *machineOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.as, "box", "", "plan for another machine, `VENDOR:GPUS` such as amd:8")
}

func (o *machineOptions) machine(ctx context.Context, e env) (plan.Machine, error) {
	if o.as == "" {
		inventory, err := gpu.Detect(ctx, e.GPUOptions())
		if err != nil {
			return plan.Machine{}, fmt.Errorf("look for GPUs: %w", err)
		}
		return e.MachineOf(inventory, e.Self), nil
	}
	machine, err := plan.MachineLike(o.as, e.Self)
	if err != nil {
		return machine, usageError(fmt.Errorf("--box: %w", err))
	}
	return machine, nil
}
