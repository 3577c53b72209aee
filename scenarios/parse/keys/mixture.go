package keys

import (
	"slices"
	"time"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// PerClass reports whether a class may have a key of load: for itself.
func PerClass(key string) bool {
	return slices.Contains([]string{
		"dataset", "input-len", "output-len", "lora", "priority", "ignore-eos", "temperature", "stop", "sampling",
		"body", "tools", "goodput",
	}, key)
}

// ClassHead is what a class has that a load has not.
type ClassHead struct {
	Name  string
	Share float64 // weight
}

// Class are the keys of a class of load.classes. Those that a load has too are
// left to the reader of the load.
func Class() schema.Block[ClassHead] {
	b := schema.Block[ClassHead]{
		Name: "in a class of load.classes", Doc: "A kind of request. A key that it does not have is that of load: " +
			"(of dataset, sampling and body key by key, unless the dataset is of another kind). docs/load.md " +
			"explains the figures of each class.",
		Example: "\nname: batch\nshare: 1\ninput-len: 2048\noutput-len: 256\npriority: 10\n",
		Fields: []schema.Field[ClassHead]{
			schema.TextKey("name", "Names the class in results and reports.",
				func(c *ClassHead) *string { return &c.Name }).Must(),
			schema.NumberKey("share", "Weight of the class: its requests are this part of the sum of all classes' "+
				"shares.", schema.Positive(false), func(c *ClassHead) *float64 { return &c.Share }).Or("1"),
		},
	}
	for _, f := range append(trafficFieldsWithoutClasses(), requestFields()...) {
		if PerClass(f.Key) {
			b.Fields = append(b.Fields, schema.UnreadKey[ClassHead](f.Key, f.Doc, f.Shape))
		}
	}
	return b
}

// readAdapters reads lora:, names of adapters with their weights.
func readAdapters(r *schema.Reader, n *schema.Node, l *scenarios.Load) {
	weight := schema.NumberIn(schema.Positive(false))
	if n.Kind != schema.Mapping || len(n.Pairs) == 0 {
		r.Wrong(n, schema.MapOf(weight))
		return
	}

	for _, pair := range n.Pairs {
		if share, ok := r.Number(pair.Value, weight); ok {
			l.Adapters = append(l.Adapters, spec.Adapter{Name: pair.Key, Share: share})
		}
	}
	spec.NormalizeAdapters(l.Adapters)
}

// Stage are the keys of a stage of load.stages.
func Stage() schema.Block[spec.Stage] {
	return schema.Block[spec.Stage]{
		Name: "in a stage of load.stages", Doc: "A part of the load, by time. Either every stage has a request-rate, " +
			"or every stage has a max-concurrency. docs/load.md explains the figures of each stage.",
		Example: "\nname: peak\nrequest-rate: 20\nduration: 30s\n",
		Fields: []schema.Field[spec.Stage]{
			schema.TextKey("name", "Names the stage in results and reports.",
				func(s *spec.Stage) *string { return &s.Name }).DefaultNote("its number"),
			maybeNumber("request-rate", "Requests per second; 0: none.", schema.NotNegative(),
				func(s *spec.Stage) **float64 { return &s.RequestRate }),
			schema.WholeKey("max-concurrency", "Number of requests that are kept in flight: whenever one ends, "+
				"another is sent.", schema.Between(1, schema.MaxCount),
				func(s *spec.Stage) *int { return &s.MaxConcurrency }),
			schema.DurationKey("duration", "How long the stage lasts.",
				func(s *spec.Stage) *time.Duration { return &s.Duration }).Must(),
		},
	}
}

// Probes are the keys of load.probes:.
func Probes() schema.Block[spec.Probes] {
	return schema.Block[spec.Probes]{
		Name: "under probes:", Doc: "Small requests beside the load, sent at times that do not depend on " +
			"it. They have figures of their own and never count in those of the load: they show what the load does " +
			"to the requests of others.",
		Example: "\nrequest-rate: 2\n",
		Fields: []schema.Field[spec.Probes]{
			schema.NumberKey("request-rate", "Probes per second.", schema.Limits{Above: true, Max: spec.MaxProbeRate},
				func(p *spec.Probes) *float64 { return &p.RequestRate }).Must(),
			schema.WholeKey("input-len", "Number of prompt tokens.", schema.Between(1, 100_000),
				func(p *spec.Probes) *int { return &p.InputLen }).Or("8"),
			schema.WholeKey("output-len", "Number of output tokens to request.", schema.Between(1, 10_000),
				func(p *spec.Probes) *int { return &p.OutputLen }).Or("1"),
			maybeWhole("priority", "Sent as priority in the request body.", schema.Between(0, schema.MaxCount),
				func(p *spec.Probes) **int { return &p.Priority }).DefaultNote("none is sent"),
		},
	}
}
