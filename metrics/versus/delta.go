package versus

import (
	"cmp"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// Delta is a change between a side and the baseline, and where it holds.
type Delta struct {
	Change
	Variants []string `json:"variants"` // that it is about; null: the whole run
}

// NotKnown stands for what a side does not state.
const NotKnown = "not known"

// runChanges lists what differs between two runs as wholes.
func runChanges(base, with *results.Run) []Delta {
	facts := func(run *results.Run) map[string]string {
		version := run.Manifest.Bench
		if run.Manifest.Imported != nil {
			version = "none: imported"
		}
		return map[string]string{"bench version": version, "method": methodName(run.Manifest.Method)}
	}

	changes := mapChanges("", facts(base), facts(with))
	b, w := RunFacts(base), RunFacts(with)
	switch {
	case b == nil && w == nil:
	case b == nil:
		changes = append(changes, Change{"machine", NotKnown, machineName(w)})
	case w == nil:
		changes = append(changes, Change{"machine", machineName(b), NotKnown})
	default:
		changes = append(changes, mapChanges("", unknownOf(base.Manifest.Imported != nil, b),
			unknownOf(with.Manifest.Imported != nil, w))...)
	}

	var all []Delta
	for _, c := range changes {
		all = append(all, Delta{Change: c})
	}

	return all
}

func methodName(name string) string {
	if name == "" {
		return results.MethodServing
	}
	return name
}

func machineName(facts map[string]string) string {
	return strings.Trim(facts["host"]+", "+facts["GPUs"], ", ")
}

// cellChanges lists what differs between two cells: recipe, engine, client,
// load, prompts.
func cellChanges(base, with compare.Cell) []Change {
	changes := RecipeChanges(base, with)
	if b, w := WithServers(base), WithServers(with); b != nil && w != nil {
		changes = append(changes, mapChanges("", engineFacts(b), engineFacts(w))...)
		changes = append(changes, imageChange(b.Servers[0], w.Servers[0])...)
	}

	b, w := anyStep(base), anyStep(with)
	if b == nil || w == nil {
		return changes
	}

	changes = append(changes, clientChanges(b, w)...)
	changes = append(changes, loadChanges(b, w)...)
	if promptsDiffer(base, with) != "" {
		changes = append(changes, Change{
			"prompts, SHA-256", Short(hashesOf(base.Counted)[0]),
			Short(hashesOf(with.Counted)[0]),
		})
	}

	return append(changes, mapChanges("", extrapolationFacts(base), extrapolationFacts(with))...)
}

func anyStep(c compare.Cell) *results.Result {
	for _, r := range slices.Concat(c.Counted, c.Steps) {
		if r.Asked.API != "" || r.OfProgram() || r.Imported != nil {
			return r
		}
	}
	return nil
}

func engineFacts(r *results.Result) map[string]string {
	s := r.Servers[0]
	return unknownOf(r.Imported != nil, map[string]string{"engine version": s.Version, "model": s.Model})
}

// imageChange distinguishes two images, also under one name: a tag moves. A server
// without an image differs by its command line already.
func imageChange(base, with results.Server) []Change {
	b, w := base.EnteredImage(), with.EnteredImage()
	if b == nil || w == nil || b.ID == w.ID {
		return nil
	}
	return []Change{{"image", imageText(*b), imageText(*w)}}
}

// imageText is the beginning of an image's digest, or of its id where no registry
// knows it, with the version of its label.
func imageText(image results.ImageInfo) string {
	const enough = 12 // hexadecimal digits
	sum := strings.TrimPrefix(cmp.Or(image.Digest, image.ID), "sha256:")
	version := image.Labels["org.opencontainers.image.version"]

	return strings.TrimSpace(sum[:min(enough, len(sum))] + " " + text.Clean(version))
}

func clientChanges(b, w *results.Result) []Change {
	if b.MeasuredByBench() && w.MeasuredByBench() {
		return mapChanges("client ", clientFacts(b), clientFacts(w))
	}
	return mapChanges("", map[string]string{"client": clientName(b)}, map[string]string{"client": clientName(w)})
}

// clientName says which program drove the load.
func clientName(r *results.Result) string {
	switch {
	case r.MeasuredByBench():
		return "bench"
	case r.Imported.Reading == "":
		return NotKnown
	}
	return "vLLM's, of " + string(r.Imported.Reading)
}

func clientFacts(r *results.Result) map[string]string {
	if r.Client == nil {
		return nil
	}
	return map[string]string{"transport": r.Client.Transport, "stamps": r.Client.Stamps}
}

func extrapolationFacts(c compare.Cell) map[string]string {
	text := "measured"
	if e := c.Extrapolated(); e != nil {
		text = ExtrapolatedText(*e)
	}
	return map[string]string{"extrapolation": text}
}

// gather adds the changes of a variant to those known: what holds for several
// variants is one thing.
func gather(all []Delta, variant string, changes []Change) []Delta {
	for _, c := range changes {
		at := slices.IndexFunc(all, func(d Delta) bool { return d.Change == c && d.Variants != nil })
		if at < 0 {
			at = len(all)
			all = append(all, Delta{Change: c, Variants: []string{}})
		}
		all[at].Variants = text.AppendNew(all[at].Variants, variant)
	}
	return all
}

// things counts what differs: the same argument, variable or fact is one thing,
// whatever its values. What one side does not state is not known to differ.
func things(all []Delta) int { return len(namesOf(all)) }

// namesOf are the things that are known to differ, each once.
func namesOf(all []Delta) []string {
	var names []string
	for _, d := range all {
		if d.From != NotKnown && d.To != NotKnown {
			names = text.AppendNew(names, d.What)
		}
	}

	return names
}

// Between lists what is recorded to differ between two runs as far as it touches
// one cell of each, and says why their figures measure different things; "": they
// do not.
func Between(base, with *results.Run, b, w compare.Cell) (differ []Change, never string) {
	for _, d := range runChanges(base, with) {
		differ = append(differ, d.Change)
	}
	return append(differ, cellChanges(b, w)...), settingsDiffer(b, w)
}
