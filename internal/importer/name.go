package importer

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// namer gives results their variants, points and repeats.
type namer struct {
	o       Options
	pattern *regexp.Regexp
	ids     map[string]bool
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
		return nil, fmt.Errorf("pattern of variants %q: it has no group; put the part of the file name that names the variant in brackets", o.VariantPattern)
	}
	return n, nil
}

// name names all results. Those of one variant and point are repeats, unless
// their parameters differ: then these are part of the variant's name.
func (n *namer) name(all []*entry) {
	for _, e := range all {
		for _, s := range n.o.Sets {
			e.assume(s)
		}
		e.finish()
		e.ref.Variant, e.ref.Point = n.variant(e), n.point(e)
	}
	n.tellApart(all)
	counts := map[[2]string]int{}
	for _, e := range all {
		key := [2]string{e.ref.Variant, e.ref.Point}
		counts[key]++
		e.ref.Repeat, e.ref.Attempt = counts[key], 1
		e.ref.ID = n.id(fmt.Sprintf("%s_%s_r%d", slug(e.ref.Variant), slug(e.ref.Point), e.ref.Repeat))
	}
}

func (n *namer) variant(e *entry) string {
	if n.o.Variant != "" {
		return n.o.Variant
	}
	if n.pattern != nil {
		if m := n.pattern.FindStringSubmatch(e.origin.File); m != nil {
			return tidy(m[max(n.pattern.SubexpIndex("variant"), 1)])
		}
	}
	for _, name := range []string{e.variant, path.Base(e.model), strings.TrimSuffix(e.origin.File, path.Ext(e.origin.File))} {
		if name = tidy(name); name != "" && name != "." {
			return name
		}
	}
	return "imported"
}

// tidy makes a name of a text.
func tidy(text string) string {
	const longest = 80
	text = strings.Join(strings.Fields(shown(text)), " ")
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest])
	}
	return strings.Trim(text, "*`_:-. ")
}

// point is the load by its label, as scenarios make it.
func (n *namer) point(e *entry) string {
	if n.pattern != nil && n.pattern.SubexpIndex("point") > 0 {
		if m := n.pattern.FindStringSubmatch(e.origin.File); m != nil && m[n.pattern.SubexpIndex("point")] != "" {
			return tidy(m[n.pattern.SubexpIndex("point")])
		}
	}
	if e.point != "" {
		return tidy(e.point)
	}
	var parts []string
	if c := e.asked.MaxConcurrency; c != nil {
		parts = append(parts, "c"+strconv.Itoa(*c))
	}
	if r := e.asked.RequestRate; r != nil {
		parts = append(parts, "r"+strconv.FormatFloat(*r, 'g', -1, 64))
	}
	if e.asked.InputLen != nil && e.asked.OutputLen != nil && parts == nil {
		parts = append(parts, fmt.Sprintf("%d-%d", *e.asked.InputLen, *e.asked.OutputLen))
	}
	if parts == nil {
		return "all"
	}
	return strings.Join(parts, "-")
}

// tellApart adds parameters, environment and model to the names of variants
// whose results differ in them.
func (n *namer) tellApart(all []*entry) {
	if n.o.Variant != "" || n.pattern != nil {
		return
	}
	for _, of := range []func(*entry) string{
		func(e *entry) string { return paramsText(e.params) },
		func(e *entry) string { return envText(e) },
		func(e *entry) string { return path.Base(e.model) },
	} {
		first := map[[2]string]string{}
		differ := map[string]bool{}
		for _, e := range all {
			key, text := [2]string{e.ref.Variant, e.ref.Point}, of(e)
			if before, known := first[key]; known && before != text {
				differ[e.ref.Variant] = true
			}
			if _, known := first[key]; !known {
				first[key] = text
			}
		}
		for _, e := range all {
			if text := of(e); differ[e.ref.Variant] && text != "" && e.own == nil {
				e.ref.Variant = tidy(e.ref.Variant + " " + text)
			}
		}
	}
}

func envText(e *entry) string {
	var parts []string
	for name, value := range e.env {
		parts = append(parts, name+"="+value)
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

var (
	notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
	hyphens    = regexp.MustCompile(`-{2,}`)
)

// slug is a name for a folder.
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

// id is a name that no other step has.
func (n *namer) id(name string) string {
	for i := 2; n.ids[strings.ToLower(name)]; i++ {
		name = fmt.Sprintf("%s-%d", strings.TrimRight(strings.TrimRight(name, "0123456789"), "-"), i)
	}
	n.ids[strings.ToLower(name)] = true
	return name
}
