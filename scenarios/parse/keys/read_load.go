package keys

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/toolcall"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

func readEndpoint(r *schema.Reader, n *schema.Node, l *scenarios.Load) {
	s, ok := r.Text(n)
	known, err := dialect.APINamed(s)
	switch {
	case !ok:
	case err == nil:
		l.Endpoint = known.DefaultPath
	case strings.HasPrefix(s, "/") && !strings.ContainsAny(s, " \t\r\n\x00"):
		l.Endpoint = s
	default:
		r.Fail(n.Pos, "endpoint is %s, expected one of %s, or a path that starts with /%s",
			n.Shown(), strings.Join(dialect.Names(), ", "), schema.DidYouMean(s, dialect.Names()))
	}
}

func readBody(r *schema.Reader, n *schema.Node, l *scenarios.Load) {
	l.Body = readObject(r, n)
	for _, p := range n.Pairs {
		if slices.Contains([]string{"model", "prompt", "messages", "inputs", "text", "input_ids", "stream"}, p.Key) {
			r.Fail(p.Pos, "body.%s is set by bench", p.Key)
		}
	}
}

// readObject reads a mapping as it will be written in JSON; nil after a report.
func readObject(r *schema.Reader, n *schema.Node) map[string]any {
	if n.Kind != schema.Mapping {
		r.Wrong(n, schema.AnyMap())
		return nil
	}
	return n.Value().(map[string]any)
}

func readTools(r *schema.Reader, n *schema.Node, l *scenarios.Load) {
	if n.Kind != schema.List || len(n.Items) == 0 {
		r.Wrong(n, schema.ListOf(schema.Simple(schema.AnyShape)))
		return
	}
	tools := n.Value().([]any)
	raw, err := json.Marshal(tools)
	if err == nil {
		_, err = toolcall.Parse(raw)
	}
	if err != nil {
		r.Fail(n.Pos, "tools: %v", err)
		return
	}
	l.Tools = tools
}

func readGoodput(r *schema.Reader, n *schema.Node, l *scenarios.Load) {
	g := goals{}
	schema.Decode(r, Goodput(), n, &g)
	if len(g) > 0 {
		l.Goodput = g
	}
}

func readPercentiles(r *schema.Reader, n *schema.Node, l *scenarios.Load) {
	s := schema.NumberIn(schema.Between(0, 100))
	if n.Kind != schema.List || len(n.Items) == 0 {
		r.Wrong(n, schema.ListOf(s))
		return
	}
	for _, it := range n.Items {
		v, ok := r.Number(it, s)
		if ok && slices.Contains(l.Percentiles, v) {
			r.Fail(it.Pos, "percentile %s is listed twice", it.Text)
		} else if ok {
			l.Percentiles = append(l.Percentiles, v)
		}
	}
	slices.Sort(l.Percentiles)
}
