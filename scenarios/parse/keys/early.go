package keys

import (
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/scenarios/schema"
)

// Early are the keys of load.early:.
func Early() schema.Block[spec.Early] {
	margins := schema.MapOf(schema.Simple(schema.PercentShape))

	return schema.Block[spec.Early]{
		Name: "under early:", Doc: "When to end a pass before its last request because its answer is known. " +
			"bench then sends nothing more and waits for the requests in flight. The result gives the reason; " +
			"requests that were not sent do not count as failed. docs/search.md explains the rules.",
		Example: "\noverload: true\nuntil: {p99_ttft: 5%, p50_e2el: 2%}\n",
		Fields: []schema.Field[spec.Early]{
			schema.FlagKey("overload", "End once it is established that the server does not keep up with "+
				"request-rate. The step is suspect, and search: and prune: count it as overloaded.",
				func(e *spec.Early) *bool { return &e.Overload }).Or("false"),
			schema.FreeKey("until", "End once each of these percentiles of ttft, tpot or e2el is known within the "+
				"given margin, relative to itself, at 95 % confidence.", margins, readMargins),
		},
	}
}

func readMargins(r *schema.Reader, n *schema.Node, e *spec.Early) {
	if n.Kind != schema.Mapping || len(n.Pairs) == 0 {
		r.Wrong(n, schema.MapOf(schema.Simple(schema.PercentShape)))
		return
	}
	for _, pair := range n.Pairs {
		share, ok := r.Percent(pair.Value)
		if !ok {
			continue
		}
		margin, err := spec.ParseMargin(pair.Key, share)
		if err != nil {
			r.Fail(pair.Pos, "%v", err)
			continue
		}
		e.Until = append(e.Until, margin)
	}
}
