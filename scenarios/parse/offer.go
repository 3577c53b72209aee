package parse

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/scenarios/parse/keys"
	"github.com/benchrig/bench/scenarios/schema"
)

// OfferSets continues what a user has begun to write after --set: keys up to the
// next dot, then the values that a key may have. source is the scenario, which
// names the variables; nil: not known.
func OfferSets(source []byte, begun string) []string {
	paths := schema.Paths(keys.File().Info())
	for _, name := range variablesOf(source) {
		paths = append(paths, schema.Path{Name: "vars." + name})
	}

	var out []string
	for _, p := range paths {
		for _, text := range offersOf(p) {
			rest, begins := strings.CutPrefix(text, begun)
			if !begins || rest == "" {
				continue
			}
			if end := strings.IndexAny(rest, ".="); end >= 0 && !strings.Contains(begun, "=") {
				text = begun + rest[:end+1]
			}
			if !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}

	return out
}

// offersOf are the texts that a key can become: "order=interleaved".
func offersOf(p schema.Path) []string {
	if p.Open {
		return []string{p.Name + "."}
	}
	texts := []string{p.Name + "="}
	for _, value := range p.Values {
		texts = append(texts, p.Name+"="+value)
	}

	return texts
}

// variablesOf are the names under vars of a scenario, as far as it can be read.
func variablesOf(source []byte) []string {
	var errs schema.Collector // what is wrong is for others to say
	root := schema.ReadTree(&errs, "", source, true)
	if root == nil || root.Kind != schema.Mapping {
		return nil
	}
	vars := root.Get("vars")
	if vars == nil {
		return nil
	}

	return vars.Keys()
}
