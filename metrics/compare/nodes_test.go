package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/results"
)

// onNodes is a cell of one life a value, on nodes in turn.
func onNodes(variant string, nodes []string, values ...float64) Cell {
	c := Cell{Variant: variant, Point: "c1"}
	for i, v := range values {
		c.Steps = append(c.Steps, &results.Result{
			Step: results.StepRef{ID: fmt.Sprint(variant, i), Variant: variant, Point: "c1"}, Node: nodes[i%len(nodes)],
			Verdict: results.OK,
			Figures: &results.Figures{OutputThroughput: new(v)},
		})
	}
	c.Counted = c.Steps
	return c
}

func throughput() catalog.Figure { return catalog.Must("output_throughput") }

func TestNodeEffect(t *testing.T) {
	two := []string{"n1", "n2"}
	effect, ok := NodeEffectOf([]Cell{
		onNodes("a", two, 90, 110, 90, 110, 90, 110),
		onNodes("b", two, 180, 220, 180, 220, 180, 220),
		onNodes("c", []string{"n3"}, 1, 1000), // one machine says nothing about itself
	}, throughput(), 1)
	if !ok || len(effect.Nodes) != 2 {
		t.Fatalf("NodeEffectOf = %+v, %v, want n1 and n2", effect, ok)
	}
	for i, want := range []float64{-0.1, 0.1} {
		if n := effect.Nodes[i]; n.Lives != 6 || math.Abs(n.Deviation-want) > 1e-9 {
			t.Errorf("node %d = %+v, want 6 lives, %g", i, n, want)
		}
	}
	// Of the deals of two arms of 3 and 3, 2 in 20 x 20 are as extreme: the one
	// seen and its mirror image.
	if effect.P < 0.002 || effect.P > 0.009 {
		t.Errorf("P = %g, want about 2/400", effect.P)
	}
	if _, ok := NodeEffectOf([]Cell{onNodes("a", two[:1], 1, 2, 3)}, throughput(), 1); ok {
		t.Error("NodeEffectOf one machine = ok, want none")
	}
}

func TestNodeEffectRarelyCriesWolf(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	const runs, alpha = 100, 0.05
	wrong := 0
	for i := range runs {
		values := func(mean float64) (v []float64) {
			for range 6 {
				v = append(v, mean*(1+0.05*random.NormFloat64()))
			}
			return v
		}
		nodes := []string{"n1", "n2", "n3"}
		effect, _ := NodeEffectOf([]Cell{onNodes("a", nodes, values(100)...), onNodes("b", nodes, values(300)...)},
			throughput(), uint64(i))
		if effect.P < alpha {
			wrong++
		}
	}
	// Binomial(100, 0.05): more than 12 has a chance of 0.2 %.
	if wrong > 12 {
		t.Errorf("%d of %d runs on equal machines have P < %g, want about %g", wrong, runs, alpha, runs*alpha)
	}
}

func TestOnOtherNodes(t *testing.T) {
	one, both, unknown := []string{"n1"}, []string{"n1", "n2"}, []string{""}
	for _, test := range []struct {
		a, b []string
		want bool
	}{{one, []string{"n2"}, true}, {one, both, false}, {one, unknown, false}, {one, one, false}} {
		if got := OnOtherNodes(onNodes("a", test.a, 1, 1), onNodes("b", test.b, 1, 1)); got != test.want {
			t.Errorf("OnOtherNodes(%v, %v) = %v, want %v", test.a, test.b, got, test.want)
		}
	}
}
