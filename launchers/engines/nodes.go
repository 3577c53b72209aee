package engines

import (
	"fmt"

	"github.com/benchrig/bench/launchers/recipe"
)

// CompanionsOf lists what runs beside the program of a server over several
// nodes; none on one node. wrap puts a command into a container, for the node of
// that rank; nil: it runs as it is. It starts nothing.
func CompanionsOf(kind Kind, spec recipe.Spec, wrap Wrap) ([]recipe.Companion, error) {
	if !spec.Span.Several() {
		return nil, nil
	}
	if kind.Companions == nil {
		return nil, fmt.Errorf("nodes: %s cannot run over several nodes: use vllm or sglang", kind.Name)
	}

	all, err := kind.Companions(spec)
	if err != nil {
		return nil, err
	}
	for i, c := range all {
		if wrap != nil {
			if c.Command, err = wrap(c.Rank, c.Command); err != nil {
				return nil, err
			}
		}
		if c.Remote() {
			c.Command = recipe.Remotely(spec.Span, c.Rank, c.Command)
		}
		all[i] = c
	}
	return all, nil
}

// Wrap puts a command into a container on the node of that rank.
type Wrap func(rank int, command recipe.Command) (recipe.Command, error)

// onRank is the recipe for another node, whose GPUs Slurm names there.
func onRank(s recipe.Spec, rank int) recipe.Spec {
	s.Span.Rank = rank
	s.GPUs = nil
	return s
}

// workersOf are the servers of a kind on the other nodes: the same command
// line with another rank.
func workersOf(kind string, command func(recipe.Spec) (recipe.Command, error), s recipe.Spec) ([]recipe.Companion,
	error,
) {
	var all []recipe.Companion
	for rank := 1; rank < len(s.Span.Nodes); rank++ {
		c, err := command(onRank(s, rank))
		if err != nil {
			return nil, err
		}
		node := s.Span.Nodes[rank].Name
		all = append(all, recipe.Companion{Name: kind + " on node " + node, Node: node, Rank: rank, Command: c})
	}
	return all, nil
}

// notByHand refuses variables that differ from node to node.
func notByHand(s recipe.Spec, names ...string) error {
	for _, name := range names {
		if _, set := s.Env[name]; set && s.Span.Several() {
			return fmt.Errorf("env: %s is set by bench for each node: remove it", name)
		}
	}
	return nil
}
