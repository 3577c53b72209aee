package harness

import (
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/scenarios"
)

// testScenario has variants a, b and points c1, c2 with two repeats.
func testScenario(order scenarios.Order, restart scenarios.Restart) *scenarios.Scenario {
	return &scenarios.Scenario{
		Name:     "t",
		Variants: []scenarios.Variant{testVariant("a"), testVariant("b")},
		Points:   []scenarios.Load{testPoint("c1", 1), testPoint("c2", 2)},
		Repeats:  2, Order: order, Restart: restart, OnFailure: scenarios.Continue,
	}
}

func testVariant(name string) scenarios.Variant {
	return scenarios.Variant{Name: name, Server: scenarios.Server{
		Launcher: "simulator", Model: "m-" + name,
		Host: "127.0.0.1",
	}}
}

func testPoint(label string, concurrency int) scenarios.Load {
	return scenarios.Load{
		Label: label, Endpoint: "/v1/completions", API: "completions", NumPrompts: 4,
		Settings:    spec.Settings{MaxConcurrency: concurrency},
		RequestRate: inf, Burstiness: 1, InputLen: 8, OutputLen: 4, MinSuccess: 1, Percentiles: []float64{50, 99},
		Dataset: scenarios.Dataset{Kind: "random", Vary: true},
	}
}
