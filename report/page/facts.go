package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report"
	"github.com/benchrig/bench/results"
)

// factsOf are the facts of a run that a reader needs to place its figures.
func factsOf(run *results.Run, d *report.Document) []report.Fact {
	m := run.Manifest
	var facts []report.Fact
	add := func(name, value string) {
		if value = text.Clean(value); value != "" {
			facts = append(facts, report.Fact{Name: name, Value: value})
		}
	}

	add("Scenario", m.Scenario)
	add("Run", m.Run)
	add("Started", m.StartedAt)
	add("Duration", durationOf(run))
	add("Bench", m.Bench)
	if m.Method != "" && m.Method != results.MethodServing {
		add("Method", m.Method)
	}

	add("Baseline", m.Baseline)
	add("Overrides", strings.TrimPrefix(d.Sets, "with "))
	for _, engine := range enginesOf(run) {
		add("Server", engine)
	}

	for _, model := range modelsOf(run) {
		add("Model", model)
	}

	add("Scenario file", hashText(m.ScenarioSHA256))
	for _, f := range d.Machine {
		add(strings.ToUpper(f.Name[:1])+f.Name[1:], f.Value)
	}

	return facts
}

func hashText(hex string) string {
	if hex == "" {
		return ""
	}
	return "sha256 " + hex
}

// durationOf is the time from the first event to the last.
func durationOf(run *results.Run) string {
	if len(run.Events) < 2 {
		return ""
	}
	took := run.Events[len(run.Events)-1].Time.Sub(run.Events[0].Time)
	return took.Round(time.Second).String()
}

// enginesOf names what answered, with the variants that it served.
func enginesOf(run *results.Run) []string {
	of := map[string][]string{}
	var order []string
	for _, s := range run.Steps {
		for _, server := range s.Result.Servers {
			name := strings.TrimSpace(server.Launcher + " " + server.Version)
			if server.Simulated {
				name += " (simulated)"
			}
			order = text.AppendNew(order, name)
			of[name] = text.AppendNew(of[name], s.Result.Step.Variant)
		}
	}

	for i, name := range order {
		if len(order) > 1 {
			order[i] = name + ": " + shortList(of[name])
		}
	}

	return order
}

func modelsOf(run *results.Run) []string {
	var models []string
	for _, s := range run.Steps {
		for _, server := range s.Result.Servers {
			if server.Model != "" && !slices.Contains(models, server.Model) {
				models = append(models, server.Model)
			}
		}
		for _, row := range s.Result.LlamaBench {
			name := row.Model
			if row.File != "" {
				name += ", " + row.File
			}
			models = text.AppendNew(models, name)
		}
	}

	return models
}

// shortList names the first of many.
func shortList(names []string) string {
	const shown = 8
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
