package plan

import (
	"errors"
	"fmt"

	"github.com/benchrig/bench/launchers"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/scenarios"
)

// meetingPort is how far above the port of the API the nodes of a server meet.
const meetingPort = 10

// PlannedProgram is a program that is started before a server over several
// nodes, and ends after it.
type PlannedProgram struct {
	Name string            `json:"name"`
	Node string            `json:"node"`
	Argv []string          `json:"argv"`
	Env  map[string]string `json:"env"`
	// what its log must say before the next one starts; "": it is not waited for
	Ready string `json:"ready_log,omitempty"`
}

// CommandLine shows how the program is started, quoted for a POSIX shell.
func (p PlannedProgram) CommandLine() string { return commandLine(p.Env, p.Argv) }

// Note says what the program is, and what is waited for.
func (p PlannedProgram) Note() string {
	if p.Ready == "" {
		return p.Name + ", not waited for"
	}
	return fmt.Sprintf("%s, until its log says %q", p.Name, p.Ready)
}

// nodesOf is how many nodes of a job the server of the variant needs.
func nodesOf(v scenarios.Variant) int {
	if len(v.Components) > 0 {
		return max(1, v.Nodes)
	}
	return max(1, v.Server.Nodes)
}

// nodesFor are the nodes of the job for a server that needs several, with their
// addresses on a network interface. The problem is that there are too few; the
// server is then planned for a job that has enough.
func nodesFor(v scenarios.Variant, need int, machine Machine) (nodes []recipe.Node, problem string) {
	nodes = machine.Nodes
	switch {
	case len(nodes) >= need:
	case need == 1:
		nodes = []recipe.Node{{Name: "NODE1", Address: "NODE1"}}
	default:
		problem = fmt.Sprintf("the server needs %d nodes, but the job has %d", need, max(1, len(nodes)))
		nodes = nil
		for i := range need {
			name := fmt.Sprintf("NODE%d", i+1)
			nodes = append(nodes, recipe.Node{Name: name, Address: name})
		}
	}

	nodes, missing := onInterface(nodes[:need], v.Server.Interface)
	if missing != nil && problem == "" {
		problem = fmt.Sprintf("interface: %v", missing)
	}
	return nodes, problem
}

// ofEachNode is how many GPUs of each node a server over several needs.
func ofEachNode(v scenarios.Variant, world int) (int, error) {
	nodes := nodesOf(v)
	if world%nodes != 0 {
		return 0, fmt.Errorf("nodes: %d GPUs cannot be spread evenly over %d nodes: change its parallel sizes, or "+
			"say how many gpus: each node has", world, nodes)
	}
	return world / nodes, nil
}

// spread lays a server over the nodes of the job. The problem is that there are
// too few; the server is then planned for a job that has enough.
func spread(spec *recipe.Spec, kind engines.Kind, v scenarios.Variant, machine Machine) (problem string) {
	need, step := nodesOf(v), spec.Container.JobStep()
	if need == 1 && !step {
		return ""
	}

	nodes, problem := nodesFor(v, need, machine)
	spec.Span = recipe.Span{
		Nodes: nodes, Port: spec.Port + meetingPort, GPUs: v.Server.GPUs.Count, Interface: v.Server.Interface,
		Step: step,
	}
	if spec.Span.GPUs == 0 && !v.Server.GPUs.None {
		spec.Span.GPUs, _ = ofEachNode(v, kind.Args.WorldSize(spec.Args)) // an error was place's to tell
	}

	return problem
}

// onInterface gives nodes their addresses on a network interface; "": those that
// they have. Nodes of which nothing is known keep theirs.
func onInterface(nodes []recipe.Node, name string) (placed []recipe.Node, missing error) {
	if name == "" {
		return nodes, nil
	}
	for _, node := range nodes {
		if node.Interfaces != nil {
			there, err := node.On(name)
			missing, node = errors.Join(missing, err), there
		}
		placed = append(placed, node)
	}
	return placed, missing
}

// planBeside adds what is started before the server. shown hides what must not
// be seen.
func (s *PlannedServer) planBeside(kind engines.Kind, spec recipe.Spec,
	shown func(recipe.Command) ([]string, map[string]string),
) error {
	companions, err := launchers.Companions(kind, spec)
	if len(companions) > 0 {
		s.Nodes = spec.Span.Names()
	}
	for _, c := range companions {
		argv, env := shown(c.Command)
		s.Beside = append(s.Beside, PlannedProgram{Name: c.Name, Node: c.Node, Argv: argv, Env: env, Ready: c.Ready})
	}
	return err
}
