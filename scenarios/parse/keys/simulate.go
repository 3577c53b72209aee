package keys

import (
	"fmt"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// Simulate are the keys of simulate:.
func Simulate() schema.Block[scenarios.Simulation] {
	return schema.Block[scenarios.Simulation]{
		Name: "under simulate:", Doc: "bench run --sim, and plan and validate, put the simulator in the place of " +
			"every engine. No GPU is used, hooks, checks and " +
			"notifications are skipped, and all figures are marked as simulated. Arguments that the simulator has no " +
			"use for are dropped, and plan names them.",
		Example: "\ndevice: mi300x\nspeed: 20\n",
		Fields: []schema.Field[scenarios.Simulation]{
			schema.FlagKey("on", "Use the simulator; --sim sets it.",
				func(s *scenarios.Simulation) *bool { return &s.On }).DefaultNote("false"),
			schema.EnumKey("device", "Device whose speed and memory to assume; --sim-device sets it.",
				scenarios.SimDevices(),
				func(s *scenarios.Simulation) *string { return &s.Device }).
				DefaultNote("by name, description and vars; else " + scenarios.DefaultSimDevice),
			schema.NumberKey("speed", "Speed relative to the simulated engine. Figures are those at this speed, "+
				"except those of llama-bench. --sim-speed sets it.", schema.Positive(false),
				func(s *scenarios.Simulation) *float64 { return &s.Speed }).
				DefaultNote(fmt.Sprint(scenarios.DefaultSimSpeed)),
		},
	}
}

// Simulating reports from the tree alone whether the scenario will be simulated.
func Simulating(root *schema.Node) bool {
	n := root.Get("simulate")
	return n != nil && n.Kind == schema.Mapping && n.Get("on") != nil && n.Get("on").Kind == schema.Boolean &&
		n.Get("on").Value().(bool)
}
