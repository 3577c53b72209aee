package scenarios

import "slices"

// overlay lays the keys of top over those of base: a key of top wins, keys of
// base that top lacks stay, in the order of base. Keys in deep are laid over
// each other in the same way, one level down.
func overlay(base, top *node, deep map[string]func(base, top *node) *node) *node {
	if base == nil || base.kind != mapping {
		return top
	}
	if top.kind != mapping {
		return top
	}
	out := *top
	out.pairs = slices.Clone(base.pairs)
	for _, p := range top.pairs {
		at := out.index(p.key)
		if at < 0 {
			out.pairs = append(out.pairs, p)
			continue
		}
		if merge := deep[p.key]; merge != nil && p.value.kind == mapping {
			p.value = merge(out.pairs[at].value, p.value)
		}
		out.pairs[at] = p
	}
	out.measure()
	return &out
}

func overlayKeys(base, top *node) *node { return overlay(base, top, nil) }

// overlayArgs is overlay for engine arguments, where max_num_seqs and
// max-num-seqs are the same name.
func overlayArgs(base, top *node) *node {
	if base.kind != mapping {
		return top
	}
	out := *top
	out.pairs = slices.Clone(base.pairs)
	taken := map[int]bool{}
	for _, p := range top.pairs {
		at := argIndex(base, p.key)
		if at < 0 || taken[at] { // given twice in top: readArgs reports it
			out.pairs = append(out.pairs, p)
			continue
		}
		taken[at] = true
		out.pairs[at] = p
	}
	out.measure()
	return &out
}

// argIndex finds an argument by its name, whichever way it is spelled.
func argIndex(n *node, name string) int {
	return slices.IndexFunc(n.pairs, func(p pair) bool { return argName(p.key) == argName(name) })
}

// serverOverlay is how a variant's keys lie over the shared server: block.
func serverOverlay() map[string]func(base, top *node) *node {
	return map[string]func(base, top *node) *node{
		"args": overlayArgs, "sim-args": overlayArgs, "env": overlayKeys, "ready": overlayKeys, "stop": overlayKeys, "tls": overlayKeys, "container": overlayKeys,
	}
}

// loadOverlay is how a scenario's load: keys lie over those of its profile.
func loadOverlay() map[string]func(base, top *node) *node {
	return map[string]func(base, top *node) *node{
		"dataset": overlayDataset, "timeouts": overlayKeys, "goodput": overlayKeys,
		"body": overlayKeys, "headers": overlayKeys, "ramp": overlayKeys, "sampling": overlayKeys,
	}
}

// overlayDataset replaces the dataset as a whole where its kind changes: keys
// of another kind would mean nothing.
func overlayDataset(base, top *node) *node {
	if a, b := base.get("kind"), top.get("kind"); a != nil && b != nil && a.text != b.text {
		return top
	}
	return overlayKeys(base, top)
}
