package compare

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/results"
)

// NodeEffect says what the machines of a run did to one figure: how far server
// lives on a machine lie from the means of their own arms.
type NodeEffect struct {
	Figure string
	Nodes  []NodeShare // by name
	// P is the chance of machines that differ as much or more if the lives of
	// each arm had been dealt to its machines at random.
	P float64
}

// NodeShare is one machine's part. Only lives of arms that ran on more than one
// machine identify a machine.
type NodeShare struct {
	Node      string
	Lives     int
	Deviation float64 // mean of life / arm's mean - 1
}

// nodeLife is one server life of an arm.
type nodeLife struct {
	node      string
	deviation float64
}

// nodeOf is the machine of a server life's steps; "" where it is not known.
func nodeOf(life []*results.Result) string {
	if len(life) == 0 {
		return ""
	}
	return life[0].Node
}

// NodesOf lists the machines on which a cell's counted steps ran.
func NodesOf(c Cell) []string {
	nodes := map[string]bool{}
	for _, life := range c.ByLife() {
		if node := nodeOf(life); node != "" {
			nodes[node] = true
		}
	}
	return slices.Sorted(maps.Keys(nodes))
}

// OnOtherNodes reports whether no machine ran both cells: a difference between
// them may be one between machines.
func OnOtherNodes(a, b Cell) bool {
	of, others := NodesOf(a), NodesOf(b)
	return len(of) > 0 && len(others) > 0 && !slices.ContainsFunc(of,
		func(node string) bool { return slices.Contains(others, node) })
}

// NodeEffectOf tests a figure over all cells, each with its own mean; ok is
// false where no cell ran on two machines.
func NodeEffectOf(cells []Cell, f catalog.Figure, seed uint64) (effect NodeEffect, ok bool) {
	var samples [][]nodeLife
	for _, c := range cells {
		values := c.PerLife(f.Of)
		if len(values) < 2 || len(NodesOf(c)) < 2 {
			continue
		}
		middle := metrics.Mean(values)
		if middle == 0 {
			continue
		}
		var sample []nodeLife
		for i, life := range c.ByLife() {
			sample = append(sample, nodeLife{nodeOf(life), values[i]/middle - 1})
		}
		samples = append(samples, sample)
	}

	if samples == nil {
		return NodeEffect{}, false
	}

	shares, seen := sharesOf(samples)
	return NodeEffect{Figure: f.Name, Nodes: shares, P: dealtAtRandom(samples, seen, seed)}, true
}

// sharesOf gives the machines' deviations, and the spread between them: the sum
// of squares, each machine weighed by its lives.
func sharesOf(samples [][]nodeLife) (shares []NodeShare, between float64) {
	sums, lives := map[string]float64{}, map[string]int{}
	for _, sample := range samples {
		for _, l := range sample {
			sums[l.node] += l.deviation
			lives[l.node]++
		}
	}
	for _, node := range slices.Sorted(maps.Keys(sums)) {
		n := float64(lives[node])
		shares = append(shares, NodeShare{Node: node, Lives: lives[node], Deviation: sums[node] / n})
		between += sums[node] * sums[node] / n
	}
	return shares, between
}

// dealtAtRandom deals the lives of each arm to its machines again and counts how
// often the spread is as large as the one seen.
func dealtAtRandom(samples [][]nodeLife, seen float64, seed uint64) float64 {
	const rounds = 5000
	const rounding = 1e-12                        // sums in another order
	random := rand.New(rand.NewPCG(seed, rounds)) //nolint:gosec // a reproducible permutation, no secret
	dealt := make([][]nodeLife, len(samples))
	for i := range samples {
		dealt[i] = slices.Clone(samples[i])
	}

	asLarge := 1 // the one seen is one of the deals
	for range rounds {
		for _, sample := range dealt {
			random.Shuffle(len(sample), func(i, k int) {
				sample[i].deviation, sample[k].deviation = sample[k].deviation, sample[i].deviation
			})
		}
		if _, between := sharesOf(dealt); between >= seen*(1-rounding) {
			asLarge++
		}
	}

	return float64(asLarge) / (rounds + 1)
}
