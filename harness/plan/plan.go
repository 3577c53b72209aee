// Package plan turns a scenario into the plan of a run: every step, under the
// server start that it shares with others, in the order they will run.
//
// What goes in: a scenarios.Scenario and the facts of the machine. What comes
// out: a Plan with stable ids, command lines, GPUs and an estimate of time; what
// has changed since a stored plan; the parts of a plan that jobs of a cluster
// carry out. It starts nothing and writes nothing; it reads the files that a
// plan names, to identify them.
package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/cpus"
	"github.com/benchrig/bench/launchers"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// Machine is what a plan needs to know of the machine.
type Machine struct {
	Self   string // path of this program, which the simulator launcher starts
	Vendor string // "amd", "nvidia", "": no GPU seen
	GPUs   int

	Devices []device.Device // of Vendor, by index; nil: only their number is known
	Granted []int           // indices of the GPUs that a scheduler has granted, GPUs of them; nil: all

	Allowed *gpu.Limits // what the shell and the device files leave of Devices; nil: all

	Visibility map[string]string // variables of our environment by which servers know their GPUs that are not placed

	HubCache map[string]string // variables of our environment that say where downloaded models are

	Nodes []recipe.Node // of the job, this one first; nil: they are not known, or there is only this one

	CPUs *cpus.Topology // nil: not known

	PortOffset int // added to ports that bench chooses, so that jobs on one machine look for them in different places
}

// MachineLike is a machine that nobody looked at: "amd:8" has eight GPUs of AMD. self is
// the path of this program, as in Machine.
func MachineLike(text, self string) (Machine, error) {
	vendor, count, _ := strings.Cut(text, ":")
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 || (vendor != "amd" && vendor != "nvidia") {
		return Machine{}, fmt.Errorf("machine %q: want amd:N or nvidia:N, such as amd:8", text)
	}
	return Machine{Self: self, Vendor: vendor, GPUs: n}, nil
}

// Plan is every step of a run, decided before anything is touched. It is
// plan.json; secrets in it are redacted.
type Plan struct {
	Scenario  string        `json:"scenario"`
	Method    string        `json:"method"`
	Lives     []Life        `json:"lives"`            // in the order they will run
	EstimateS float64       `json:"estimate_s"`       // if all is needed that can be
	Assumes   string        `json:"assumes"`          // what the estimate rests on
	Around    []PlannedHook `json:"around"`           // what is run beside the servers
	Client    string        `json:"client,omitempty"` // where the load client runs; "": wherever bench does
	Problems  []string      `json:"problems"`         // what would keep this machine from running it

	MostSteps  int     `json:"most_steps,omitempty"`  // that can be needed; 0: all
	MostStarts int     `json:"most_starts,omitempty"` // of servers for them; 0: all
	LeastSteps int     `json:"least_steps"`           // those that are needed whatever comes out
	LeastS     float64 `json:"least_estimate_s"`      // of them

	FrozenPrompts *Frozen `json:"-"` // prompts to send in place of new ones; nil: none
}

// Life is one server life and the steps that share it.
type Life struct {
	ID        string          `json:"id"`
	Variant   string          `json:"variant"`
	Servers   []PlannedServer `json:"servers"` // one per replica
	Steps     []Step          `json:"steps"`
	EstimateS float64         `json:"estimate_s"`      // start and stop, of both where there are two, without the steps
	Nodes     int             `json:"nodes,omitempty"` // of a job, that its servers need; 0: 1

	// SecondPass is the life that follows for the second pass of method sqzb:
	// the same step and servers once more.
	SecondPass *Life `json:"second_pass,omitempty"`

	VariantIndex int `json:"-"` // of the scenario's variants
}

// PlannedServer is one server as it will be launched.
type PlannedServer struct {
	// name of the part that it is of a server of several; "": it is a server by itself
	Component string `json:"component,omitempty"`
	Node      string `json:"node,omitempty"` // of the job, on which a part runs; "": the job has only one

	Launcher string            `json:"launcher"`
	BaseURL  string            `json:"base_url"`
	Argv     []string          `json:"argv"`  // empty: already running
	Env      map[string]string `json:"env"`   // set for it, beside recipe.HygieneSet
	Unset    []string          `json:"unset"` // not inherited, beside recipe.HygieneUnset
	GPUs     []int             `json:"gpus"`

	CPUs     string `json:"cpus,omitempty"`      // that it may use; "": any
	NUMANode *int   `json:"numa_node,omitempty"` // whose memory it takes first
	Nice     int    `json:"nice,omitempty"`

	Nodes  []string         `json:"nodes,omitempty"`  // of a server over several
	Beside []PlannedProgram `json:"beside,omitempty"` // what is started before it, in this order
}

// Step is one variant at one point, once.
type Step struct {
	results.StepRef
	Asked     results.Asked `json:"asked"`
	EstimateS float64       `json:"estimate_s"`
	// while the plan is carried out: its load, or whether it is run at all
	Decided string `json:"decided,omitempty"`

	Unneeded bool `json:"-"` // its round does without it, whatever comes out
	Optional bool `json:"-"` // it may turn out not to be needed

	Pinned bool `json:"pinned,omitempty"` // it is run whatever others show, at the load that is asked for

	PointIndex int `json:"-"` // of the scenario's load points
}

// New lays out a scenario on a machine. It touches nothing. A recipe that
// cannot become a command line is an error; what only this machine lacks is listed
// in Problems.
func New(sc *scenarios.Scenario, machine Machine) (*Plan, error) {
	plan := &Plan{
		Scenario: sc.Name, Method: string(sc.Method), Lives: []Life{}, Problems: []string{},
		Assumes: assumes(sc), Around: plannedHooks(sc),
	}
	for _, problem := range sc.Problems() {
		plan.Problems = append(plan.Problems, problem.Error())
	}

	var lacking findings
	stepNames, lifeNames := namer{}, namer{}
	all := cells(sc)
	for i, c := range all {
		if i == 0 || !sameLife(restartOf(sc), all[i-1], c) {
			life, err := plan.newLife(sc, machine, c, lifeNames, &lacking)
			if err != nil {
				return nil, err
			}
			plan.Lives = append(plan.Lives, life)
		}
		life := &plan.Lives[len(plan.Lives)-1]
		life.Steps = append(life.Steps, newStep(sc, c, stepNames))
	}

	for _, life := range plan.Lives {
		plan.EstimateS += life.EstimateS
		for _, step := range life.Steps {
			plan.EstimateS += step.EstimateS
		}
	}

	for _, f := range lacking {
		plan.Problems = append(plan.Problems, problemOf(f.text, f.variants...))
	}
	plan.Client = clientNote(sc, machine)
	plan.decideLater(sc)
	return plan, nil
}

// problemOf says that some variants lack something.
func problemOf(lacks string, variants ...string) string {
	if len(variants) == 1 {
		return fmt.Sprintf("variant %q: %s", variants[0], lacks)
	}
	if strings.HasPrefix(lacks, "needs ") {
		lacks = "each " + lacks
	}
	return "variants " + strings.Join(variants, ", ") + ": " + lacks
}

// newLife plans the servers of one life. What this machine lacks for them is added to
// lacking.
func (p *Plan) newLife(
	sc *scenarios.Scenario, machine Machine, c cell, names namer, lacking *findings,
) (Life, error) {
	v := sc.Variants[c.variant]
	life := Life{ID: names.name("%02d-%s", len(p.Lives)+1, v.Name), Variant: v.Name, VariantIndex: c.variant}
	if n := nodesOf(v); n > 1 {
		life.Nodes = n
	}
	recipes, lacks, err := recipesOf(sc, v, machine)
	if err != nil {
		return life, err
	}
	if lacks != "" {
		lacking.add(v.Pos, v.Name, lacks)
	}

	for _, r := range recipes {
		server, err := planServer(r.Kind, r.Spec)
		if err != nil {
			return life, variantError(v, err)
		}
		life.Servers = append(life.Servers, server)
		life.EstimateS += startEstimate(r.Kind)
	}

	if sc.Method == scenarios.SQZB {
		life = withSecondPass(life, names)
	}

	return life, nil
}

func planServer(kind engines.Kind, spec recipe.Spec) (PlannedServer, error) {
	cmd, err := launchers.Plan(kind, spec)
	if err != nil {
		return PlannedServer{}, err
	}

	hide := recipe.Redactor(spec.Secrets)
	always, never := recipe.HygieneSet(), recipe.HygieneUnset()
	out := PlannedServer{
		Component: spec.Component, Launcher: kind.Name, BaseURL: baseURL(kind, spec), GPUs: spec.GPUs,
		CPUs: spec.Place.CPUs.String(), NUMANode: spec.Place.Node, Nice: spec.Place.Nice,
		Unset: slices.DeleteFunc(slices.Clone(cmd.Unset),
			func(name string) bool { return slices.Contains(never, name) }),
	}

	if len(spec.Span.Nodes) == 1 {
		out.Node = spec.Span.Self().Name
	}
	shown := func(cmd recipe.Command) (argv []string, env map[string]string) {
		argv, env = []string{}, map[string]string{}
		for _, a := range cmd.Argv {
			argv = append(argv, hide(a))
		}
		for k, val := range cmd.Env {
			if usual, ok := always[k]; !ok || usual != val {
				env[k] = hide(val)
			}
		}
		return argv, env
	}

	out.Argv, out.Env = shown(cmd)
	return out, out.planBeside(kind, spec, shown)
}

func newStep(sc *scenarios.Scenario, c cell, names namer) Step {
	v := sc.Variants[c.variant]
	point := ShareOf(v, sc.Points[c.point])
	step := Step{
		StepRef: results.StepRef{
			ID:      names.name("%s_%s_r%d", v.Name, point.Label, c.repeat),
			Variant: v.Name, Point: point.Label, Repeat: c.repeat, Attempt: 1,
		},
		Asked:      AskedOf(point, stepSeed(sc, c)),
		PointIndex: c.point,
	}

	switch {
	case sc.RunsProgram():
		step.Asked, step.EstimateS = results.Asked{}, programEstimate(sc, v)
	case sc.Method == scenarios.ColdStart:
		step.Asked = results.Asked{} // the start of its life is the step
	case sc.Method == scenarios.SQZB:
		step.EstimateS = stepEstimate(point, speedOf(v)) + stepEstimate(oneTokenPoint(point), speedOf(v))
	default:
		step.EstimateS = stepEstimate(point, speedOf(v))
	}

	return step
}

// stepSeed seeds the prompts of a step: the same for every variant; other
// prompts for every point and repeat unless the dataset says vary: false, so
// that no prompt of one step is warm in the next one's prefix cache. Where a
// new server starts for each point, no cache outlives it, and points have the
// same prompts; so do all steps under compat, as vLLM's client has one seed.
func stepSeed(sc *scenarios.Scenario, c cell) uint64 {
	point := sc.Points[c.point]
	ds := point.Dataset
	switch {
	case !ds.Vary || point.Compat != "":
		return ds.Seed
	case sc.Restart == scenarios.RestartPoint || sc.Restart == scenarios.RestartStep:
		return ds.Seed + uint64(c.repeat-1)
	}

	return ds.Seed + uint64((c.repeat-1)*len(sc.Points)+c.point)
}

// Starts is how many server lives the plan has, second passes included; of
// method llama-bench, how many runs of the program.
func (p *Plan) Starts() int {
	n := len(p.Lives)
	for _, life := range p.Lives {
		if life.SecondPass != nil {
			n++
		}
	}
	return n
}

// Most is the largest number of steps, and of server starts for them, that can be
// needed.
func (p *Plan) Most() (steps, starts int) {
	if p.MostSteps > 0 {
		return p.MostSteps, p.MostStarts
	}
	return len(p.Refs()), p.Starts()
}

// Refs lists the planned steps in order.
func (p *Plan) Refs() []results.StepRef {
	var refs []results.StepRef
	for _, life := range p.Lives {
		for _, step := range life.Steps {
			refs = append(refs, step.StepRef)
		}
	}
	return refs
}
