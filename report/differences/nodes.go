package differences

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// NodeParts shows what the machines of a run did, where there were several.
func NodeParts(run *results.Run) []table.Piece {
	nodes := map[string]bool{}
	for _, r := range run.Results() {
		if r.Node != "" {
			nodes[r.Node] = true
		}
	}

	if len(nodes) < 2 {
		return nil
	}

	p := table.Piece{Title: "Nodes", Notes: nodeFacts(run)}
	cells := compare.CellsOf(run.Manifest, run.Results())
	c := table.Table{Columns: []table.Column{
		table.Words("figure"), table.Words("node"), table.Numbers("n", "starts"),
		table.Numbers("against other nodes", "means"), table.Numbers("P of all", "nodes"),
	}}
	for _, f := range versus.DefaultFigures(run.Results()) {
		effect, ok := compare.NodeEffectOf(cells, f, 1)
		if !ok {
			continue
		}
		for i, n := range effect.Nodes {
			title, chance := "", ""
			if i == 0 {
				title, chance = f.Title, fmt.Sprintf("%.3f", effect.P)
			}
			c.Rows = append(c.Rows, table.NewRow(title, text.Clean(n.Node), fmt.Sprint(n.Lives),
				versus.ChangeText(&n.Deviation), chance))
		}
	}

	p.Table = c
	p.Intro = []string{"Steps ran on " + strings.Join(text.CleanAll(slices.Sorted(maps.Keys(nodes))), ", ") + ". "}
	if len(c.Rows) == 0 {
		p.Intro[0] += "No variant ran on two nodes at one load point, so nodes and variants cannot be separated: use " +
			"slurm.nodes: spread and more repeats."
	} else {
		p.Intro[0] += "P: the probability of differences this large if the server starts of each variant were " +
			"assigned to its nodes at random; below 0.05 the nodes themselves make a difference."
	}

	return []table.Piece{p}
}

// nodeFacts lists the facts of machines by which the nodes of a run differ.
func nodeFacts(run *results.Run) []string {
	values := map[string]map[string][]string{} // fact -> value -> nodes
	for _, p := range run.Parts {
		m, ok := versus.MachineOf(p.Environment)
		if !ok {
			continue
		}
		host, facts := cmp.Or(m.Node, m.Host.Name), m.Facts()
		delete(facts, "host")
		for name, value := range facts {
			if values[name] == nil {
				values[name] = map[string][]string{}
			}
			values[name][value] = text.AppendNew(values[name][value], host)
		}
	}

	var lines []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if len(values[name]) < 2 {
			continue
		}
		var parts []string
		for _, value := range slices.Sorted(maps.Keys(values[name])) {
			parts = append(parts, fmt.Sprintf("%s on %s", cmp.Or(text.Clean(value), versus.NotKnown),
				strings.Join(text.CleanAll(values[name][value]), ", ")))
		}
		lines = append(lines, "nodes differ in "+text.Clean(name)+": "+strings.Join(parts, "; "))
	}

	return lines
}
