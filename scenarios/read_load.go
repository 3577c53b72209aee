package scenarios

import (
	"slices"
	"strings"
)

func readEndpoint(r *reader, n *node, l *Load) {
	s, ok := r.text(n)
	known := apiNamed(s)
	switch {
	case !ok:
	case known.name != "":
		l.Endpoint = known.path
	case strings.HasPrefix(s, "/") && !strings.ContainsAny(s, " \t\r\n\x00"):
		l.Endpoint = s
	default:
		r.fail(n.pos, "endpoint is %s, expected one of %s, or a path that starts with /%s",
			n.shown(), strings.Join(apiNames(), ", "), didYouMean(s, apiNames()))
	}
}

func readBody(r *reader, n *node, l *Load) {
	if n.kind != mapping {
		r.wrong(n, mapOf(simple(anyShape)))
		return
	}
	for _, p := range n.pairs {
		if slices.Contains([]string{"model", "prompt", "messages", "inputs", "text", "input_ids", "stream"}, p.key) {
			r.fail(p.pos, "body.%s is set by bench", p.key)
		}
	}
	l.Body = n.value().(map[string]any)
}

func readHeaders(r *reader, n *node, l *Load) {
	l.Headers = readHeaderMap(r, n)
}

// notToken tells whether a rune cannot stand in the name of an HTTP header.
func notToken(c rune) bool {
	return c <= ' ' || c >= 127 || strings.ContainsRune(`()<>@,;:\"/[]?={}`, c)
}

func readGoodput(r *reader, n *node, l *Load) {
	g := goals{}
	decode(r, goodputBlock(), n, &g)
	if len(g) > 0 {
		l.Goodput = g
	}
}

func readPercentiles(r *reader, n *node, l *Load) {
	s := numberIn(between(0, 100))
	if n.kind != list || len(n.items) == 0 {
		r.wrong(n, listOf(s))
		return
	}
	for _, it := range n.items {
		v, ok := r.number(it, s)
		if ok && slices.Contains(l.Percentiles, v) {
			r.fail(it.pos, "percentile %s is listed twice", it.text)
		} else if ok {
			l.Percentiles = append(l.Percentiles, v)
		}
	}
	slices.Sort(l.Percentiles)
}
