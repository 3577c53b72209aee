package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// RecipeWarnings lists what is known to be wrong with the recipes of a
// scenario, for some versions of their engines or for all, each with its place.
func RecipeWarnings(sc *scenarios.Scenario) []string {
	if sc.RunsProgram() {
		return nil
	}
	var all findings
	for _, v := range sc.Variants {
		kind, known := engines.Lookup(v.Server.Launcher)
		if !known {
			continue
		}
		spec := BaseSpec(sc, v, kind, Machine{})
		for _, c := range engines.Conflicts(kind, spec, "") {
			if c.Room > 0 && fitsIn(sc, c.Room) {
				continue
			}
			pos := v.Pos
			for _, arg := range v.Server.Args {
				if arg.Name == c.Arg && arg.Pos.Line > 0 {
					pos = arg.Pos
				}
			}
			all.add(pos, v.Name, c.Message)
		}
		if text := engines.Downloads(kind, spec); text != "" {
			all.add(v.Pos, v.Name, text)
		}
		if SpeculatesAlone(sc, v) {
			all.add(v.Pos, v.Name, AloneText)
		}
	}
	var lines []string
	for _, f := range all {
		lines = append(lines, f.warning())
	}

	return lines
}

// fitsIn reports whether every request of the scenario is known to fit, with its answer
// and a chat template, in so many tokens.
func fitsIn(sc *scenarios.Scenario, tokens int) bool {
	const template = 64

	longest := func(l scenarios.Load) int {
		answers := l.Dataset.RangeRatio
		if r := l.Dataset.OutputRangeRatio; r != nil {
			answers = *r
		}
		return int(float64(l.InputLen)*(1+l.Dataset.RangeRatio)+float64(l.OutputLen)*(1+answers)) + l.Dataset.PrefixLen
	}
	for _, point := range sc.Points {
		loads := point.OfClass
		if len(loads) == 0 {
			loads = []scenarios.Load{point}
		}
		for _, l := range loads {
			known := l.Dataset.Kind == "random" && l.InputLen > 0 && l.OutputLen > 0
			if !known || longest(l)+template > tokens {
				return false
			}
		}
	}

	return len(sc.Points) > 0
}

// finding is what was found about some variants, at the place of the first.
type finding struct {
	pos      schema.Pos
	variants []string
	text     string
}

// findings are in the order in which they came, each text once.
type findings []finding

func (all *findings) add(pos schema.Pos, variant, text string) {
	at := slices.IndexFunc(*all, func(f finding) bool { return f.text == text })
	if at < 0 {
		at = len(*all)
		*all = append(*all, finding{pos: pos, text: text})
	}
	if f := &(*all)[at]; !slices.Contains(f.variants, variant) {
		f.variants = append(f.variants, variant)
	}
}

func (f finding) warning() string {
	if len(f.variants) == 1 {
		return fmt.Sprintf("%s: variant %s: %s", f.pos, f.variants[0], f.text)
	}
	return fmt.Sprintf("%s: variants %s: %s", f.pos, strings.Join(f.variants, ", "), f.text)
}

// pathPrefix precedes the API's paths of a server that runs
// already, where the scenario has it in its endpoints and not in the base URL.
func pathPrefix(sc *scenarios.Scenario, kind engines.Kind, baseURL string) string {
	if !kind.External || len(sc.Points) == 0 {
		return ""
	}
	api, known := dialect.OfPath(sc.Points[0].Endpoint)
	prefix := strings.TrimSuffix(sc.Points[0].Endpoint, api.DefaultPath)
	prefix = strings.TrimSuffix(strings.TrimRight(prefix, "/"), "/v1")
	if known && !strings.HasSuffix(strings.TrimRight(baseURL, "/"), prefix) {
		return prefix
	}
	return ""
}

// SpeculatesAlone reports whether a variant decodes speculatively and no other
// of its model and launcher does without, under the same load.
func SpeculatesAlone(sc *scenarios.Scenario, variant scenarios.Variant) bool {
	drafts := func(v scenarios.Variant) (drafts, known bool) {
		kind := v.Server.Kind()
		drafts, _, known = engines.Drafts(kind, Args(v.Server.Args))
		return drafts, known
	}
	if does, _ := drafts(variant); !does {
		return false
	}
	return !slices.ContainsFunc(sc.Variants, func(v scenarios.Variant) bool {
		does, known := drafts(v)
		return known && !does && v.Server.Launcher == variant.Server.Launcher && v.Server.Model == variant.Server.Model
	})
}

// AloneText is the warning about a variant for which SpeculatesAlone holds.
const AloneText = "no variant of this scenario runs the same model without speculation: at high concurrency " +
	"speculation can lose, and only such a baseline shows it"
