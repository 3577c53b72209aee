package recipe

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/launchers/process"
)

// Node is a machine of the job.
type Node struct {
	Name    string // by which srun knows it
	Address string // at which the other nodes reach it

	Interfaces map[string][]string // its IP addresses by network interface; nil: not known
	GPUs       []int               // that the job was granted there, by index; nil: not known
}

// On is the node with its address on a network interface, or in a network that
// is given as ADDRESS/BITS.
func (n Node) On(want string) (Node, error) {
	network, notNetwork := netip.ParsePrefix(want)
	for _, name := range slices.Sorted(maps.Keys(n.Interfaces)) {
		for _, address := range n.Interfaces[name] {
			ip, err := netip.ParseAddr(address)
			if err == nil && (name == want || notNetwork == nil && network.Contains(ip)) {
				n.Address = address
				return n, nil
			}
		}
	}
	return n, fmt.Errorf("node %s has no address on %s: it has %s", n.Name, want,
		cmp.Or(strings.Join(slices.Sorted(maps.Keys(n.Interfaces)), ", "), "none that is known"))
}

// Span says over which nodes a server lies. The zero value is a server that is
// on this machine alone.
type Span struct {
	Nodes  []Node // the first is this machine, with the API
	Port   int    // of the first, where the others join it
	GPUs   int    // of each node; 0: not known
	Step   bool   // the program on the first node is a job step, too
	Away   bool   // the first node is another machine than this one; with Step
	Rank   int    // of the node, counted from 0, that a command line is for
	Cookie string // of processes on the other nodes; "": a placeholder, for plans

	// Interface is the network interface, or the network as ADDRESS/BITS, whose
	// addresses the nodes have here; "": they are the scheduler's.
	Interface string
}

// InterfaceEnv has the collective libraries use the span's interface, where it
// is given by name.
func (s Span) InterfaceEnv() map[string]string {
	if s.Interface == "" || !s.Several() || strings.Contains(s.Interface, "/") {
		return nil
	}
	return map[string]string{"NCCL_SOCKET_IFNAME": s.Interface, "GLOO_SOCKET_IFNAME": s.Interface}
}

// Several reports whether there is more than one node.
func (s Span) Several() bool { return len(s.Nodes) > 1 }

// Elsewhere are the nodes on which srun starts what belongs to the server.
func (s Span) Elsewhere() []Node {
	if s.Step || len(s.Nodes) == 0 {
		return s.Nodes
	}
	return s.Nodes[1:]
}

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
	Rank    int     // of its node
	Ready   string  // text of its log that is waited for; "": the next program starts at once
	Serves  string  // base URL at which it takes requests beside the server; "": it takes none
	Command Command // srun's, if remote
}

// Remote reports whether it is on another node, reached through srun.
func (c Companion) Remote() bool { return c.Rank > 0 }

// Remotely is a program on another node of the job, as srun starts it there
// beside the steps that run already, with all that the job has on that node.
// Its environment is srun's own but for the mark and the choice of GPUs, which env
// sets: Slurm gives a program srun's own value of a variable that
// --export=NAME=VALUE names, too, and names the GPUs itself.
func Remotely(span Span, rank int, command Command) Command {
	env := []string{"env"}
	command.Env = maps.Clone(command.Env)
	for _, name := range visibilityVariables() {
		value, set := command.Env[name]
		switch {
		case set:
			delete(command.Env, name)
			env = append(env, name+"="+value)
		case slices.Contains(command.Unset, name):
			env = slices.Insert(env, 1, "--unset="+name)
		}
	}

	cookie := cmp.Or(span.Cookie, "COOKIE")
	command.Argv = slices.Concat([]string{
		"srun", "--overlap", "--nodes=1", "--ntasks=1", "--nodelist=" +
			span.Nodes[rank].Name, "--kill-on-bad-exit=1", "--cpu-bind=none",
		"--export=ALL",
	}, command.Step, env, []string{process.CookieVariable + "=" + cookie}, command.Argv)
	return command
}
