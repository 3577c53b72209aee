package engines

import (
	"fmt"
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
	switch backend, _ := vllmSpelling().Find(s.Args, vllmExecutor); backend {
	case "ray":
		return true, nil
	case nil, "mp":
		return false, nil
	default:
		return false, fmt.Errorf("args: %s: %v does not lie over several nodes: use ray or mp", vllmExecutor, backend)
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
	if sizes(vllmSpelling(), s.Args, "data-parallel-size") != 1 {
		return nil, fmt.Errorf("args: data-parallel-size: its ranks on other nodes are servers of their own, which " +
			"nodes: does not start: use replicas, or tensor and pipeline parallel sizes")
	}

	own["VLLM_HOST_IP"] = s.Span.Self().Address
	ray, err := vllmOnRay(s)
	if err != nil {
		return nil, err
	}
	if ray {
		own["RAY_ADDRESS"] = s.Span.Meeting()
		return nil, nil // the arguments name it
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

// vllmCompanions are Ray's processes on all nodes, or the servers without an
// API on the others.
func vllmCompanions(s recipe.Spec) ([]recipe.Companion, error) {
	ray, err := vllmOnRay(s)
	if err != nil {
		return nil, err
	}
	if !ray {
		return workersOf("vllm", vllmCommand, s)
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
		if rank > 0 {
			command = recipe.Remotely(s.Span, rank, command)
		}
		all = append(all, recipe.Companion{
			Name: "ray on node " + node.Name, Node: node.Name, Remote: rank > 0,
			Ready: rayStarted, Command: command,
		})
	}

	return all, nil
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
