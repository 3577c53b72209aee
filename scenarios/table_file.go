package scenarios

import (
	"slices"
	"time"
)

// maxCount bounds whole numbers that say how often or how many.
const maxCount = 1_000_000_000

// fileBlock is the table of a scenario file's top level. vars, server,
// variants and load are read by stages of their own.
func fileBlock() block[Scenario] {
	later := func(*reader, *node, *Scenario) {}
	server, variant, load := serverBlock().info(), variantBlock().info(), loadBlock().info()
	return block[Scenario]{
		name: "at the top level",
		doc:  "A scenario file is one YAML mapping: server variants x load sweep x repeats, with policies.",
		example: `
schema: 1
name: two-layouts
repeats: 3
order: interleaved
restart: variant
on-failure: continue
retries: {server-exited: 2, other: 0}
deadlines: {step: 30m, run: 12h}
`,
		fields: append([]field[Scenario]{
			freeKey("schema", "Version of this format.", wholeIn(between(1, 1)), readSchema).must(),
			textKey("name", "Names the results folder. Letters, digits and . _ + = -", func(s *Scenario) *string { return &s.Name }).
				elseNote("the file's name without its ending"),
			textKey("description", "What the scenario is for, shown in reports.", func(s *Scenario) *string { return &s.Description }),
			freeKey("vars", "Names for use as ${name} in values anywhere in the file.", mapOf(simple(anyShape)), later),
			freeKey("server", "How to launch the server, shared by all variants.", blockOf(server), later),
			freeKey("variants", "Ways to launch the server, each with the shared keys overridden key by key.",
				listOf(blockOf(variant)), later).elseNote(`one variant "default" made of server:`),
			freeKey("load", "What traffic to send.", blockOf(load), later),
			enumKey("method", "How points become figures. serving: one pass of the load client a step. sqzb: two passes with the same token ids, "+
				"each on a server of its own, the second with answers of one token. llama-bench: llama.cpp's own program in place of server and client.",
				[]Method{Serving, SQZB, LlamaBench}, func(s *Scenario) *Method { return &s.Method }).or(string(Serving)),
			llamaBenchField(),
			enumKey("order", "interleaved: variants take turns, so that drift does not look like a difference. "+
				"grouped: all repeats of a variant, then the next. shuffled: the variants of each repeat in an order drawn by seed.",
				[]Order{Interleaved, Grouped, Shuffled}, func(s *Scenario) *Order { return &s.Order }).or(string(Interleaved)),
			wholeKey("seed", "Of a shuffled order.", notNegative(), func(s *Scenario) *uint64 { return &s.Seed }).or("0"),
			enumKey("restart", "When a server is started anew: never (one life for steps of a variant that follow each other), "+
				"variant (one life a variant and repeat), point, step.",
				[]Restart{RestartNever, RestartVariant, RestartPoint, RestartStep},
				func(s *Scenario) *Restart { return &s.Restart }).or(string(RestartVariant)),
			enumKey("on-failure", "After a failed step: go on with everything, skip the rest of its variant, or stop the run.",
				[]OnFailure{Continue, SkipVariant, StopRun}, func(s *Scenario) *OnFailure { return &s.OnFailure }).or(string(Continue)),
		}, slices.Concat(nextFields(), reportFields(), []field[Scenario]{priceField()}, policyFields(), clusterFields())...),
	}
}

func deadlinesBlock() block[Scenario] {
	return block[Scenario]{
		name:    "under deadlines:",
		doc:     "What takes longer is ended and recorded as failed.",
		example: "\nstep: 30m\nrun: 12h\n",
		fields: []field[Scenario]{
			durationKey("step", "Of one step, its server start included.", func(s *Scenario) *time.Duration { return &s.StepDeadline }).or("0"),
			durationKey("run", "Of the whole run.", func(s *Scenario) *time.Duration { return &s.RunDeadline }).or("0"),
		},
	}
}

func readSchema(r *reader, n *node, _ *Scenario) {
	if n.kind != number || n.text != "1" {
		r.fail(n.pos, "schema is %s, this bench reads schema 1", n.shown())
	}
}
