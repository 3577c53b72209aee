package keys

import (
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/scenarios/schema"
)

// compats are the versions of vLLM's client that can be followed.
func compats() []string { return []string{"vllm", "vllm-0.10", "vllm-0.6"} }

// Ramp are the keys of ramp:.
func Ramp() schema.Block[spec.Ramp] {
	return schema.Block[spec.Ramp]{
		Name: "under ramp:", Doc: "The rate rises with each request, as in vLLM's client: each gap is drawn at the " +
			"request's own rate.",
		Example: "\nstrategy: linear\nstart: 1\nend: 20\n",
		Fields: []schema.Field[spec.Ramp]{
			schema.EnumKey("strategy", "How the rate rises.", []string{"linear", "exponential"},
				func(r *spec.Ramp) *string { return &r.Strategy }).
				DefaultNote("no ramp"),
			schema.NumberKey("start", "Requests per second at the first request.", schema.NotNegative(),
				func(r *spec.Ramp) *float64 { return &r.Start }),
			schema.NumberKey("end", "Requests per second at the last request.", schema.Positive(false),
				func(r *spec.Ramp) *float64 { return &r.End }),
		},
	}
}

// Sampling are the keys of sampling:.
func Sampling() schema.Block[spec.Sampling] {
	return schema.Block[spec.Sampling]{
		Name: "under sampling:", Doc: "Parameters that are not given are not sent, so the server decides. " +
			"temperature is a key of load: itself.",
		Example: "\ntop-p: 0.95\nseed: 1\n",
		Fields: []schema.Field[spec.Sampling]{
			maybeNumber("top-p", "Nucleus sampling: smallest set of tokens with this total probability.",
				schema.Limits{Above: true, Max: 1}, func(s *spec.Sampling) **float64 { return &s.TopP }),
			maybeWhole("top-k", "Number of most likely tokens to sample from.", schema.Between(1, schema.MaxCount),
				func(s *spec.Sampling) **int { return &s.TopK }),
			maybeNumber("min-p", "Minimum probability, relative to the most likely token.", schema.Between(0, 1),
				func(s *spec.Sampling) **float64 { return &s.MinP }),
			maybeNumber("frequency-penalty", "Penalty for tokens by how often they have appeared.",
				schema.Between(-2, 2),
				func(s *spec.Sampling) **float64 { return &s.FrequencyPenalty }),
			maybeNumber("presence-penalty", "Penalty for tokens that have appeared.", schema.Between(-2, 2),
				func(s *spec.Sampling) **float64 { return &s.PresencePenalty }),
			maybeNumber("repetition-penalty", "Factor that penalizes repetition; 1: no penalty.",
				schema.Positive(false),
				func(s *spec.Sampling) **float64 { return &s.RepetitionPenalty }),
			maybeWhole("seed", "Seed of the server's sampling.", schema.Between(0, schema.MaxCount),
				func(s *spec.Sampling) **int { return &s.Seed }),
		},
	}
}

// maybeNumber is a number that is nil where it is not given.
func maybeNumber[T any](key, doc string, l schema.Limits, at func(*T) **float64) schema.Field[T] {
	s := schema.NumberIn(l)
	return schema.FreeKey(key, doc, s, func(r *schema.Reader, n *schema.Node, into *T) {
		if v, ok := r.Number(n, s); ok {
			*at(into) = &v
		}
	})
}

// maybeWhole is a whole number that is nil where it is not given.
func maybeWhole[T any](key, doc string, l schema.Limits, at func(*T) **int) schema.Field[T] {
	s := schema.WholeIn(l)
	return schema.FreeKey(key, doc, s, func(r *schema.Reader, n *schema.Node, into *T) {
		if v, ok := r.Whole(n, s); ok {
			whole := int(v)
			*at(into) = &whole
		}
	})
}

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
