package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"benchrig/gpu"
	"benchrig/harness"
	"benchrig/profiles"
	"benchrig/scenarios"
)

// scenarioOptions are shared by the commands that read a scenario.
type scenarioOptions struct {
	set []string
}

func (o *scenarioOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringArrayVar(&o.set, "set", nil, "override a key of the scenario, `a.b=value`; may be repeated")
}

func (o *scenarioOptions) load(e env, path string) (*scenarios.Scenario, error) {
	sc, err := scenarios.LoadFile(path, scenarios.Options{Set: o.set, LookupEnv: e.lookup, Profile: profiles.Lookup, Profiles: profiles.Names()})
	if err != nil {
		return nil, usageError(err)
	}
	return sc, nil
}

// boxOptions say for which machine a plan is made.
type boxOptions struct {
	as string
}

func (o *boxOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.as, "box", "", "plan for another box, `VENDOR:GPUS` such as amd:8")
}

func (o *boxOptions) box(ctx context.Context, e env) (harness.Box, error) {
	if o.as == "" {
		inventory, err := gpu.Detect(ctx, gpuOptions(e))
		if err != nil {
			return harness.Box{}, fmt.Errorf("look for GPUs: %w", err)
		}
		return boxOf(inventory, e.self), nil
	}
	vendor, count, ok := strings.Cut(o.as, ":")
	n, err := strconv.Atoi(count)
	if !ok || err != nil || n < 0 || (vendor != "amd" && vendor != "nvidia") {
		return harness.Box{}, usageError(fmt.Errorf("--box %q: want amd:N or nvidia:N", o.as))
	}
	return harness.Box{Self: e.self, Vendor: vendor, GPUs: n}, nil
}
