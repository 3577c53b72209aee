package reproduce

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/harness/hooks"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/metrics/versus"
)

// Check compares this machine with the origin's, and says what keeps the run
// from being repeated here.
func (a *Again) Check(ctx context.Context, o Options) (*versus.MachineCheck, error) {
	from := a.From.Run
	b := &versus.MachineCheck{
		Origin: from.Manifest.Scenario + " " + from.Manifest.Run, Facts: []versus.MachineFact{},
		Problems: []string{}, Notes: []string{},
	}
	host := gpu.Host(ctx)
	environment, err := json.Marshal(a.Environment(host))
	if err != nil {
		return nil, err
	}

	b.Facts = append(b.Facts, versus.CompareFact("bench", from.Manifest.Bench, a.Process.Version, false,
		"the client's time stamps: all latencies"))
	b.Facts = append(b.Facts, versus.MachineFacts(from.Environment, environment)...)
	b.Facts = append(b.Facts, a.engines()...)
	if a.From.identity != nil {
		b.Facts = append(b.Facts, versus.FileFacts(a.From.identity.Files, a.Identity(host).Files)...)
	}

	prompts, err := a.promptFact()
	if err != nil {
		return nil, err
	}

	b.Facts = append(b.Facts, prompts, diskFact(o.Out))
	facts, lackingIDs := vocabularies(a.Scenario)
	b.Facts, b.Problems = append(b.Facts, facts...), append(b.Problems, lackingIDs...)
	for _, problem := range a.Scenario.Problems() {
		b.Problems = append(b.Problems, problem.Error())
	}

	if lacking := versus.LackingGPUs(from, environment); lacking != "" {
		b.Problems = append(b.Problems, lacking)
	}
	for _, f := range b.Facts {
		if f.State == versus.FactMissing {
			b.Problems = append(b.Problems, f.What+" is not there")
		}
	}

	if a.From.identity != nil && a.From.temp != "" {
		b.Notes = append(b.Notes, "relative paths in the scenario start from "+filepath.Dir(a.From.path))
	}
	if len(from.Manifest.Groups) > 0 {
		b.Notes = append(b.Notes, "the origin ran on a cluster; here all steps run on this machine")
	}

	return b, nil
}

// engines looks for the program of each variant. Its version is known when it
// runs; the same file is the same version.
func (a *Again) engines() []versus.MachineFact {
	var facts []versus.MachineFact
	seen := map[string]bool{}
	for _, life := range a.Plan.Lives {
		if seen[life.Variant] || len(life.Servers) == 0 || len(life.Servers[0].Argv) == 0 {
			continue
		}
		seen[life.Variant] = true
		server := life.Servers[0]
		f := versus.MachineFact{
			What: "engine of " + life.Variant, Origin: a.engineThere(life.Variant),
			State: versus.FactUnknown, Touches: "all figures; its version is compared when it runs",
		}
		path, err := process.LookPath(server.Argv[0], a.Scenario.Dir, a.Process.Environ)
		switch {
		case server.Argv[0] == a.Process.Self:
			f.Here, f.State, f.Touches = "bench "+a.Process.Version, versus.FactSame, ""
		case err != nil:
			f.Here, f.State, f.Touches = server.Argv[0]+": "+err.Error(), versus.FactMissing, "all figures"
		default:
			f.Here = path
		}
		facts = append(facts, f)
	}

	return facts
}

func (a *Again) engineThere(variant string) string {
	for _, s := range a.From.Run.Steps {
		if s.Result.Step.Variant == variant && len(s.Result.Servers) > 0 {
			server := s.Result.Servers[0]
			return strings.TrimSpace(server.Launcher + " " + server.Version)
		}
	}
	return ""
}

// promptFact says where the prompts come from.
func (a *Again) promptFact() (versus.MachineFact, error) {
	frozen, err := plan.OpenFrozen(a.From.prompts)
	if err != nil {
		return versus.MachineFact{}, err
	}

	lacking, all := len(a.Plan.Unfrozen(a.Scenario, frozen, false)), len(a.Plan.Refs())
	f := versus.MachineFact{
		What: "prompts", Origin: "of " + text.Count(all, "step"), Here: "the origin's own",
		State: versus.FactSame,
	}
	if a.From.prompts == "" || lacking > 0 {
		f.Here = fmt.Sprintf("made again for %s; compared by their hash", text.Count(lacking, "step"))
		f.State, f.Touches = versus.FactUnknown, "all figures, if the hash differs"
	}
	if a.Scenario.RunsProgram() {
		f = versus.MachineFact{What: "prompts", Origin: "none", Here: "none", State: versus.FactSame}
	}

	return f, nil
}

// diskFact reports whether there is room for a results folder.
func diskFact(dir string) versus.MachineFact {
	const little = 1 << 30
	f := versus.MachineFact{What: "free disk", State: versus.FactUnknown}
	free, err := hooks.FreeDisk(dir)
	if err != nil {
		return f
	}

	f.Here, f.State = fmt.Sprintf("%.1f GiB", float64(free)/little), versus.FactSame
	if free < little {
		f.State = versus.FactDiffers
	}
	return f
}
