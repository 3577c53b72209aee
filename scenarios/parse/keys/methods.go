package keys

import (
	"strings"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// reportFields are the top-level keys that say how a run is to be read.
func reportFields() []schema.Field[scenarios.Scenario] {
	return []schema.Field[scenarios.Scenario]{
		schema.TextKey("baseline", "Variant with which the others are compared.",
			func(s *scenarios.Scenario) *string { return &s.Baseline }).DefaultNote("the first"),
		schema.PercentKey("smallest-difference", "Smallest difference of interest: the verdict \"no difference\" "+
			"means none of this size.",
			func(s *scenarios.Scenario) *float64 { return &s.SmallestDifference }).DefaultNote("that of the report"),
		schema.BlockKey("simulate", "How --sim simulates the engines.", Simulate(),
			func(s *scenarios.Scenario) *scenarios.Simulation { return &s.Simulation }),
		schema.EnumsKey("tables", "Tables that the report shows in addition to the usual one.",
			scenarios.TableNames(), false, func(s *scenarios.Scenario) *[]string { return &s.Tables },
		).DefaultNote("none"),
	}
}

// Smoke are the keys of smoke:.
func Smoke() schema.Block[scenarios.Smoke] {
	return schema.Block[scenarios.Smoke]{
		Name: "under smoke:", Doc: "A request that every server must answer successfully once it is ready, before " +
			"anything is measured on it. The answer is recorded. In a variant it replaces the whole smoke: of server:.",
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
			schema.ReadKey("body", "Body of the request, sent as JSON without changes: no model is added.",
				schema.AnyMap(), readObject, func(s *scenarios.Smoke) *map[string]any { return &s.Body }).Must(),
		},
	}
}

// smokeField is the key smoke:; without it there is no request.
func smokeField() schema.Field[scenarios.Server] {
	return schema.GivenBlockKey("smoke", "A request that must succeed before anything is measured.", Smoke(),
		func(s *scenarios.Server) *scenarios.Smoke { return &s.Smoke })
}

// Program are the keys of the block of a program's method.
func Program(of engines.Measuring) schema.Block[scenarios.ProgramRun] {
	own := schema.ReadKey("binary", "Program, or a list of program and leading arguments. A path with a slash is "+
		"relative to the scenario file.",
		schema.TextOrTexts(), readProgram, func(l *scenarios.ProgramRun) *[]string { return &l.Binary })
	otherwise := of.Run[0]
	if of.Words != nil {
		otherwise = "the variant's, else " + otherwise
	}

	fields := []schema.Field[scenarios.ProgramRun]{own.DefaultNote(otherwise)}
	if of.Several {
		fields = append(fields, schema.ReadKey("models", "Model files, relative to the scenario file.",
			schema.Texts(), readTexts, func(l *scenarios.ProgramRun) *[]string { return &l.Models }).
			DefaultNote("the variant's model"))
	}
	fields = append(fields, schema.ReadKey("args", "Options by their long names. The program itself runs each value "+
		"of a list.", schema.AnyMap(), readArgs, func(l *scenarios.ProgramRun) *[]scenarios.Arg { return &l.Args }))
	if of.Several {
		fields = append(fields, schema.WholeKey("repetitions", "Repetitions of each test.", schema.Between(1, 10_000),
			func(l *scenarios.ProgramRun) *int { return &l.Repetitions }).Or("5"))
	}

	return schema.Block[scenarios.ProgramRun]{
		Name: "under " + of.Name + ":", Doc: "The program runs once per variant and repeat, with the variant's env; " +
			"load: is not used. It also gets the args of server: and of the variant, which override those given here.",
		Example: "\n" + of.Example,
		Fields:  fields,
	}
}

// programFields are the blocks of all programs.
func programFields() []schema.Field[scenarios.Scenario] {
	var fields []schema.Field[scenarios.Scenario]
	for _, program := range engines.MeasuringPrograms() {
		fields = append(fields, methodField(scenarios.Method(program.Name), "How method "+program.Name+
			" runs its program.", Program(program),
			func(s *scenarios.Scenario) *scenarios.ProgramRun { return &s.Program }))
	}
	return fields
}

// methodField is the block of a method, read where the scenario has that method: its
// defaults are of no meaning elsewhere.
func methodField[T any](method scenarios.Method, doc string, block schema.Block[T],
	into func(*scenarios.Scenario) *T,
) schema.Field[scenarios.Scenario] {
	f := schema.FreeKey(string(method), doc, schema.BlockOf(block.Info()),
		func(r *schema.Reader, n *schema.Node, s *scenarios.Scenario) {
			switch {
			case s.Method == method:
				schema.Decode(r, block, n, into(s))
			case len(n.Pairs) > 0 || n.Kind != schema.Mapping:
				r.Fail(n.Pos, "%s is not allowed here: this is for method %s", method, method)
			}
		})
	f.Always = true
	return f
}

// ColdStart are the keys of cold-start:.
func ColdStart() schema.Block[scenarios.ColdStartRun] {
	return schema.Block[scenarios.ColdStartRun]{
		Name: "under cold-start:", Doc: "The states in which the server finds the caches when it starts. Each " +
			"combination is a load point, and load: is not used. A cache that is not listed stays as it is.",
		Example: "\npage-cache: [cold, warm]\ncompile-cache: [cold, warm]\n",
		Fields: []schema.Field[scenarios.ColdStartRun]{
			statesKey("page-cache", "The kernel's page cache of the model's files. cold: they are evicted before each "+
				"start. warm: they are read before it.",
				func(c *scenarios.ColdStartRun) *[]string { return &c.Page }).DefaultNote("cold if no cache is listed"),
			statesKey("compile-cache", "The engine's cache of compiled code, in a folder of bench's own. cold: a new "+
				"folder for each start. warm: one that a start of the same variant has filled.",
				func(c *scenarios.ColdStartRun) *[]string { return &c.Compile }),
			statesKey("hub-cache", "The cache of downloaded models, in a folder of bench's own. cold: each start "+
				"downloads the model. warm: the first start does.",
				func(c *scenarios.ColdStartRun) *[]string { return &c.Hub }),
		},
	}
}

// statesKey is a state of a cache, or a list of states.
func statesKey(name, doc string, into func(*scenarios.ColdStartRun) *[]string) schema.Field[scenarios.ColdStartRun] {
	return schema.EnumsKey(name, doc, []string{scenarios.StartCold, scenarios.StartWarm}, true, into)
}
