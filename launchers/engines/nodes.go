package engines

import (
	"fmt"

	"github.com/benchrig/bench/launchers/recipe"
)

// CompanionsOf lists what runs beside the program of a server over several
// nodes; none on one node. It starts nothing.
func CompanionsOf(kind Kind, spec recipe.Spec) ([]recipe.Companion, error) {
	if !spec.Span.Several() {
		return nil, nil
	}
	if kind.Companions == nil || spec.Container.Image != "" {
		return nil, fmt.Errorf("nodes: %s in this form does not lie over several nodes: use vllm or sglang without a "+
			"container", kind.Name)
	}
	return kind.Companions(spec)
}

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
		all = append(all, recipe.Companion{
			Name: kind + " on node " + node, Node: node, Remote: true,
			Command: recipe.Remotely(s.Span, rank, c),
		})
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
