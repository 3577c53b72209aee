package session

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/launchers/container"
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
	return slices.Concat(p.Problems, programs, tooManyRequests(sc, limitsBy(syscall.Getrlimit)[softFiles]))
}

// missingPrograms says of each program that is not there which variants need it.
func missingPrograms(sc *scenarios.Scenario, p *plan.Plan, environ []string) map[string]string {
	variants, lacking := map[string][]string{}, map[string]string{}
	for _, life := range p.Lives {
		v := sc.Variants[life.VariantIndex]
		for _, server := range life.Servers {
			if container.Options(v.ServerOf(server.Component).Container).Contained() || len(server.Argv) == 0 {
				continue // an image has the program, or it runs already
			}

			name := server.Argv[0]
			variants[name] = text.AppendNew(variants[name], v.Name)
			if _, err := process.LookPath(name, sc.Dir, environ); err != nil {
				lacking[name] = fmt.Sprintf("variant %s: %v: install it, or name it in binary:",
					text.Few(variants[name]), err)
			}
		}
	}
	return lacking
}

// reservedFiles are open files that a run needs beside those of its requests:
// journals, logs, samplers, connections that end while others begin.
const reservedFiles = 128

// tooManyRequests names load points with more requests at once than the limit of
// open files allows (0: not known): each has a connection. Load agents have limits of
// their own.
func tooManyRequests(sc *scenarios.Scenario, limit uint64) []string {
	if sc.Client.Elsewhere() || limit == 0 || !sc.Method.SendsRequests() {
		return nil
	}

	var out []string
	for _, point := range sc.Points {
		atOnce := point.MaxConcurrency
		if atOnce == 0 && math.IsInf(point.RequestRate, 1) {
			atOnce = point.NumPrompts
		}
		if need := atOnce + reservedFiles; uint64(need) > limit {
			out = append(out, fmt.Sprintf("load point %s: %d requests at once need %d open files, and %d are allowed: "+
				"raise the limit (ulimit -n)", point.Label, atOnce, need, limit))
		}
	}
	return out
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
