package importer

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/importer/commands"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/importer/stated"
	"github.com/benchrig/bench/internal/text"
)

// namer gives results their variants, points and repeats.
type namer struct {
	o        Options
	pattern  *regexp.Regexp
	ids      map[string]bool
	variants []string // before they were renamed
}

func newNamer(o Options) (*namer, error) {
	n := &namer{o: o, ids: map[string]bool{}}
	if o.VariantPattern == "" {
		return n, nil
	}
	var err error
	if n.pattern, err = regexp.Compile(o.VariantPattern); err != nil {
		return nil, fmt.Errorf("pattern of variants: %w", err)
	}
	if n.pattern.NumSubexp() == 0 {
		return nil, fmt.Errorf("pattern of variants %q: it has no group; put the part of the file name that names "+
			"the variant in brackets", o.VariantPattern)
	}
	return n, nil
}

// name names all results. Those of one variant and point are repeats; what
// differs between them otherwise becomes part of the name of the variant, or of
// the point where it is a setting of the load. Copies are left out.
func (n *namer) name(all []*stated.Entry) []*stated.Entry {
	shareEngines(all)
	for _, e := range all {
		for _, s := range n.o.Sets {
			e.Assume(s.Key, s.Value)
		}
		e.Finish()
		e.Ref.Variant, e.Ref.Point = n.variant(e), n.point(e)
	}

	n.makeNamesUnique(all)
	n.rename(all)
	all = withoutCopies(all)

	counts := map[[2]string]int{}
	for _, e := range all {
		key := [2]string{e.Ref.Variant, e.Ref.Point}
		counts[key]++
		e.Ref.Repeat, e.Ref.Attempt = counts[key], 1
		e.Ref.ID = n.id(fmt.Sprintf("%s_%s_r%d", slug(e.Ref.Variant), slug(e.Ref.Point), e.Ref.Repeat))
	}
	return all
}

// rename gives variants the names that the user asks for.
func (n *namer) rename(all []*stated.Entry) {
	for _, e := range all {
		n.variants = text.AppendNew(n.variants, e.Ref.Variant)
		for _, r := range n.o.Renames {
			if e.Ref.Variant == r.From {
				e.Ref.Variant = r.To
				break
			}
		}
	}
}

// checkRenames refuses a new name for a variant that no file has.
func (n *namer) checkRenames() error {
	const most = 10 // that are named
	for _, r := range n.o.Renames {
		if !slices.Contains(n.variants, r.From) {
			return fmt.Errorf("import: rename %q: no variant has this name, want one of %s", r.From+"="+r.To,
				strings.Join(n.variants[:min(most, len(n.variants))], ", "))
		}
	}
	return nil
}

// partOf returns the part of a file's name that a group of the pattern matches, or the
// group of a number where none has the name; "": none does.
func (n *namer) partOf(file, group string, otherwise int) string {
	if n.pattern == nil {
		return ""
	}
	m, at := n.pattern.FindStringSubmatch(file), max(n.pattern.SubexpIndex(group), otherwise)
	if m == nil || at < 0 {
		return ""
	}
	return m[at]
}

// variant names the variant of a result by what the user wants, else by what the file
// states.
func (n *namer) variant(e *stated.Entry) string {
	if n.o.Variant != "" {
		return n.o.Variant
	}
	for _, name := range []string{
		n.partOf(e.Origin.File, "variant", 1), e.Variant, path.Base(e.Model),
		strings.TrimSuffix(e.Origin.File, path.Ext(e.Origin.File)),
	} {
		if name = tidy(name); name != "" && name != "." {
			return name
		}
	}

	return "imported"
}

// tidy turns a text into a name: one line, at most 80 characters, no emphasis.
func tidy(text string) string {
	const longest = 80
	text = strings.Join(strings.Fields(plain.Shown(text)), " ")
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest])
	}
	return strings.Trim(text, "*`_:-. ")
}

// point names the load of a result, as scenarios name load points.
func (n *namer) point(e *stated.Entry) string {
	if point := cmp.Or(n.partOf(e.Origin.File, "point", -1), e.Point); point != "" {
		return tidy(point)
	}

	var parts []string
	if r := e.Asked.RequestRate; r != nil {
		parts = append(parts, "rate"+strconv.FormatFloat(*r, 'g', -1, 64))
	}
	if c := e.Asked.MaxConcurrency; c != nil {
		parts = append(parts, "c"+strconv.Itoa(*c))
	}
	if parts == nil {
		parts = lengths(e)
	}
	if parts == nil {
		return everything
	}

	return strings.Join(parts, "-")
}

// everything is the point of a result whose load is not known.
const everything = "all"

// lengths returns the parts of a point's name that give the lengths of prompts and
// answers; nil: not known.
func lengths(e *stated.Entry) []string {
	if e.Asked.InputLen == nil || e.Asked.OutputLen == nil {
		return nil
	}
	return []string{"in" + strconv.Itoa(*e.Asked.InputLen), "out" + strconv.Itoa(*e.Asked.OutputLen)}
}

var (
	notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
	hyphens    = regexp.MustCompile(`-{2,}`)
)

// slug turns a text into the name of a folder.
func slug(text string) string {
	const longest = 60
	s := strings.Trim(hyphens.ReplaceAllString(notInNames.ReplaceAllString(text, "-"), "-"), "-.")
	if len(s) > longest {
		s = s[:longest]
	}
	if s == "" {
		return "x"
	}
	return s
}

// id returns the name, with a number if another step has it.
func (n *namer) id(name string) string {
	unique := name
	for i := 2; n.ids[strings.ToLower(unique)]; i++ {
		unique = fmt.Sprintf("%s-%d", name, i)
	}
	n.ids[strings.ToLower(unique)] = true
	return unique
}

// shareEngines gives results without an engine the one that the files name for others
// of the same name and model.
func shareEngines(all []*stated.Entry) {
	of := map[[2]string]string{}
	key := func(e *stated.Entry) [2]string { return [2]string{e.Variant, e.Model} }
	for _, e := range all {
		if e.Engine == "" {
			e.Engine = commands.EngineIn(e.Variant)
		}
		switch before, known := of[key(e)]; {
		case e.Engine == "" || known && before == e.Engine:
		case known:
			of[key(e)] = "" // two engines: nothing is guessed
		default:
			of[key(e)] = e.Engine
		}
	}

	for _, e := range all {
		if e.Engine == "" && e.Variant != "" && e.Model != "" {
			e.Engine = of[key(e)]
		}
	}
}
