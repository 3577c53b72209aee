package keys

import (
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// Axis is a load key that a sweep may vary.
type Axis struct {
	Key   string
	Short string // its part of a label
	Value func(scenarios.Load) string
}

// Axes in the order of a label's parts.
func Axes() []Axis {
	whole := func(at func(scenarios.Load) int) func(scenarios.Load) string {
		return func(l scenarios.Load) string { return strconv.Itoa(at(l)) }
	}
	return []Axis{
		{"input-len", "in", scenarios.InputLenLabel},
		{"output-len", "out", whole(func(l scenarios.Load) int { return l.OutputLen })},
		{"request-rate", "rate", func(l scenarios.Load) string {
			return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(l.RequestRate, 'g', -1, 64), "+"))
		}},
		{"max-concurrency", "c", whole(func(l scenarios.Load) int { return l.MaxConcurrency })},
		{"num-prompts", "n", whole(func(l scenarios.Load) int { return l.NumPrompts })},
	}
}

func axisNames() []string {
	var names []string
	for _, a := range Axes() {
		names = append(names, a.Key)
	}
	return names
}

// sweepShape is the shape of sweep:, made of the shapes of the swept keys.
func sweepShape() schema.Shape {
	grid, point := Sweep()
	return schema.OneOf(schema.BlockOf(grid), schema.ListOf(schema.BlockOf(point)))
}

// Sweep are the tables of a grid and of a listed point.
func Sweep() (grid, point *schema.BlockInfo) {
	grid = &schema.BlockInfo{
		Name: "under sweep:", Doc: "A mapping from load keys to lists of values: every combination is a point, the " +
			"first key varying slowest.",
		Example: "max-concurrency: [1, 4, 16]\ninput-len: [128, 1024]\n",
	}

	point = &schema.BlockInfo{
		Name: "in a point of sweep:", Doc: "In a list of points, each is a mapping of load keys.",
		Example: "label: short\ninput-len: 128\noutput-len: 64\nmax-concurrency: 8\n",
		Keys: []schema.Info{{
			Key: "label", Doc: "Names the point in tables and step ids.",
			Shape: schema.Simple(schema.TextShape), Note: "made of what the sweep varies",
		}},
	}

	for _, f := range trafficFieldsWithoutSweep() {
		if slices.Contains(axisNames(), f.Key) {
			grid.Keys = append(grid.Keys, schema.Info{Key: f.Key, Doc: f.Doc, Shape: schema.ListOf(f.Shape)})
			point.Keys = append(point.Keys, schema.Info{Key: f.Key, Doc: f.Doc, Shape: f.Shape})
		}
	}

	return grid, point
}
