package plan

import (
	"fmt"
	"math/rand/v2"
	"regexp"

	"github.com/benchrig/bench/scenarios"
)

// cell is one step before it has a name: indices into the scenario.
type cell struct {
	variant, point, repeat int // repeat from 1
}

// cells lists the steps of a scenario in the order they will run. Where every
// point has a server of its own, variants take turns at each point; otherwise
// a variant runs through its points while its server is up.
func cells(sc *scenarios.Scenario) []cell {
	var out []cell
	restart := restartOf(sc)
	perPoint := restart == scenarios.RestartPoint || restart == scenarios.RestartStep
	switch {
	case sc.Order == scenarios.Grouped && restart == scenarios.RestartPoint:
		nest(len(sc.Variants), len(sc.Points), sc.Repeats, func(v, p, r int) { out = append(out, cell{v, p, r + 1}) })
	case sc.Order == scenarios.Grouped:
		nest(len(sc.Variants), sc.Repeats, len(sc.Points), func(v, r, p int) { out = append(out, cell{v, p, r + 1}) })
	case perPoint:
		turns := turnOrder(sc)
		nest(sc.Repeats, len(sc.Points), len(sc.Variants),
			func(r, p, i int) { out = append(out, cell{turns[r][i], p, r + 1}) })
	default:
		turns := turnOrder(sc)
		nest(sc.Repeats, len(sc.Variants), len(sc.Points),
			func(r, i, p int) { out = append(out, cell{turns[r][i], p, r + 1}) })
	}

	return out
}

func nest(a, b, c int, visit func(i, j, k int)) {
	for i := range a {
		for j := range b {
			for k := range c {
				visit(i, j, k)
			}
		}
	}
}

// turnOrder is the order of the variants within each repeat.
func turnOrder(sc *scenarios.Scenario) [][]int {
	rng := rand.New(rand.NewPCG(sc.Seed, 0))
	turns := make([][]int, sc.Repeats)
	for r := range turns {
		turns[r] = make([]int, len(sc.Variants))
		for i := range turns[r] {
			turns[r][i] = i
		}
		if sc.Order == scenarios.Shuffled {
			rng.Shuffle(len(turns[r]), func(i, j int) { turns[r][i], turns[r][j] = turns[r][j], turns[r][i] })
		}
	}
	return turns
}

// sameLife reports whether step b, which follows a directly, may use a's server.
func sameLife(restart scenarios.Restart, a, b cell) bool {
	if a.variant != b.variant {
		return false
	}
	switch restart {
	case scenarios.RestartNever:
		return true
	case scenarios.RestartVariant:
		return a.repeat == b.repeat
	case scenarios.RestartPoint:
		return a.point == b.point
	default:
		return false
	}
}

var unsafeInName = regexp.MustCompile(`[^A-Za-z0-9.+-]+`)

// namer makes folder names that are safe, stable and unique.
type namer map[string]int

func (n namer) name(format string, args ...any) string {
	base := unsafeInName.ReplaceAllString(fmt.Sprintf(format, args...), "_")
	n[base]++
	if n[base] == 1 {
		return base
	}
	return n.name("%s+%d", base, n[base])
}
