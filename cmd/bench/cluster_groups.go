package main

import (
	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// clusterGroups splits a plan for jobs. Where a step depends on what came of
// others of its variant, all of the variant is one job's.
func clusterGroups(sc *scenarios.Scenario, plan *harness.Plan) []results.Group {
	return plan.Groups(sc.Slurm.Nodes == scenarios.SameNode || harness.SearchPolicy(sc) != nil || harness.PrunePolicy(sc) != nil)
}
