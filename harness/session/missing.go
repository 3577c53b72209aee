package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/scenarios"
)

// Missing lists what a plan made for this machine needs and the machine lacks:
// files and GPUs, by the plan, and the programs of its servers, looked up in the
// PATH of environ.
func Missing(sc *scenarios.Scenario, p *plan.Plan, environ []string) []string {
	var programs []string
	for name, lacking := range missingPrograms(sc, p, environ) {
		known := func(problem string) bool { return strings.Contains(problem, strconv.Quote(name)) }
		if !slices.ContainsFunc(p.Problems, known) {
			programs = append(programs, lacking)
		}
	}
	slices.Sort(programs)
	return slices.Concat(p.Problems, programs)
}

// missingPrograms says of each program that is not there which variants need it.
func missingPrograms(sc *scenarios.Scenario, p *plan.Plan, environ []string) map[string]string {
	variants, lacking := map[string][]string{}, map[string]string{}
	for _, life := range p.Lives {
		v := sc.Variants[life.VariantIndex]
		if v.Server.Container.Image != "" || len(life.Servers) == 0 || len(life.Servers[0].Argv) == 0 {
			continue // an image has the program, or it runs already
		}

		name := life.Servers[0].Argv[0]
		variants[name] = text.AppendNew(variants[name], v.Name)
		if _, err := process.LookPath(name, sc.Dir, environ); err != nil {
			lacking[name] = fmt.Sprintf("variant %s: %v: install it, or name it in binary:", text.Few(variants[name]), err)
		}
	}
	return lacking
}

// RefuseMissing is a usage error that lists what the machine lacks for the run:
// it is known before the first server is started. Steps that need it would fail.
func (s *Session) RefuseMissing() error {
	missing := Missing(s.Scenario, s.Plan, s.Process.Environ)
	if len(missing) == 0 {
		return nil
	}
	return usage.Errorf("this machine lacks what the scenario needs:\n  %s\n"+
		"--allow-missing runs the rest, and records those steps as failed", strings.Join(missing, "\n  "))
}
