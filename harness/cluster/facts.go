package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/internal/output"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/scenarios"
)

// NodeFacts are what a job asks of each of its nodes: network interfaces with their
// IP addresses, and the indices of the GPUs that it was granted there; null: they
// could not be looked for.
type NodeFacts struct {
	Node       string              `json:"node"`
	Interfaces map[string][]string `json:"interfaces"`
	GPUs       []int               `json:"gpus"`
}

// interfacesHere are those of this machine.
func interfacesHere(node string) (NodeFacts, error) {
	found := NodeFacts{Node: node, Interfaces: map[string][]string{}}
	all, err := net.Interfaces()
	if err != nil {
		return found, fmt.Errorf("list network interfaces: %w", err)
	}
	for _, i := range all {
		addresses, err := i.Addrs()
		if err != nil {
			continue // it has just gone
		}
		found.Interfaces[i.Name] = []string{}
		for _, a := range addresses {
			if network, ok := a.(*net.IPNet); ok && !network.IP.IsLinkLocalUnicast() {
				found.Interfaces[i.Name] = append(found.Interfaces[i.Name], network.IP.String())
			}
		}
	}
	return found, nil
}

// PrintFacts prints those of this node as a line of JSON.
func PrintFacts(ctx context.Context, p machine.Process, w io.Writer) error {
	node, _ := p.Lookup("SLURMD_NODENAME")
	found, err := interfacesHere(node)
	if err != nil {
		return err
	}
	if inventory, err := gpu.Detect(ctx, p.GPUOptions()); err == nil {
		found.GPUs = []int{}
		for _, d := range grantedTo(p)(inventory).GPUs {
			found.GPUs = append(found.GPUs, d.Index)
		}
	}
	return json.NewEncoder(w).Encode(found)
}

// askNodes asks the nodes of the job for their interfaces and GPUs, if a server of
// the scenario needs them to be known.
func (g *grant) askNodes(ctx context.Context, self string, sc *scenarios.Scenario) error {
	wanted := slices.ContainsFunc(sc.Variants, func(v scenarios.Variant) bool {
		return v.Nodes > 1 || v.Server.Nodes > 1 && v.Server.Interface != ""
	})
	if !wanted || len(g.nodes) < 2 {
		return nil
	}

	ctx, cancel := context.WithTimeout(ctx, sweepStep)
	defer cancel()
	count := strconv.Itoa(len(g.nodes))
	onAll := []string{"--nodes=" + count, "--ntasks=" + count, "--ntasks-per-node=1"}
	cmd := sweepCommand(ctx, self, onAll, "--addresses")
	var stdout bytes.Buffer
	var stderr output.Head
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return fmt.Errorf("ask the nodes for their interfaces and GPUs: srun bench sweep: %w: %s",
			errors.Join(err, ctx.Err()), stderr.String())
	}

	return addFacts(g.nodes, stdout.String())
}

// addFacts adds to nodes what they printed, a line each among notes of the site.
func addFacts(nodes []recipe.Node, out string) error {
	for line := range strings.Lines(out) {
		var found NodeFacts
		if json.Unmarshal([]byte(line), &found) != nil {
			continue
		}
		if at := slices.IndexFunc(nodes, func(n recipe.Node) bool { return n.Name == found.Node }); at >= 0 {
			nodes[at].Interfaces, nodes[at].GPUs = found.Interfaces, found.GPUs
		}
	}
	for _, node := range nodes {
		if node.Interfaces == nil {
			return fmt.Errorf("ask the nodes for their interfaces and GPUs: node %s did not answer; srun bench "+
				"sweep printed %q", node.Name, out)
		}
	}
	return nil
}
