package keys

import (
	"slices"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

const (
	mostConfirmations = 100
	mostCandidates    = 1000
	leastKept         = 0.1
)

// figureKey is the key figure, whose value names a figure.
func figureKey[T any](doc string, at func(*T) *string) schema.Field[T] {
	return schema.FreeKey("figure", doc, schema.Simple(schema.TextShape), func(r *schema.Reader, n *schema.Node, t *T) {
		if name, ok := r.Text(n); ok && readFigure(r, name, n.Pos) {
			*at(t) = name
		}
	})
}

// Tune are the keys of tune:.
func Tune() schema.Block[scenarios.Tune] {
	return schema.Block[scenarios.Tune]{
		Name: "under tune:", Doc: "Finds the variant with the best figure among those that meet every target. " +
			"Variants usually come from a matrix over arguments or environment variables. Each round starts the " +
			"servers of all remaining variants and keeps the better part. Further rounds measure the best variant " +
			"beside the baseline; only these confirm it. A variant whose server does not start is dropped. Rounds " +
			"take the place of repeats. See docs/tuning.md.",
		Example: "\nfigure: output_throughput\nslo: {p90_ttft_ms: 1000, p90_tpot_ms: 50}\nkeep: 50%\nconfirm: 3\n" +
			"candidates: 16\n",
		Fields: []schema.Field[scenarios.Tune]{
			figureKey("Figure to optimize, as named in summary.csv. With several load points, each "+
				"variant counts at the one where it met the targets with its best figure.",
				func(t *scenarios.Tune) *string { return &t.Figure }).Must(),
			sloKey("Targets by figure, as in search:.",
				func(t *scenarios.Tune) *[]scenarios.Condition { return &t.SLO }),
			schema.FreeKey("keep", "Share of the variants that go on after a round, 10% to 90%.",
				schema.Simple(schema.PercentShape), func(r *schema.Reader, n *schema.Node, t *scenarios.Tune) {
					v, ok := r.Percent(n)
					if ok && (v < leastKept || v > 1-leastKept) {
						r.Fail(n.Pos, "keep is %s, expected 10%% to 90%%", n.Shown())
					}
					t.Keep = v
				}).Or("50%"),
			schema.WholeKey("confirm", "Rounds with the best variant and the baseline, after all choices are made.",
				schema.Between(2, mostConfirmations), func(t *scenarios.Tune) *int { return &t.Confirm }).Or("3"),
			schema.WholeKey("candidates", "Variants at most: of more, the baseline and others drawn by seed. 0: all.",
				schema.Between(0, mostCandidates), func(t *scenarios.Tune) *int { return &t.Candidates }).Or("0"),
		},
	}
}

// Blame are the keys of blame:.
func Blame() schema.Block[scenarios.Blame] {
	return schema.Block[scenarios.Blame]{
		Name: "under blame:", Doc: "Finds which of the settings in which two variants differ make the difference. " +
			"The variants that run are mixtures of the two, a fractional factorial: each setting's effect is " +
			"estimated from all server starts. Repeats are 3 and order is shuffled unless given. See docs/blame.md.",
		Example: "\nfrom: v018\nto: v019\nfigure: output_throughput\ngroups: {attention: [args.attention-backend, " +
			"env.VLLM_USE_TRITON]}\n",
		Fields: []schema.Field[scenarios.Blame]{
			schema.TextKey("from", "Variant whose settings are the starting point.",
				func(b *scenarios.Blame) *string { return &b.From }).Must(),
			schema.TextKey("to", "Variant whose settings are exchanged for those of from.",
				func(b *scenarios.Blame) *string { return &b.To }).Must(),
			figureKey("Figure to explain, as named in summary.csv.",
				func(b *scenarios.Blame) *string { return &b.Figure }).Or("output_throughput"),
			schema.FreeKey("groups", "Settings that are exchanged together, by the name of the group: those that "+
				"only work together. Settings are written as args.NAME, env.NAME, container.image or binary.",
				schema.MapOf(schema.Texts()), readGroups),
		},
	}
}

func readGroups(r *schema.Reader, n *schema.Node, b *scenarios.Blame) {
	if n.Kind != schema.Mapping {
		r.Wrong(n, schema.MapOf(schema.Texts()))
		return
	}
	for _, pair := range n.Pairs {
		settings, ok := r.Texts(pair.Value)
		if ok && len(settings) == 0 {
			r.Fail(pair.Value.Pos, "group %s is an empty list", pair.Key)
		}
		for _, other := range b.Groups {
			for _, path := range settings {
				if slices.Contains(other.Settings, path) {
					r.Fail(pair.Pos, "%s is in two groups, %s and %s", path, other.Name, pair.Key)
				}
			}
		}
		b.Groups = append(b.Groups, scenarios.BlameGroup{Name: pair.Key, Settings: settings})
	}
}

const (
	fewestRounds = 3
	mostRounds   = 100
)

// Bisect are the keys of bisect:.
func Bisect() schema.Block[scenarios.Bisect] {
	return schema.Block[scenarios.Bisect]{
		Name: "under bisect:", Doc: "Finds the version with which a figure changed, by a binary search. The variants " +
			"are the versions in their order, usually a matrix over a path, an image or a binary. Each round " +
			"starts the two versions between which the change lies and one in between; a version counts to one " +
			"side once a sequential test has established it. A version that does not start is skipped. Rounds " +
			"take the place of repeats; order is shuffled unless given. See docs/bisect.md.",
		Example: "\nfigure: output_throughput\nfrom: v0.15.0\nto: v0.19.0\nstarts: 5\nconfirm: 3\n",
		Fields: []schema.Field[scenarios.Bisect]{
			figureKey("Figure that changed, as named in summary.csv.",
				func(b *scenarios.Bisect) *string { return &b.Figure }).Or("output_throughput"),
			schema.TextKey("from", "First version, a variant.", func(b *scenarios.Bisect) *string { return &b.From }).
				DefaultNote("the first variant"),
			schema.TextKey("to", "Last version, a variant.", func(b *scenarios.Bisect) *string { return &b.To }).
				DefaultNote("the last variant"),
			schema.WholeKey("starts", "Maximum number of starts of a version for one decision. If they do not decide "+
				"it, the search ends with \"cannot tell\".", schema.Between(fewestRounds, mostRounds),
				func(b *scenarios.Bisect) *int { return &b.Starts }).Or("5"),
			schema.WholeKey("confirm", "Rounds with the two versions around the change, after all choices are made.",
				schema.Between(2, mostRounds), func(b *scenarios.Bisect) *int { return &b.Confirm }).Or("3"),
		},
	}
}
