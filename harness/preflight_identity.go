package harness

import (
	"context"
	"fmt"
	"slices"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/launchers/endpoint"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// identified is a server that says who it is.
type identified interface {
	Identity(ctx context.Context) (endpoint.Identity, error)
	WrongModel(id endpoint.Identity) *results.Failure
}

// checkBefore asks the servers of a step who they are: a server that takes any
// model name would answer for another as well. What is known of the recipe and
// of the version that answers goes into the result.
func (r *Runner) checkBefore(ctx context.Context, a attempt, servers []step.Server, result *results.Result) *results.Failure {
	if failure := r.sameServers(ctx, servers); failure != nil {
		return failure
	}
	i := slices.IndexFunc(r.Scenario.Variants, func(v scenarios.Variant) bool { return v.Name == a.Variant })
	if i < 0 {
		return nil
	}
	v := r.Scenario.Variants[i]
	kind, known := engines.Lookup(v.Server.Launcher)
	if version := servers[0].Info().Version; known && version != "" {
		for _, c := range engines.Conflicts(kind, plan.BaseSpec(r.Scenario, v, kind, r.Box), version) {
			if c.NoEffect {
				result.Warnings = append(result.Warnings, results.Warning{Code: results.WarnNoEffect, Message: c.Message})
			}
		}
	}
	if plan.SpeculatesAlone(r.Scenario, v) {
		result.Warnings = append(result.Warnings, results.Warning{Code: results.WarnSpecBaseline, Message: plan.AloneText})
	}
	return nil
}

// checkAfter voids a step whose server, not ours to watch, is another one at
// the end than at the start.
func (r *Runner) checkAfter(ctx context.Context, servers []step.Server, result *results.Result) {
	kind, _ := engines.Lookup(servers[0].Info().Launcher)
	if !kind.External || result.Verdict == results.Failed || ctx.Err() != nil {
		return
	}
	if failure := r.sameServers(ctx, servers); failure != nil {
		result.Verdict, result.Failure = results.Failed, failure
	}
}

// sameServers compares who answers with who did when these servers were first
// asked. What cannot be asked is no difference: the step will show it.
func (r *Runner) sameServers(ctx context.Context, servers []step.Server) *results.Failure {
	if r.identities == nil {
		r.identities = map[string]endpoint.Identity{}
	}
	for _, s := range servers {
		asked, ok := s.(identified)
		if !ok {
			continue
		}
		now, err := asked.Identity(ctx)
		if err != nil || ctx.Err() != nil {
			continue
		}
		if failure := asked.WrongModel(now); failure != nil {
			return failure
		}
		info := s.Info()
		key := fmt.Sprintf("%s %d", info.Life, info.Replica)
		before, known := r.identities[key]
		if !known {
			r.identities[key] = now
			continue
		}
		if changed := now.Changed(before); changed != "" {
			return results.Failf(results.FailWrongModel, "the server at %s is another one than before: %s", info.BaseURL, changed)
		}
	}
	return nil
}
