package harness

import (
	"math"
	"testing"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/scenarios/parse"
)

// Before anything is measured a run foresees what bench plan printed.
func TestOutlookBeginsWithThePlansEstimate(t *testing.T) {
	sc, err := parse.Source("s.yaml", []byte(`
schema: 1
name: s
server: {launcher: simulator, model: simulated/Llama-3.2-1B-Instruct, args: {sim-speed: 10}}
variants: [{name: a}, {name: b, args: {enforce-eager: true}}]
load:
  dataset: {kind: random}
  input-len: 16
  output-len: 100
  num-prompts: 64
  sweep: {max-concurrency: [1, 4, 16]}
repeats: 3
`), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(sc, plan.Machine{Self: "/usr/bin/bench"})
	if err != nil {
		t.Fatal(err)
	}

	l := newLedger(p, nil, true)
	b := &budget{plan: p, ledger: l, decider: &decider{scenario: sc, ledger: l}, pace: newPace()}
	expected, rest := b.outlook(p.Lives[0], nil, false)
	if math.Abs(expected+rest-p.EstimateS) > 1e-6 || p.EstimateS <= 0 {
		t.Errorf("the run foresees %g s, and the plan %g s", expected+rest, p.EstimateS)
	}
}
