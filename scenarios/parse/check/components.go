package check

import (
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// Components checks where the components of a variant run, which was decoded from n,
// and counts the nodes if only the components name them.
func Components(f *File, n *schema.Node, v *scenarios.Variant) {
	given := v.Nodes
	for _, part := range v.Components {
		v.Nodes = max(v.Nodes, part.Node)
	}
	if v.Nodes < 2 {
		return
	}
	if f.Scenario.On != scenarios.OnSlurm {
		f.errorf(n.KeyAt("components"), "components on %d nodes need on: slurm, since the nodes are those of a "+
			"Slurm job (bench run --on slurm)", v.Nodes)
		return
	}

	for i, item := range n.Get("components").Items {
		part := v.Components[i]
		if given > 0 && part.Node > given {
			f.errorf(item.At("node"), "component %s: node is %d, and the job has nodes: %d", part.Name, part.Node,
				given)
		}
		checkPlacedElsewhere(f, item, part)
	}
}

// checkPlacedElsewhere refuses keys of a component that bench can follow on its own
// node only.
func checkPlacedElsewhere(f *File, item *schema.Node, part scenarios.Component) {
	for _, key := range []struct {
		name  string
		given bool
	}{
		{"cpus", part.Server.CPUs != ""}, {"numa", part.Server.NUMA != ""}, {"nice", part.Server.Nice != 0},
	} {
		if key.given {
			f.errorf(item.At(key.name), "component %s: %s cannot be combined with components on several nodes",
				part.Name, key.name)
		}
	}

	if container.Options(part.Server.Container).Contained() {
		f.errorf(item.At("container"), "component %s: docker and podman start no component on another node: use "+
			"container: {engine: apptainer}, singularity, enroot, charliecloud or pyxis", part.Name)
	}
}
