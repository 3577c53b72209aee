package keys

import (
	"slices"
	"time"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// File is the table of a scenario file's top level. vars, server,
// variants and load are read by stages of their own.
func File() schema.Block[scenarios.Scenario] {
	later := schema.UnreadKey[scenarios.Scenario]
	server, variant, load := Server().Info(), Variant().Info(), Load().Info()

	return schema.Block[scenarios.Scenario]{
		Name: "at the top level",
		Doc: "A scenario file is one YAML mapping. It defines server variants, load points and repeats, and the " +
			"rules of the run.",
		Example: `
schema: 1
name: two-layouts
repeats: 3
order: interleaved
restart: variant
on-failure: continue
retries: {server-exited: 2, other: 0}
deadlines: {step: 30m, run: 12h}
`,
		Fields: append([]schema.Field[scenarios.Scenario]{
			schema.FreeKey("schema", "Version of this format.", schema.WholeIn(schema.Between(1, 1)),
				readSchema).Must(),
			schema.TextKey("name", "Name of the results folder: letters, digits and . _ + = -",
				func(s *scenarios.Scenario) *string { return &s.Name }).
				DefaultNote("the file's name without its ending"),
			schema.TextKey("description", "What the scenario is for, shown in reports.",
				func(s *scenarios.Scenario) *string { return &s.Description }),
			later("vars", "Variables, used as ${name} in values anywhere in the file.", schema.AnyMap()),
			later("server", "How to launch the server, shared by all variants.", schema.BlockOf(server)),
			later("variants", "Ways to launch the server, each with the shared keys overridden key by key.",
				schema.ListOf(schema.BlockOf(variant))).DefaultNote(`one variant "default" made of server:`),
			later("load", "What traffic to send.", schema.BlockOf(load)),
			schema.EnumKey("method", "How a load point is measured. serving: one pass of the load client per step. "+
				"sqzb: two passes with the same token ids, each on its own server, the second with answers of one "+
				"token. cold-start: starts of the server, timed, with caches cold or warm. "+engines.AboutMeasuring(),
				scenarios.Methods(),
				func(s *scenarios.Scenario) *scenarios.Method { return &s.Method }).Or(string(scenarios.Serving)),
			methodField(scenarios.ColdStart, "In which states of the caches method cold-start starts the server.",
				ColdStart(), func(s *scenarios.Scenario) *scenarios.ColdStartRun { return &s.ColdStart }),
			schema.EnumKey("order", "interleaved: variants take turns, so that drift does not look like a "+
				"difference. grouped: all repeats of one variant, then the next variant. shuffled: within each "+
				"repeat, variants run in a random order drawn from seed.",
				[]scenarios.Order{scenarios.Interleaved, scenarios.Grouped, scenarios.Shuffled},
				func(s *scenarios.Scenario) *scenarios.Order { return &s.Order }).Or(string(scenarios.Interleaved)),
			schema.WholeKey("seed", "Seed of order: shuffled.", schema.NotNegative(),
				func(s *scenarios.Scenario) *uint64 { return &s.Seed }).Or("0"),
			schema.EnumKey("restart", "When the server is restarted. never: consecutive steps of a variant share "+
				"one server start. variant: one start per variant and repeat. point: one start per load point. "+
				"step: one start per step.",
				[]scenarios.Restart{
					scenarios.RestartNever, scenarios.RestartVariant, scenarios.RestartPoint,
					scenarios.RestartStep,
				},
				func(s *scenarios.Scenario) *scenarios.Restart { return &s.Restart }).
				Or(string(scenarios.RestartVariant)),
			schema.EnumKey("on-failure", "After a failed step: continue with the next step, skip the rest of its "+
				"variant, or stop the run.",
				[]scenarios.OnFailure{scenarios.Continue, scenarios.SkipVariant, scenarios.StopRun},
				func(s *scenarios.Scenario) *scenarios.OnFailure { return &s.OnFailure }).
				Or(string(scenarios.Continue)),
		}, slices.Concat(programFields(), nextFields(), reportFields(),
			[]schema.Field[scenarios.Scenario]{priceField()},
			policyFields(),
			clusterFields())...),
	}
}

// Deadlines are the keys of deadlines:.
func Deadlines() schema.Block[scenarios.Scenario] {
	return schema.Block[scenarios.Scenario]{
		Name:    "under deadlines:",
		Doc:     "A step or run that exceeds its deadline is stopped and recorded as failed.",
		Example: "\nstep: 30m\nrun: 12h\n",
		Fields: []schema.Field[scenarios.Scenario]{
			schema.DurationKey("step", "Limit of one step on a running server (method sqzb: of both passes "+
				"together); server starts are limited by ready.timeout. 0: six hours or ten times the estimate, "+
				"whichever is longer.",
				func(s *scenarios.Scenario) *time.Duration { return &s.StepDeadline }).Or("0"),
			schema.DurationKey("run", "Limit of the whole run; 0: none.",
				func(s *scenarios.Scenario) *time.Duration { return &s.RunDeadline }).Or("0"),
		},
	}
}

func readSchema(r *schema.Reader, n *schema.Node, _ *scenarios.Scenario) {
	if n.Kind != schema.Number || n.Text != "1" {
		r.Fail(n.Pos, "schema is %s, this bench reads schema 1", n.Shown())
	}
}

// clusterFields are the top-level keys that say on which machines a run runs.
func clusterFields() []schema.Field[scenarios.Scenario] {
	return []schema.Field[scenarios.Scenario]{
		schema.EnumKey("on", "Where servers run: on this machine (here) or on the nodes of a Slurm cluster (slurm; "+
			"see the key slurm:).", []scenarios.Where{scenarios.Here, scenarios.OnSlurm},
			func(s *scenarios.Scenario) *scenarios.Where { return &s.On }).Or(string(scenarios.Here)),
		slurmField(),
		clientField(),
	}
}

// All are the tables whose keys a misplaced key may have been meant for.
func All() []*schema.BlockInfo {
	all := []*schema.BlockInfo{
		File().Info(), Server().Info(), Ready().Info(), Stop().Info(), Load().Info(),
		Dataset().Info(), Timeouts().Info(), Goodput().Info(), Deadlines().Info(),
		Disk().Info(), Telemetry().Info(), Smoke().Info(), ColdStart().Info(),
		Simulate().Info(),
		Slurm().Info(), Client().Info(),
		Until().Info(), Search().Info(), Prune().Info(), Tune().Info(), Blame().Info(), Bisect().Info(),
		Price().Info(),
	}
	for _, program := range engines.MeasuringPrograms() {
		all = append(all, Program(program).Info())
	}
	return all
}
