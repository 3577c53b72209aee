package engines

import (
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/benchrig/bench/launchers/recipe"
)

const (
	vllmExecutor = "distributed-executor-backend"
	rayStarted   = "Ray runtime started" // in the log of ray start, on every node
)

// vllmOnRay reports whether nodes are joined by Ray, by the arguments' choice:
// stock images of 2026 lack it. The default is vLLM's own way.
func vllmOnRay(s recipe.Spec) (bool, error) {
	spelling := vllmSpelling()
	if backend, _ := spelling.Find(s.Args, "data-parallel-backend"); backend == "ray" {
		return true, nil
	}

	switch backend, _ := spelling.Find(s.Args, vllmExecutor); backend {
	case "ray":
		return true, nil
	case nil, "mp":
		return false, nil
	default:
		return false, fmt.Errorf("args: %s: %v does not span several nodes: use ray or mp", vllmExecutor, backend)
	}
}

// vllmAcross are the options and variables of vLLM over several nodes; own is
// added to.
func vllmAcross(s recipe.Spec, own map[string]string) ([]string, error) {
	if !s.Span.Several() {
		return nil, nil
	}
	if err := notByHand(s, "VLLM_HOST_IP", "RAY_ADDRESS"); err != nil {
		return nil, err
	}

	own["VLLM_HOST_IP"] = s.Span.Self().Address
	maps.Copy(own, s.Span.InterfaceEnv())
	dp, err := vllmDataParallel(s)
	if err != nil {
		return nil, err
	}

	ray, err := vllmOnRay(s)
	switch {
	case err != nil:
		return nil, err
	case ray:
		own["RAY_ADDRESS"] = s.Span.Meeting() // the arguments name Ray
		return dp.onRay(), nil
	case dp.ranks > 1:
		return dp.options(s.Span), nil
	}

	argv := []string{
		"--nnodes", strconv.Itoa(len(s.Span.Nodes)), "--node-rank", strconv.Itoa(s.Span.Rank),
		"--master-addr", s.Span.Nodes[0].Address, "--master-port", strconv.Itoa(s.Span.Port),
	}

	if s.Span.Rank > 0 {
		argv = append(argv, "--headless")
	}
	if backend, _ := vllmSpelling().Find(s.Args, vllmExecutor); backend == nil {
		argv = append(argv, "--"+vllmExecutor, "mp")
	}

	return argv, nil
}

// balancing is who spreads requests over the ranks of data parallelism.
type balancing int

const (
	internalBalancing balancing = iota // the API server of the first node
	hybridBalancing                    // each node's API server, over its own ranks; the client, over nodes
	externalBalancing                  // the client, over ranks; each node has one
)

// dataParallel is how the ranks of vLLM's data parallelism lie over nodes.
type dataParallel struct {
	ranks, perNode int
	balancing      balancing
}

// vllmDataParallel reads it from the arguments; one rank: there is no data
// parallelism.
func vllmDataParallel(s recipe.Spec) (dataParallel, error) {
	spelling, nodes := vllmSpelling(), len(s.Span.Nodes)
	dp := dataParallel{ranks: sizes(spelling, s.Args, "data-parallel-size")}
	if dp.ranks == 1 {
		return dp, nil
	}
	if dp.ranks == 0 || dp.ranks%nodes != 0 {
		return dp, fmt.Errorf("args: data-parallel-size: its ranks cannot be spread evenly over %d nodes: use a "+
			"multiple of %d", nodes, nodes)
	}
	dp.perNode = dp.ranks / nodes

	hybrid, _ := spelling.Find(s.Args, "data-parallel-hybrid-lb")
	external, _ := spelling.Find(s.Args, "data-parallel-external-lb")
	switch {
	case hybrid == true && external == true:
		return dp, fmt.Errorf("args: data-parallel-hybrid-lb and data-parallel-external-lb exclude each other")
	case hybrid == true:
		dp.balancing = hybridBalancing
	case external == true && dp.perNode > 1:
		return dp, fmt.Errorf("args: data-parallel-external-lb: each node has one rank, and %d ranks would be %d on "+
			"each: use data-parallel-hybrid-lb, or data-parallel-size: %d", dp.ranks, dp.perNode, nodes)
	case external == true:
		dp.balancing = externalBalancing
	}

	if ray, _ := spelling.Find(s.Args, "data-parallel-backend"); ray == "ray" && dp.balancing != internalBalancing {
		return dp, fmt.Errorf("args: data-parallel-backend: ray starts the ranks of all nodes by itself: leave out " +
			"data-parallel-hybrid-lb and data-parallel-external-lb")
	}
	return dp, nil
}

// options are those of one node; data-parallel-size itself is among the arguments.
func (d dataParallel) options(span recipe.Span) []string {
	meeting := []string{
		"--data-parallel-address", span.Nodes[0].Address, "--data-parallel-rpc-port", strconv.Itoa(span.Port),
	}
	if d.balancing == externalBalancing {
		return append([]string{"--data-parallel-rank", strconv.Itoa(span.Rank)}, meeting...)
	}

	argv := append([]string{"--data-parallel-size-local", strconv.Itoa(d.perNode)}, meeting...)
	if span.Rank > 0 || d.balancing == hybridBalancing {
		argv = append(argv, "--data-parallel-start-rank", strconv.Itoa(span.Rank*d.perNode))
	}
	if span.Rank > 0 && d.balancing == internalBalancing {
		argv = append(argv, "--headless")
	}
	return argv
}

// onRay are the options of the one program that has Ray start the ranks.
func (d dataParallel) onRay() []string {
	if d.ranks == 1 {
		return nil
	}
	return []string{"--data-parallel-size-local", strconv.Itoa(d.perNode)}
}

// vllmCompanions are Ray's processes on all nodes, or the servers on the others,
// which have an API where data parallelism is balanced outside of them.
func vllmCompanions(s recipe.Spec) ([]recipe.Companion, error) {
	ray, err := vllmOnRay(s)
	if err != nil {
		return nil, err
	}
	if !ray {
		return vllmWorkers(s)
	}

	var all []recipe.Companion
	for rank, node := range s.Span.Nodes {
		r := s
		if rank > 0 {
			r = onRank(s, rank)
		}
		command, err := vllmCommand(r) // engines on Ray have the environment of their node's Ray
		if err != nil {
			return nil, err
		}
		delete(command.Env, "RAY_ADDRESS")
		command.Argv = rayStart(s, rank)
		all = append(all, recipe.Companion{
			Name: "ray on node " + node.Name, Node: node.Name, Rank: rank, Ready: rayStarted, Command: command,
		})
	}

	return all, nil
}

// vllmWorkers are the servers of the other nodes.
func vllmWorkers(s recipe.Spec) ([]recipe.Companion, error) {
	dp, err := vllmDataParallel(s)
	if err != nil {
		return nil, err
	}
	if dp.balancing == internalBalancing {
		return workersOf("vllm", vllmCommand, s)
	}

	all, err := workersOf("vllm", func(r recipe.Spec) (recipe.Command, error) {
		r.Host = r.Span.Self().Address // its API is asked from the first node
		return vllmCommand(r)
	}, s)
	for i, c := range all {
		all[i].Serves = "http://" + net.JoinHostPort(s.Span.Nodes[c.Rank].Address, strconv.Itoa(s.Port))
	}
	return all, err
}

// rayStart keeps Ray in the foreground, so that its processes end with it.
func rayStart(s recipe.Spec, rank int) []string {
	argv := []string{rayProgram(s), "start"}
	if rank == 0 {
		argv = append(argv, "--head", "--port="+strconv.Itoa(s.Span.Port), "--include-dashboard=false",
			"--disable-usage-stats")
	} else {
		argv = append(argv, "--address="+s.Span.Meeting())
	}
	argv = append(argv, "--node-ip-address="+s.Span.Nodes[rank].Address)
	if s.Span.GPUs > 0 {
		argv = append(argv, "--num-gpus="+strconv.Itoa(s.Span.GPUs))
	}
	return append(argv, "--block")
}

// rayProgram is the one beside the recipe's vllm or python.
func rayProgram(s recipe.Spec) string {
	if len(s.Binary) > 0 && strings.Contains(s.Binary[0], "/") {
		return filepath.Join(filepath.Dir(s.Binary[0]), "ray")
	}
	return "ray"
}
