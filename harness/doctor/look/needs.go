package look

import (
	"context"
	"slices"
	"strings"

	"github.com/benchrig/bench/harness/doctor"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// needs looks at what a scenario asks of the machine.
func (l *Look) needs(ctx context.Context, sc *scenarios.Scenario, v doctor.View) []doctor.Need {
	l.hooks.Dir, l.hooks.Redact = sc.Dir, recipe.Redactor(sc.Secrets)
	var out []doctor.Need
	for _, problem := range sc.Problems() {
		out = append(out, doctor.Need{What: problem.Error(), Advice: "put it there, or change the scenario"})
	}

	if len(sc.Blockers()) == 0 { // else their problems are in the list already
		out = append(out, datasets(ctx, sc))
	}

	out = append(out, l.variants(sc, v)...)
	out = append(out, l.hookPrograms(sc)...)
	for _, check := range sc.Checks {
		record := l.hooks.Check(ctx, check)
		out = append(out, doctor.Need{
			What: "check " + record.Name, OK: record.OK, Only: !check.Refuse,
			Text: record.Message,
		})
	}

	return out
}

// datasets reads the datasets of a scenario.
func datasets(ctx context.Context, sc *scenarios.Scenario) doctor.Need {
	short, err := step.CheckDatasets(ctx, sc)
	switch {
	case err != nil:
		return doctor.Need{What: "datasets", Text: err.Error()}
	case len(short) > 0:
		return doctor.Need{What: "datasets", Text: strings.Join(short, "\n"), Only: true}
	}
	return doctor.Need{What: "datasets can be read", OK: true}
}

// variants asks of every variant for its program and its GPUs.
func (l *Look) variants(sc *scenarios.Scenario, v doctor.View) []doctor.Need {
	machine := l.Process.MachineOf(v.GPUs, l.Process.Self)
	plan, err := plan.New(sc, machine)
	if err != nil {
		return []doctor.Need{{What: "plan", Text: err.Error()}}
	}

	var out []doctor.Need
	for _, problem := range plan.Problems {
		if !slices.ContainsFunc(sc.Problems(), func(e *schema.Error) bool { return e.Error() == problem }) {
			out = append(out, doctor.Need{What: problem, Advice: "bench plan --box VENDOR:GPUS plans for another " +
				"machine"})
		}
	}

	return append(out, l.programs(sc, plan, v)...)
}

// programs asks of every variant for its program: one need for those of which
// the same is found.
func (l *Look) programs(sc *scenarios.Scenario, p *plan.Plan, v doctor.View) []doctor.Need {
	var found []doctor.Need
	var variants [][]string // of each need
	seen := map[string]bool{}
	for _, life := range p.Lives {
		if seen[life.Variant] {
			continue
		}
		seen[life.Variant] = true
		need := l.variant(sc, life, v)
		at := slices.Index(found, need)
		if at < 0 {
			at, found, variants = len(found), append(found, need), append(variants, nil)
		}
		variants[at] = append(variants[at], life.Variant)
	}

	for i, names := range variants {
		found[i].What = "variant " + text.Few(names)
		if len(names) > 1 {
			found[i].What = "variants " + text.Few(names)
		}
	}

	return found
}

func (l *Look) variant(sc *scenarios.Scenario, life plan.Life, v doctor.View) doctor.Need {
	var n doctor.Need
	variant, _ := sc.Variant(life.Variant)
	if len(life.Servers) == 0 || len(life.Servers[0].Argv) == 0 {
		n.OK, n.Text = true, "a server that is running already"
		return n
	}

	var paths []string
	for _, server := range life.Servers {
		recipe := variant.ServerOf(server.Component)
		if container.Options(recipe.Container).Contained() {
			if n = containerNeed(n, recipe.Container, v); !n.OK {
				return n
			}
			paths = text.AppendNew(paths, n.Text)
			continue
		}
		path, err := process.LookPath(server.Argv[0], sc.Dir, l.Process.Environ)
		if err != nil {
			n.OK, n.Text, n.Advice = false, err.Error(), "install it, or name it in binary:"
			return n
		}
		paths = text.AppendNew(paths, path)
	}

	n.OK, n.Text = true, strings.Join(paths, ", ")
	if count := gpusOf(life); count > 0 {
		n.Text += ", " + text.Count(count, "GPU")
	}

	return n
}

func gpusOf(life plan.Life) int {
	count := 0
	for _, s := range life.Servers {
		count += len(s.GPUs)
	}
	return count
}

func containerNeed(n doctor.Need, c scenarios.Container, v doctor.View) doctor.Need {
	var whys []string
	for _, p := range v.Programs {
		if p.Kind != doctor.ContainerEngine || c.Engine != "" && c.Engine != p.Name {
			continue
		}
		if p.Trouble == "" {
			n.OK, n.Text = true, "image "+c.Image+" in "+p.Name
			return n
		}
		whys = append(whys, p.Name+": "+p.Trouble)
	}

	n.Text = "no container engine answers"
	if len(whys) > 0 {
		n.Text += ": " + strings.Join(whys, "; ")
	}

	n.Advice = "install docker or podman and start it"
	return n
}

// hookPrograms asks for the programs of hooks, undos and notifications. One
// that is missing fails in the middle of the night.
func (l *Look) hookPrograms(sc *scenarios.Scenario) []doctor.Need {
	levels := []scenarios.Hooks{sc.Hooks.Run, sc.Hooks.Variant, sc.Hooks.Step}
	for _, v := range sc.Variants {
		levels = append(levels, v.Hooks)
	}

	var out []doctor.Need
	seen := map[string]bool{}
	ask := func(what string, argv []string, only bool) {
		if len(argv) == 0 || seen[argv[0]] {
			return
		}
		seen[argv[0]] = true
		path, err := process.LookPath(argv[0], sc.Dir, l.Process.Environ)
		n := doctor.Need{What: what + " " + argv[0], OK: err == nil, Only: only, Text: path}
		if err != nil {
			n.Text, n.Advice = err.Error(), "install it"
		}
		out = append(out, n)
	}

	for _, level := range levels {
		for _, h := range slices.Concat(level.Before, level.After) {
			ask("hook program", h.Command, !h.Refuse)
			ask("undo program", h.Undo, false)
		}
	}

	ask("evaluation program", sc.Evaluation.Command, true)
	for _, n := range sc.Notify {
		ask("notification program", n.Command, true)
	}

	return out
}
