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
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/scenarios"
)

// NodeInterfaces are the network interfaces of a node with their IP addresses.
type NodeInterfaces struct {
	Node       string              `json:"node"`
	Interfaces map[string][]string `json:"interfaces"`
}

// InterfacesHere are those of this machine.
func InterfacesHere(node string) (NodeInterfaces, error) {
	found := NodeInterfaces{Node: node, Interfaces: map[string][]string{}}
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

// PrintInterfaces prints those of this node as a line of JSON.
func PrintInterfaces(w io.Writer, lookup func(string) (string, bool)) error {
	node, _ := lookup("SLURMD_NODENAME")
	found, err := InterfacesHere(node)
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(found)
}

// findInterfaces asks the nodes of the job for their interfaces, if a server of
// the scenario is to use one.
func (g *grant) findInterfaces(ctx context.Context, self string, sc *scenarios.Scenario) error {
	wanted := slices.ContainsFunc(sc.Variants, func(v scenarios.Variant) bool {
		return v.Server.Nodes > 1 && v.Server.Interface != ""
	})
	if !wanted || len(g.nodes) < 2 {
		return nil
	}

	ctx, cancel := context.WithTimeout(ctx, sweepStep)
	defer cancel()
	count := strconv.Itoa(len(g.nodes))
	cmd := exec.CommandContext(ctx, "srun", "--overlap", "--nodes="+count, "--ntasks="+count, //nolint:gosec // srun by name
		"--ntasks-per-node=1", "--cpu-bind=none", "--export=ALL", self, "sweep", "--addresses")
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true} // Ctrl-C is for bench
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return fmt.Errorf("ask the nodes for their network interfaces: srun bench sweep: %w: %s",
			errors.Join(err, ctx.Err()), strings.TrimSpace(stderr.String()))
	}

	return addInterfaces(g.nodes, stdout.String())
}

// addInterfaces adds to nodes what they printed, a line each among notes of the site.
func addInterfaces(nodes []recipe.Node, out string) error {
	for line := range strings.Lines(out) {
		var found NodeInterfaces
		if json.Unmarshal([]byte(line), &found) != nil {
			continue
		}
		if at := slices.IndexFunc(nodes, func(n recipe.Node) bool { return n.Name == found.Node }); at >= 0 {
			nodes[at].Interfaces = found.Interfaces
		}
	}
	for _, node := range nodes {
		if node.Interfaces == nil {
			return fmt.Errorf("ask the nodes for their network interfaces: node %s did not answer; srun bench "+
				"sweep printed %q", node.Name, out)
		}
	}
	return nil
}
