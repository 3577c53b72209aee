package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/scenarios"
)

// The levels of hooks.
const (
	LevelRun     = "run"
	LevelVariant = "variant"
	LevelStep    = "step"

	levelEvaluation = "evaluation" // of a plan: after the first load point of each variant and repeat
)

// PlannedHook is something that will be run around the measuring. Secrets in
// it are redacted.
type PlannedHook struct {
	Level     string   `json:"level"`             // "run", "variant", "step", "evaluation"
	When      string   `json:"when"`              // "check", "before", "after", "evaluate", "notify"
	Variant   string   `json:"variant,omitempty"` // whose own it is; "": of all
	Name      string   `json:"name"`
	Argv      []string `json:"argv,omitempty"`
	Call      string   `json:"call,omitempty"` // of HTTP: method and address
	Undo      []string `json:"undo,omitempty"`
	OnFailure string   `json:"on_failure,omitempty"` // "refuse", "warn"
	On        []string `json:"on,omitempty"`         // of a notification
}

// plannedHooks lists everything that a scenario runs beside its servers, in
// the order in which it is first met.
func plannedHooks(sc *scenarios.Scenario) []PlannedHook {
	hide := recipe.Redactor(sc.Secrets)
	out := []PlannedHook{}
	for _, c := range sc.Checks {
		out = append(out, PlannedHook{
			Level: LevelRun, When: "check", Name: hide(scenarios.CheckName(c)),
			Argv: recipe.HideEach(hide, c.Argv), OnFailure: onFailure(c.Refuse),
		})
	}

	add := func(level, when, variant string, list []scenarios.Hook) {
		for _, h := range list {
			out = append(out, planHook(hide, level, when, variant, h))
		}
	}

	add(LevelRun, "before", "", sc.Hooks.Run.Before)
	add(LevelVariant, "before", "", sc.Hooks.Variant.Before)
	for _, v := range sc.Variants {
		add(LevelVariant, "before", v.Name, v.Hooks.Before)
	}

	add(LevelStep, "before", "", sc.Hooks.Step.Before)
	if e := sc.Evaluation; e.Given() {
		out = append(out, PlannedHook{
			Level: levelEvaluation, When: "evaluate", Name: hide(e.Name), Argv: recipe.HideEach(hide, e.Command),
		})
	}
	add(LevelStep, "after", "", sc.Hooks.Step.After)
	for _, v := range sc.Variants {
		add(LevelVariant, "after", v.Name, v.Hooks.After)
	}

	add(LevelVariant, "after", "", sc.Hooks.Variant.After)
	add(LevelRun, "after", "", sc.Hooks.Run.After)
	for _, n := range sc.Notify {
		p := PlannedHook{Level: LevelRun, When: "notify", Name: "command", On: n.On}
		p.Argv = recipe.HideEach(hide, n.Command)
		if len(n.Command) == 0 {
			p.Name, p.Call = n.Format+" webhook", "POST "+hide(n.Webhook.Value)
		}
		out = append(out, p)
	}

	return out
}

func planHook(hide func(string) string, level, when, variant string, h scenarios.Hook) PlannedHook {
	p := PlannedHook{
		Level: level, When: when, Variant: variant, Name: hide(h.Name),
		Argv: recipe.HideEach(hide, h.Command), Undo: recipe.HideEach(hide, h.Undo),
	}
	if when == "before" {
		p.OnFailure = onFailure(h.Refuse)
	}
	if h.HTTP.URL != "" {
		p.Call = h.HTTP.Method + " " + hide(h.HTTP.URL)
	}
	if h.Check.Kind != "" {
		p.Argv = recipe.HideEach(hide, h.Check.Argv)
	}
	return p
}

func onFailure(refuse bool) string {
	if refuse {
		return "refuse"
	}
	return "warn"
}

// String is the hook as a plan shows it: what will be run, whole.
func (p PlannedHook) String() string {
	parts := []string{p.When}
	if len(p.On) > 0 {
		parts = append(parts, "on "+strings.Join(p.On, ", "))
	}

	what := p.Name
	if len(p.Argv) > 0 {
		what += ": " + commandLine(nil, p.Argv)
	}
	if p.Call != "" {
		what += ": " + p.Call
	}

	text := strings.Join(parts, " ") + " " + what
	if len(p.Undo) > 0 {
		text += "; undo: " + commandLine(nil, p.Undo)
	}
	if p.OnFailure == "warn" {
		text += " (a failure is a warning)"
	}

	return text
}

// DroppedEnv names the variables of environ that servers of the scenario will
// not inherit, by variant.
func DroppedEnv(sc *scenarios.Scenario, machine Machine, environ []string) map[string][]string {
	out := map[string][]string{}
	for _, v := range sc.Variants {
		recipes, _, err := Recipes(sc, v, machine)
		if err != nil {
			continue // NewPlan reports it
		}
		names := map[string]bool{}
		for _, r := range recipes {
			for _, name := range engines.DroppedEnv(environ, r.Spec) {
				names[name] = true
			}
		}
		if len(names) > 0 {
			out[v.Name] = slices.Sorted(maps.Keys(names))
		}
	}

	return out
}
