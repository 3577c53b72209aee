package scenarios

import (
	"regexp"
	"slices"
	"strings"
)

// reportFields are the top-level keys that say how a run is to be read.
func reportFields() []field[Scenario] {
	return []field[Scenario]{
		textKey("baseline", "Variant that the others are compared to.", func(s *Scenario) *string { return &s.Baseline }).elseNote("the first"),
		freeKey("smallest-difference", "Smaller differences do not matter: a comparison may say that there is none of this size.",
			simple(percentShape), readSmallestDifference).elseNote("that of the report"),
		blockKey("simulate", "How --sim plays the engines.", simulateBlock(), func(s *Scenario) *Simulation { return &s.Simulation }),
		freeKey("tables", "Tables that the report shows beside the usual one.", listOf(enumOf(TableNames()...)), readTables).elseNote("none"),
	}
}

var percentText = regexp.MustCompile(`^([0-9]{1,2}(?:\.[0-9]+)?) ?%$`)

func readSmallestDifference(r *reader, n *node, s *Scenario) {
	s.SmallestDifference, _ = r.percent(n)
}

func readTables(r *reader, n *node, s *Scenario) {
	known := enumOf(TableNames()...)
	if n.kind != list {
		r.wrong(n, listOf(known))
		return
	}
	for _, it := range n.items {
		name, ok := r.enum(it, known)
		if ok && slices.Contains(s.Tables, name) {
			r.fail(it.pos, "tables lists %s twice", name)
		}
		if ok {
			s.Tables = append(s.Tables, name)
		}
	}
}

func smokeBlock() block[Smoke] {
	return block[Smoke]{
		name: "under smoke:", doc: "A request that must succeed on every server that has become ready, before anything is measured on it. Its answer is kept. " +
			"Given in a variant, it replaces that of server: as a whole.",
		example: "\npath: /v1/chat/completions\nbody: {messages: [{role: user, content: \"Hello!\"}], max_tokens: 100}\n",
		fields: []field[Smoke]{
			freeKey("path", "Of the request.", simple(textShape), func(r *reader, n *node, s *Smoke) {
				path, ok := r.text(n)
				if ok && !strings.HasPrefix(path, "/") {
					r.fail(n.pos, "path is %s, expected one such as /v1/chat/completions", n.shown())
				}
				s.Path = path
			}).or("/v1/chat/completions"),
			freeKey("body", "Sent as JSON, as it stands: no model is added.", mapOf(simple(anyShape)), func(r *reader, n *node, s *Smoke) {
				if n.kind != mapping {
					r.wrong(n, mapOf(simple(anyShape)))
					return
				}
				s.Body = n.value().(map[string]any)
			}).must(),
		},
	}
}

// smokeField is read where it is given only: without it there is no request.
func smokeField() field[Server] {
	return freeKey("smoke", "A request that must succeed before anything is measured.", blockOf(smokeBlock().info()),
		func(r *reader, n *node, s *Server) { decode(r, smokeBlock(), n, &s.Smoke) })
}

func llamaBenchBlock() block[LlamaBenchRun] {
	return block[LlamaBenchRun]{
		name: "under llama-bench:", doc: "The program runs once a variant and repeat, with the variant's env, and there is no load:. args of server: and of a variant " +
			"are those of the program too, and lie over the ones given here.",
		example: "\nmodels: [models/llama-2-7b.Q4_K_M.gguf, models/llama-2-7b.Q8_0.gguf]\nargs: {n-prompt: [512], n-gen: [128], flash-attn: [0, 1], n-gpu-layers: 99}\nrepetitions: 5\n",
		fields: []field[LlamaBenchRun]{
			freeKey("binary", "Program, or a list of program and leading arguments. With a slash it is relative to the scenario file.",
				oneOf(simple(textShape), listOf(simple(textShape))), func(r *reader, n *node, l *LlamaBenchRun) { l.Binary = r.program(n) }).or("llama-bench"),
			freeKey("models", "Model files, relative to the scenario file.", listOf(simple(textShape)), func(r *reader, n *node, l *LlamaBenchRun) {
				words, ok := r.texts(n)
				if ok && len(words) == 0 {
					r.fail(n.pos, "models is an empty list")
				}
				l.Models = words
			}).elseNote("the variant's model"),
			freeKey("args", "Options by their long names. A list of values is swept by the program itself.", mapOf(simple(anyShape)),
				func(r *reader, n *node, l *LlamaBenchRun) { l.Args = r.args(n) }),
			wholeKey("repetitions", "Of each test.", between(1, 10_000), func(l *LlamaBenchRun) *int { return &l.Repetitions }).or("5"),
		},
	}
}

// llamaBenchField is read where the method asks for it: its defaults are of no
// meaning elsewhere.
func llamaBenchField() field[Scenario] {
	f := freeKey("llama-bench", "How method llama-bench runs its program.", blockOf(llamaBenchBlock().info()),
		func(r *reader, n *node, s *Scenario) {
			switch {
			case s.Method == LlamaBench:
				decode(r, llamaBenchBlock(), n, &s.LlamaBench)
			case len(n.pairs) > 0 || n.kind != mapping:
				r.fail(n.pos, "llama-bench does not go here: this is for method llama-bench")
			}
		})
	f.always = true
	return f
}
