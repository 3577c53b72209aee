package plan

import (
	"math"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/scenarios"
)

// sampleScenario has variants a, b and points c1, c2 with two repeats.
func sampleScenario(order scenarios.Order, restart scenarios.Restart) *scenarios.Scenario {
	return &scenarios.Scenario{
		Name:     "t",
		Variants: []scenarios.Variant{sampleVariant("a"), sampleVariant("b")},
		Points:   []scenarios.Load{samplePoint("c1", 1), samplePoint("c2", 2)},
		Repeats:  2, Order: order, Restart: restart, OnFailure: scenarios.Continue,
	}
}

func sampleVariant(name string) scenarios.Variant {
	return scenarios.Variant{Name: name, Server: scenarios.Server{
		Launcher: "simulator", Model: "m-" + name,
		Host: "127.0.0.1",
	}}
}

func samplePoint(label string, concurrency int) scenarios.Load {
	return scenarios.Load{
		Label: label, Endpoint: "/v1/completions", API: "completions", NumPrompts: 4,
		Settings:    spec.Settings{MaxConcurrency: concurrency},
		RequestRate: math.Inf(1), Burstiness: 1, InputLen: 8, OutputLen: 4, MinSuccess: 1,
		Percentiles: []float64{50, 99},
		Dataset:     scenarios.Dataset{Kind: "random", Vary: true},
	}
}
