package launchers

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/launchers/process"
)

// Node is a machine of the job.
type Node struct {
	Name    string // by which srun knows it
	Address string // at which the other nodes reach it
}

// Span says over which nodes a server lies. The zero value is a server that is
// on this machine alone.
type Span struct {
	Nodes  []Node // the first is this machine, with the API
	Port   int    // of the first, where the others join it
	GPUs   int    // of each node; 0: not known
	Rank   int    // of the node, counted from 0, that a command line is for
	Cookie string // of processes on the other nodes; "": a placeholder, for plans
}

// Several reports whether there is more than one node.
func (s Span) Several() bool { return len(s.Nodes) > 1 }

// Names are those of all nodes.
func (s Span) Names() []string {
	var names []string
	for _, n := range s.Nodes {
		names = append(names, n.Name)
	}
	return names
}

func (s Span) self() Node { return s.Nodes[s.Rank] }

// meeting is the address at which the nodes meet.
func (s Span) meeting() string { return net.JoinHostPort(s.Nodes[0].Address, strconv.Itoa(s.Port)) }

// Companion is a program that runs beside the program of a server over several
// nodes. All start before it, in their order.
type Companion struct {
	Name    string // what it is and where, for people
	Node    string
	Remote  bool    // on another node, reached through srun
	Ready   string  // text of its log that is waited for; "": the next program starts at once
	Command Command // srun's, if remote
}

// CompanionsOf lists what runs beside the program of a server over several
// nodes; none on one node. It starts nothing.
func CompanionsOf(kind Kind, spec Spec) ([]Companion, error) {
	if !spec.Span.Several() {
		return nil, nil
	}
	if kind.Companions == nil || spec.Container.Image != "" {
		return nil, fmt.Errorf("nodes: %s in this form does not lie over several nodes: use vllm or sglang without a container", kind.Name)
	}
	return kind.Companions(spec)
}

// remotely is a program on another node of the job, as srun starts it there
// beside the steps that run already, with all that the job has on that node.
// Its environment is srun's own but for the mark, which env sets: Slurm gives a
// program srun's own value of a variable that --export=NAME=VALUE names, too.
func remotely(span Span, rank int, command Command) Command {
	cookie := cmp.Or(span.Cookie, "COOKIE")
	command.Argv = slices.Concat([]string{
		"srun", "--overlap", "--nodes=1", "--ntasks=1", "--nodelist=" + span.Nodes[rank].Name, "--kill-on-bad-exit=1", "--cpu-bind=none",
		"--export=ALL", "env", process.CookieVariable + "=" + cookie,
	}, command.Argv)
	return command
}

// onRank is the recipe for another node, whose GPUs Slurm names there.
func onRank(s Spec, rank int) Spec {
	s.Span.Rank = rank
	s.GPUs = nil
	return s
}

// workersOf are the servers of a kind on the other nodes: the same command
// line with another rank.
func workersOf(kind string, command func(Spec) (Command, error), s Spec) ([]Companion, error) {
	var all []Companion
	for rank := 1; rank < len(s.Span.Nodes); rank++ {
		c, err := command(onRank(s, rank))
		if err != nil {
			return nil, err
		}
		node := s.Span.Nodes[rank].Name
		all = append(all, Companion{Name: kind + " on node " + node, Node: node, Remote: true, Command: remotely(s.Span, rank, c)})
	}
	return all, nil
}

// across reserves options that bench sets for a server over several nodes.
func (s spelling) across(span Span, names ...string) spelling {
	if !span.Several() {
		return s
	}
	s.owned = maps.Clone(s.owned)
	for _, name := range names {
		s.owned[name] = "nodes"
	}
	return s
}

// notByHand refuses variables that differ from node to node.
func notByHand(s Spec, names ...string) error {
	for _, name := range names {
		if _, set := s.Env[name]; set && s.Span.Several() {
			return fmt.Errorf("env: %s is set by bench for each node: remove it", name)
		}
	}
	return nil
}

// sglangAcross are the options by which SGLang's nodes find each other.
func sglangAcross(span Span) []string {
	if !span.Several() {
		return nil
	}
	return []string{"--nnodes", strconv.Itoa(len(span.Nodes)), "--node-rank", strconv.Itoa(span.Rank), "--dist-init-addr", span.meeting()}
}

func sglangCompanions(s Spec) ([]Companion, error) { return workersOf("sglang", sglangCommand, s) }

// companionLog is where a companion of the server with that log writes its own.
func companionLog(server string, c Companion) string {
	what := strings.ReplaceAll(strings.ReplaceAll(c.Name, " on node ", "-"), "/", "_")
	return strings.TrimSuffix(server, ".log") + "-" + what + ".log"
}
