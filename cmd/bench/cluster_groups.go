package main

import (
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// clusterGroups splits a plan for jobs. Where a step depends on what came of
// others of its variant, all of the variant is one job's.
func clusterGroups(sc *scenarios.Scenario, p *plan.Plan) []results.Group {
	return p.Groups(sc.Slurm.Nodes == scenarios.SameNode || plan.SearchPolicy(sc) != nil || plan.PrunePolicy(sc) != nil)
}
