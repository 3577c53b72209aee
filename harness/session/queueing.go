package session

import (
	"context"
	"slices"

	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/scenarios"
)

// CheckForQueue checks a scenario as a run does before it starts anything, and returns
// the seconds that its plan takes. The error says why it cannot wait in this machine's
// queue; missing models and programs are one unless allowMissing is set.
func CheckForQueue(
	ctx context.Context, p machine.Process, sc *scenarios.Scenario, allowMissing bool,
) (estimateS float64, err error) {
	if err := refuseToQueue(sc); err != nil {
		return 0, err
	}
	s, err := New(ctx, p, sc, p.MachineOf)
	if err != nil {
		return 0, err
	}
	if err := s.RefuseMissing(); err != nil && !allowMissing {
		return 0, err
	}
	return s.Plan.EstimateS, nil
}

// refuseToQueue refuses what the queue cannot keep: it knows the path of the file and
// its overrides.
func refuseToQueue(sc *scenarios.Scenario) error {
	secret := func(set string) bool { return hider(sc)(set) != set }
	switch {
	case sc.On == scenarios.OnSlurm:
		return usage.Errorf("%s: on: slurm: the cluster has a queue of its own: bench run --detach", sc.Path)
	case slices.ContainsFunc(sc.Sets, secret):
		return usage.Errorf("%s: an override contains a secret, which the queue would keep: write ${env:NAME} instead",
			sc.Path)
	case SecretsInClear(sc):
		return usage.Errorf("%s: the scenario contains a secret in the clear, without which a run that was killed "+
			"could not go on: write ${env:NAME} in its place", sc.Path)
	}
	return nil
}
