package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/report"
	"github.com/benchrig/bench/report/table"
)

// check sets this box beside the origin's, prints it, and refuses where the run
// cannot be repeated here.
func (a *again) check(ctx context.Context, o reproduceOptions) error {
	b, err := a.boxCheck(ctx, o)
	if err != nil {
		return err
	}
	out := a.e.Stderr // the result of the command is the agreement
	if o.checkOnly {
		out = a.e.stdout
	}
	switch {
	case o.checkOnly && o.format == "json":
		err = b.JSON(out)
	case o.format == "markdown" && o.checkOnly:
		err = b.Write(out, table.ForMarkdown, table.Options{})
	default:
		err = b.Write(out, table.ForTerminal, table.Options{Width: a.e.width})
	}
	if err != nil {
		return err
	}
	if len(b.Problems) > 0 && !o.allowMissing {
		return usageError(fmt.Errorf("it cannot be repeated on this box: %s (--set gives other paths; --allow-missing runs what can be run)", strings.Join(b.Problems, "; ")))
	}
	return nil
}

func (a *again) boxCheck(ctx context.Context, o reproduceOptions) (*report.BoxCheck, error) {
	from := a.from.run
	b := &report.BoxCheck{Origin: from.Manifest.Scenario + " " + from.Manifest.Run, Facts: []report.BoxFact{}, Problems: []string{}, Notes: []string{}}
	host := gpu.Host(ctx)
	environment, err := json.Marshal(a.environment(host))
	if err != nil {
		return nil, err
	}
	b.Facts = append(b.Facts, report.CompareFact("bench", from.Manifest.Bench, version, false, "stamps of the client: all latencies"))
	b.Facts = append(b.Facts, report.MachineFacts(from.Environment, environment)...)
	b.Facts = append(b.Facts, a.engines()...)
	if a.from.identity != nil {
		b.Facts = append(b.Facts, report.FileFacts(a.from.identity.Files, a.identity(host).Files)...)
	}
	prompts, err := a.promptFact()
	if err != nil {
		return nil, err
	}
	b.Facts = append(b.Facts, prompts, diskFact(o.out))
	for _, problem := range a.sc.Problems() {
		b.Problems = append(b.Problems, problem.Error())
	}
	for _, f := range b.Facts {
		if f.State == report.BoxMissing {
			b.Problems = append(b.Problems, f.What+" is not there")
		}
	}
	if a.from.identity != nil && a.from.temp != "" {
		b.Notes = append(b.Notes, "relative paths in the scenario start from "+filepath.Dir(a.from.path))
	}
	if len(from.Manifest.Groups) > 0 {
		b.Notes = append(b.Notes, "the origin ran on a cluster; here all steps are run on this box")
	}
	return b, nil
}

// engines looks for the program of each variant. Its version is known when it
// runs; the same file is the same version.
func (a *again) engines() []report.BoxFact {
	var facts []report.BoxFact
	seen := map[string]bool{}
	for _, life := range a.plan.Lives {
		if seen[life.Variant] || len(life.Servers) == 0 || len(life.Servers[0].Argv) == 0 {
			continue
		}
		seen[life.Variant] = true
		server := life.Servers[0]
		f := report.BoxFact{What: "engine of " + life.Variant, Origin: a.engineThere(life.Variant), State: report.BoxUnknown, Touches: "all figures; its version is compared when it runs"}
		path, err := process.LookPath(server.Argv[0], a.sc.Dir, a.e.Environ)
		switch {
		case server.Argv[0] == a.e.Self:
			f.Here, f.State, f.Touches = "bench "+version, report.BoxSame, ""
		case err != nil:
			f.Here, f.State, f.Touches = server.Argv[0]+": "+err.Error(), report.BoxMissing, "all figures"
		default:
			f.Here = path
		}
		facts = append(facts, f)
	}
	return facts
}

func (a *again) engineThere(variant string) string {
	for _, s := range a.from.run.Steps {
		if s.Result.Step.Variant == variant && len(s.Result.Servers) > 0 {
			server := s.Result.Servers[0]
			return strings.TrimSpace(server.Launcher + " " + server.Version)
		}
	}
	return ""
}

// promptFact says where the prompts come from.
func (a *again) promptFact() (report.BoxFact, error) {
	frozen, err := plan.OpenFrozen(a.from.prompts)
	if err != nil {
		return report.BoxFact{}, err
	}
	lacking, all := len(a.plan.Unfrozen(a.sc, frozen, false)), len(a.plan.Refs())
	f := report.BoxFact{What: "prompts", Origin: fmt.Sprintf("of %d steps", all), Here: "the origin's own", State: report.BoxSame}
	if a.from.prompts == "" || lacking > 0 {
		f.Here = fmt.Sprintf("made again for %d steps; compared by their hash", lacking)
		f.State, f.Touches = report.BoxUnknown, "all figures, if the hash differs"
	}
	if a.sc.Method == "llama-bench" {
		f = report.BoxFact{What: "prompts", Origin: "none", Here: "none", State: report.BoxSame}
	}
	return f, nil
}

// diskFact says whether there is room for a results folder.
func diskFact(dir string) report.BoxFact {
	const little = 1 << 30
	f := report.BoxFact{What: "free disk", State: report.BoxUnknown}
	for {
		var fs unix.Statfs_t
		err := unix.Statfs(dir, &fs)
		switch parent := filepath.Dir(dir); {
		case err == nil:
			free := int64(fs.Bavail) * fs.Bsize
			f.Here, f.State = fmt.Sprintf("%.1f GiB", float64(free)/little), report.BoxSame
			if free < little {
				f.State = report.BoxDiffers
			}
			return f
		case !errors.Is(err, unix.ENOENT) || parent == dir:
			return f
		default:
			dir = parent
		}
	}
}
