package show

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/scenarios"
)

// Options say how a plan is printed.
type Options struct {
	Full  bool // every server start and step in its order; else the repeats of a variant once
	Width int  // columns of the terminal, within which lines are wrapped; 0: no limit
}

// Plan prints what a plan will do.
func Plan(out io.Writer, sc *scenarios.Scenario, p *plan.Plan, o Options) {
	w := &printer{Wrapper: text.Wrapper{W: out, Width: func() int { return o.Width }}, width: o.Width}
	programs := "server start"
	if sc.RunsProgram() {
		programs = "run of " + string(sc.Method)
	}

	steps, launches := p.Most()
	fmt.Fprintf(w, "%s: %s%s in %s, %sabout %s%s\n", sc.Name, upTo(p), text.Count(steps, "step"),
		starts(launches, programs), upTo(p), text.Lasting(p.EstimateS), atLeast(p))
	fmt.Fprintf(w, "  (assuming %s)\n", p.Assumes)
	if o.Full {
		fmt.Fprintf(w, "  (%s)\n", plan.HygieneNote())
		if sc.StepDeadline == 0 {
			fmt.Fprintf(w, "  (%s)\n", plan.LimitNote())
		}
	}

	for _, problem := range p.Problems {
		fmt.Fprintf(w, "problem on this machine: %s\n", problem)
	}

	for _, agent := range plan.Agents(sc) {
		fmt.Fprintf(w, "load agent: %s\n", agent)
	}
	if p.Client != "" {
		fmt.Fprintf(w, "threads of the load client: %s\n", p.Client)
	}
	around(w, p.Around)
	for i, f := range sc.Blame.Factors {
		for _, s := range f.Settings {
			fmt.Fprintf(w, "%s: %s is %s in %s, %s in %s\n", scenarios.FactorLetter(i), s.Path,
				cmp.Or(s.From, "not set"), sc.Blame.From, cmp.Or(s.To, "not set"), sc.Blame.To)
		}
	}

	if o.Full {
		for _, life := range p.Lives {
			if !unneeded(life) {
				fullStart(w, sc, life)
			}
		}
		return
	}

	printed := map[string]string{} // by load points: the variant that they were printed for
	for _, v := range byVariant(p.Lives) {
		v.print(w, sc, programs, printed)
	}
}

func starts(n int, programs string) string {
	if n != 1 && strings.HasPrefix(programs, "run ") {
		return fmt.Sprintf("%d runs%s", n, strings.TrimPrefix(programs, "run"))
	}
	return text.Count(n, programs)
}

// upTo precedes the total of a plan if every step is needed.
func upTo(p *plan.Plan) string {
	if p.LeastSteps == len(p.Refs()) {
		return ""
	}
	return "up to "
}

// atLeast is what a plan comes to without the steps that are decided on later.
func atLeast(p *plan.Plan) string {
	if p.LeastSteps == len(p.Refs()) {
		return ""
	}
	return fmt.Sprintf("; at least %s, about %s", text.Count(p.LeastSteps, "step"), text.Lasting(p.LeastS))
}

// fullStart is one server start and its steps.
func fullStart(w *printer, sc *scenarios.Scenario, life plan.Life) {
	fmt.Fprintf(w, "\n%s\n", life.ID)
	commands(w, life)
	smoke(w, sc, life.Variant)
	for _, step := range life.Steps {
		fmt.Fprintf(w, "    %-32s %s\n", step.ID, describeStep(sc, step, true))
	}

	if second := life.SecondPass; second != nil {
		fmt.Fprintf(w, "\n%s\n", second.ID)
		commands(w, *second)
		fmt.Fprintf(w, "    %-32s %s\n", life.Steps[0].ID, "second pass: the same prompts, answers of one token")
	}
}

func commands(w *printer, life plan.Life) {
	for _, server := range life.Servers {
		for _, program := range server.Beside {
			w.command(fmt.Sprintf("%s   # %s", program.CommandLine(), program.Note()))
		}
		w.command(plan.CommandLine(server) + componentNote(server) + gpuNote(server.GPUs) +
			placeNote(server) + nodesNote(server.Nodes))
	}
}

// printer writes lines wrapped.
type printer struct {
	text.Wrapper

	width int
}

// command prints a command line; where it is wrapped, a shell still takes it.
func (p *printer) command(line string) {
	fmt.Fprintln(p.W, text.WrapCommand("  "+line, p.width))
}

// smoke is the request that must succeed on a server of a variant before
// anything is measured; nothing where there is none.
func smoke(w io.Writer, sc *scenarios.Scenario, variant string) {
	for _, v := range sc.Variants {
		if v.Name != variant || v.Server.Smoke.Path == "" {
			continue
		}
		body, err := json.Marshal(v.Server.Smoke.Body)
		if err != nil {
			body = []byte("a body that is not JSON")
		}
		fmt.Fprintf(w, "  smoke: POST %s %s\n", v.Server.Smoke.Path, recipe.Redactor(sc.Secrets)(string(body)))
	}
}

// around shows everything that is run beside the servers: a scenario is data
// from somebody else.
func around(w io.Writer, hooks []plan.PlannedHook) {
	place := func(h plan.PlannedHook) string {
		switch {
		case h.Level == "variant" && h.Variant != "":
			return "around every server start of " + h.Variant
		case h.Level == "variant":
			return "around every server start"
		}
		return map[string]string{
			"run": "around the run", "step": "around every step",
			"evaluation": "after the first load point of every variant and repeat",
		}[h.Level]
	}

	var places []string
	lines := map[string][]string{}
	for _, h := range hooks {
		at := place(h)
		if lines[at] == nil {
			places = append(places, at)
		}
		lines[at] = append(lines[at], h.String())
	}

	for _, at := range places {
		fmt.Fprintf(w, "\n%s\n%s", at, text.Indent(lines[at]))
	}
}

// Dropped lists the variables of this environment that servers do not inherit,
// by variant.
func Dropped(w io.Writer, dropped map[string][]string) {
	if len(dropped) == 0 {
		return
	}

	fmt.Fprintln(w, "\nset here, and not inherited by servers unless the scenario sets it:")
	variants := map[string][]string{} // by what they drop
	for _, variant := range slices.Sorted(maps.Keys(dropped)) {
		names := strings.Join(dropped[variant], " ")
		variants[names] = append(variants[names], variant)
	}
	for _, names := range slices.Sorted(maps.Keys(variants)) {
		fmt.Fprintf(w, "  %s (%s)\n", names, strings.Join(variants[names], ", "))
	}
}

// Explain lists the defaults that were applied and the variables that were read.
func Explain(w io.Writer, sc *scenarios.Scenario) {
	fmt.Fprintln(w, "\ndefaults applied:")
	for _, d := range sc.Defaults {
		fmt.Fprintf(w, "  %-40s %s\n", d.Path, d.Value)
	}

	if len(sc.EnvUsed) > 0 {
		fmt.Fprintln(w, "\nenvironment read:")
	}
	for _, use := range sc.EnvUsed {
		fmt.Fprintf(w, "  %-40s %s\n", use.Name, use.Value)
	}
}

func nodesNote(nodes []string) string {
	if len(nodes) == 0 {
		return ""
	}
	return fmt.Sprintf("   # on node %s, over %d", nodes[0], len(nodes))
}

// placeNote says on which CPUs a server runs.
func placeNote(s plan.PlannedServer) string {
	note := ""
	if s.CPUs != "" {
		note += "   # CPUs " + s.CPUs
	}
	if s.NUMANode != nil {
		note += fmt.Sprintf("   # memory of NUMA node %d", *s.NUMANode)
	}
	if s.Nice != 0 {
		note += fmt.Sprintf("   # nice %d", s.Nice)
	}
	return note
}

func componentNote(s plan.PlannedServer) string {
	switch {
	case s.Component == "":
		return ""
	case s.Node != "":
		return "   # " + s.Component + " on node " + s.Node
	}
	return "   # " + s.Component
}

func gpuNote(gpus []int) string {
	if gpus == nil {
		return ""
	}
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(gpus), " ", ","), "[]")
	if len(gpus) == 1 {
		return "   # GPU " + list
	}
	return "   # GPUs " + list
}
