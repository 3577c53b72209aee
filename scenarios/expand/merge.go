package expand

import (
	"slices"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// Overlay lays the keys of top over those of base: a key of top wins, keys of
// base that top lacks stay, in the order of base. Keys in deep are laid over
// each other in the same way, one level down. A key of top with nothing behind
// it, where base has a mapping or a list, has nothing of its own and changes
// nothing; null, written out, removes what base has.
func Overlay(base, top *schema.Node, deep map[string]func(base, top *schema.Node) *schema.Node) *schema.Node {
	if base == nil || base.Kind != schema.Mapping {
		return top
	}
	if top.Kind != schema.Mapping {
		return top
	}

	out := *top
	out.Pairs = slices.Clone(base.Pairs)
	for _, p := range top.Pairs {
		at := out.Index(p.Key)
		if at < 0 {
			out.Pairs = append(out.Pairs, p)
			continue
		}
		if had := out.Pairs[at].Value.Kind; p.Value.Empty() && (had == schema.Mapping || had == schema.List) {
			continue
		}
		if merge := deep[p.Key]; merge != nil && p.Value.Kind == schema.Mapping {
			p.Value = merge(out.Pairs[at].Value, p.Value)
		}
		out.Pairs[at] = p
	}

	out.Measure()
	return &out
}

func overlayKeys(base, top *schema.Node) *schema.Node { return Overlay(base, top, nil) }

// overlayArgs is overlay for engine arguments, where max_num_seqs and
// max-num-seqs are the same name.
func overlayArgs(base, top *schema.Node) *schema.Node {
	if base.Kind != schema.Mapping {
		return top
	}

	out := *top
	out.Pairs = slices.Clone(base.Pairs)
	taken := map[int]bool{}
	for _, p := range top.Pairs {
		at := argIndex(base, p.Key)
		if at < 0 || taken[at] { // given twice in top: readArgs reports it
			out.Pairs = append(out.Pairs, p)
			continue
		}
		taken[at] = true
		out.Pairs[at] = p
	}

	out.Measure()
	return &out
}

// argIndex finds an argument by its name, whichever way it is spelled.
func argIndex(n *schema.Node, name string) int {
	return slices.IndexFunc(n.Pairs, func(p schema.Pair) bool {
		return scenarios.ArgName(p.Key) == scenarios.ArgName(name)
	})
}

// ServerOverlay is how a variant's keys override the shared server: block.
func ServerOverlay() map[string]func(base, top *schema.Node) *schema.Node {
	return map[string]func(base, top *schema.Node) *schema.Node{
		"args": overlayArgs, "sim-args": overlayArgs, "env": overlayKeys, "ready": overlayKeys, "stop": overlayKeys,
		"tls": overlayKeys, "container": overlayKeys,
	}
}

// LoadOverlay is how a scenario's load: keys override those of its profile.
func LoadOverlay() map[string]func(base, top *schema.Node) *schema.Node {
	return map[string]func(base, top *schema.Node) *schema.Node{
		"dataset": overlayDataset, "timeouts": overlayKeys, "goodput": overlayKeys,
		"body": overlayKeys, "headers": overlayKeys, "ramp": overlayKeys, "sampling": overlayKeys,
	}
}

// overlayDataset replaces the dataset as a whole where its kind changes: keys
// of another kind would mean nothing.
func overlayDataset(base, top *schema.Node) *schema.Node {
	if a, b := base.Get("kind"), top.Get("kind"); a != nil && b != nil && a.Text != b.Text {
		return top
	}
	return overlayKeys(base, top)
}
