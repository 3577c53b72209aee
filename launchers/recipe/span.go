package recipe

import (
	"cmp"
	"net"
	"slices"
	"strconv"

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

// Self is the node that the command line is for. It panics if the span has no nodes.
func (s Span) Self() Node { return s.Nodes[s.Rank] }

// Meeting is the address at which the nodes meet.
func (s Span) Meeting() string { return net.JoinHostPort(s.Nodes[0].Address, strconv.Itoa(s.Port)) }

// Companion is a program that runs beside the program of a server over several
// nodes. All start before it, in their order.
type Companion struct {
	Name    string // what it is and where, for people
	Node    string
	Remote  bool    // on another node, reached through srun
	Ready   string  // text of its log that is waited for; "": the next program starts at once
	Command Command // srun's, if remote
}

// Remotely is a program on another node of the job, as srun starts it there
// beside the steps that run already, with all that the job has on that node.
// Its environment is srun's own but for the mark, which env sets: Slurm gives a
// program srun's own value of a variable that --export=NAME=VALUE names, too.
func Remotely(span Span, rank int, command Command) Command {
	cookie := cmp.Or(span.Cookie, "COOKIE")
	command.Argv = slices.Concat([]string{
		"srun", "--overlap", "--nodes=1", "--ntasks=1", "--nodelist=" +
			span.Nodes[rank].Name, "--kill-on-bad-exit=1", "--cpu-bind=none",
		"--export=ALL", "env", process.CookieVariable + "=" + cookie,
	}, command.Argv)
	return command
}
