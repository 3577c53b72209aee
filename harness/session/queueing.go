package session

import (
	"slices"

	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/scenarios"
)

// RefuseToQueue says, as an error, why a scenario cannot wait in this machine's
// queue, which keeps the path of its file and its overrides.
func RefuseToQueue(sc *scenarios.Scenario) error {
	secret := func(set string) bool { return hider(sc)(set) != set }
	switch {
	case sc.On == scenarios.OnSlurm:
		return usage.Errorf("%s: on: slurm: the cluster has a queue of its own: bench run --detach", sc.Path)
	case slices.ContainsFunc(sc.Sets, secret):
		return usage.Errorf("%s: an override holds a secret, which the queue would keep: write ${env:NAME} instead",
			sc.Path)
	case SecretsInClear(sc):
		return usage.Errorf("%s: the scenario holds a secret in the clear, without which a run that was killed could "+
			"not go on: write ${env:NAME} in its place", sc.Path)
	}
	return nil
}
