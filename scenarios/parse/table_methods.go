package parse

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/parse/keys"
	"github.com/benchrig/bench/scenarios/schema"
)

// reportFields are the top-level keys that say how a run is to be read.
func reportFields() []schema.Field[scenarios.Scenario] {
	return []schema.Field[scenarios.Scenario]{
		schema.TextKey("baseline", "Variant with which the others are compared.",
			func(s *scenarios.Scenario) *string { return &s.Baseline }).DefaultNote("the first"),
		schema.FreeKey("smallest-difference", "Smallest difference of interest: the verdict \"no difference\" "+
			"means none of this size.",
			schema.Simple(schema.PercentShape), readSmallestDifference).DefaultNote("that of the report"),
		schema.BlockKey("simulate", "How --sim simulates the engines.", keys.Simulate(),
			func(s *scenarios.Scenario) *scenarios.Simulation { return &s.Simulation }),
		schema.FreeKey("tables", "Tables that the report shows in addition to the usual one.",
			schema.ListOf(schema.EnumOf(scenarios.TableNames()...)), readTables).DefaultNote("none"),
	}
}

func readSmallestDifference(r *schema.Reader, n *schema.Node, s *scenarios.Scenario) {
	s.SmallestDifference, _ = r.Percent(n)
}

func readTables(r *schema.Reader, n *schema.Node, s *scenarios.Scenario) {
	known := schema.EnumOf(scenarios.TableNames()...)
	if n.Kind != schema.List {
		r.Wrong(n, schema.ListOf(known))
		return
	}
	for _, it := range n.Items {
		name, ok := r.Enum(it, known)
		if ok && slices.Contains(s.Tables, name) {
			r.Fail(it.Pos, "tables lists %s twice", name)
		}
		if ok {
			s.Tables = append(s.Tables, name)
		}
	}
}

func smokeBlock() schema.Block[scenarios.Smoke] {
	return schema.Block[scenarios.Smoke]{
		Name: "under smoke:", Doc: "A request that every server must answer successfully once it is ready, before " +
			"anything is measured on it. The answer is recorded. In a variant it replaces the whole smoke: of " +
			"server:.",
		Example: "\npath: /v1/chat/completions\nbody: {messages: [{role: user, content: \"Hello!\"}], max_tokens: " +
			"100}\n",
		Fields: []schema.Field[scenarios.Smoke]{
			schema.FreeKey("path", "Path of the request.", schema.Simple(schema.TextShape),
				func(r *schema.Reader, n *schema.Node, s *scenarios.Smoke) {
					path, ok := r.Text(n)
					if ok && !strings.HasPrefix(path, "/") {
						r.Fail(n.Pos, "path is %s, expected one such as /v1/chat/completions", n.Shown())
					}
					s.Path = path
				}).Or("/v1/chat/completions"),
			schema.FreeKey("body", "Body of the request, sent as JSON without changes: no model is added.",
				schema.MapOf(schema.Simple(schema.AnyShape)), func(r *schema.Reader, n *schema.Node,
					s *scenarios.Smoke,
				) {
					if n.Kind != schema.Mapping {
						r.Wrong(n, schema.MapOf(schema.Simple(schema.AnyShape)))
						return
					}
					s.Body = n.Value().(map[string]any)
				}).Must(),
		},
	}
}

// smokeField is the key smoke:; without it there is no request.
func smokeField() schema.Field[scenarios.Server] {
	return schema.GivenBlockKey("smoke", "A request that must succeed before anything is measured.", smokeBlock(),
		func(s *scenarios.Server) *scenarios.Smoke { return &s.Smoke })
}

func llamaBenchBlock() schema.Block[scenarios.LlamaBenchRun] {
	return schema.Block[scenarios.LlamaBenchRun]{
		Name: "under llama-bench:", Doc: "The program runs once per variant and repeat, with the variant's env; " +
			"there is no load:. It also gets the args of server: and of the variant, which override those given " +
			"here.",
		Example: "\nmodels: [models/llama-2-7b.Q4_K_M.gguf, models/llama-2-7b.Q8_0.gguf]\nargs: {n-prompt: [512], " +
			"n-gen: [128], flash-attn: [0, 1], n-gpu-layers: 99}\nrepetitions: 5\n",
		Fields: []schema.Field[scenarios.LlamaBenchRun]{
			schema.FreeKey("binary", "Program, or a list of program and leading arguments. A path with a slash is "+
				"relative to the scenario file.",
				schema.OneOf(schema.Simple(schema.TextShape), schema.ListOf(schema.Simple(schema.TextShape))),
				func(r *schema.Reader, n *schema.Node, l *scenarios.LlamaBenchRun) { l.Binary = readProgram(r, n) }).
				Or("llama-bench"),
			schema.FreeKey("models", "Model files, relative to the scenario file.",
				schema.ListOf(schema.Simple(schema.TextShape)), func(r *schema.Reader, n *schema.Node,
					l *scenarios.LlamaBenchRun,
				) {
					words, ok := r.Texts(n)
					if ok && len(words) == 0 {
						r.Fail(n.Pos, "models is an empty list")
					}
					l.Models = words
				}).DefaultNote("the variant's model"),
			schema.FreeKey("args", "Options by their long names. The program itself runs each value of a list.",
				schema.MapOf(schema.Simple(schema.AnyShape)),
				func(r *schema.Reader, n *schema.Node, l *scenarios.LlamaBenchRun) { l.Args = readArgList(r, n) }),
			schema.WholeKey("repetitions", "Repetitions of each test.", schema.Between(1, 10_000),
				func(l *scenarios.LlamaBenchRun) *int { return &l.Repetitions }).Or("5"),
		},
	}
}

// llamaBenchField is read where the method asks for it: its defaults are of no
// meaning elsewhere.
func llamaBenchField() schema.Field[scenarios.Scenario] {
	f := schema.FreeKey("llama-bench", "How method llama-bench runs its program.",
		schema.BlockOf(llamaBenchBlock().Info()),
		func(r *schema.Reader, n *schema.Node, s *scenarios.Scenario) {
			switch {
			case s.Method == scenarios.LlamaBench:
				schema.Decode(r, llamaBenchBlock(), n, &s.LlamaBench)
			case len(n.Pairs) > 0 || n.Kind != schema.Mapping:
				r.Fail(n.Pos, "llama-bench is not allowed here: this is for method llama-bench")
			}
		})
	f.Always = true
	return f
}
