package scenarios

import (
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/scenarios/schema"
)

// Limits against values that grow out of each other.
const (
	maxNodes = 50_000  // nodes of one expanded value
	maxText  = 1 << 16 // bytes of one expanded text
)

// scope fills ${} in values: from the matrix of one variant, then vars, and
// from the environment.
type scope struct {
	p      *parser
	params map[string]*schema.Node // matrix values of the variant; nil outside
	keep   []string                // names that are left for the launcher to fill in
}

// variables are the vars: block, each value expanded when it is first read.
type variables struct {
	raw  *schema.Node // mapping
	done map[string]*schema.Node
	busy []string
	used map[string]bool
}

// expand gives n with every ${} filled in. Errors are reported, the values
// concerned come back broken.
func (s *scope) expand(n *schema.Node) *schema.Node {
	switch {
	case n.Kind == schema.Text && strings.Contains(n.Text, "${"):
		return s.text(n)
	case n.Kind != schema.List && n.Kind != schema.Mapping:
		return n
	}
	c := *n
	c.Items, c.Pairs = nil, nil
	for _, it := range n.Items {
		c.Items = append(c.Items, s.expand(it))
	}
	for _, p := range n.Pairs {
		c.Pairs = append(c.Pairs, schema.Pair{Key: p.Key, Pos: p.Pos, Value: s.expand(p.Value)})
	}
	c.Measure()
	if c.Size > maxNodes {
		s.p.errs.Add(n.Pos, "this value grows to more than %d values", maxNodes)
		return &schema.Node{Pos: n.Pos}
	}
	return &c
}

// text expands one text. A text that is exactly one ${name} takes the value as
// it is, whatever its kind.
func (s *scope) text(n *schema.Node) *schema.Node {
	parts, err := pieces(n.Text)
	if err != nil {
		s.p.errs.Add(n.Pos, "%v", err)
		return &schema.Node{Pos: n.Pos}
	}
	if len(parts) == 1 && parts[0].name && !slices.Contains(s.keep, parts[0].text) {
		v := *s.lookup(parts[0].text, n.Pos)
		v.Pos = n.Pos
		return &v
	}
	out := &schema.Node{Kind: schema.Text, Pos: n.Pos, Size: 1, Secret: n.Secret}
	var b strings.Builder
	for _, part := range parts {
		if !part.name {
			b.WriteString(part.text)
			continue
		}
		if slices.Contains(s.keep, part.text) {
			b.WriteString("${" + part.text + "}")
			continue
		}
		v := s.lookup(part.text, n.Pos)
		if v.Kind == schema.Broken || !s.insertable(v, part.text, n.Pos) {
			return &schema.Node{Pos: n.Pos}
		}
		out.Secret = out.Secret || v.Secret
		b.WriteString(v.Text)
	}
	if b.Len() > maxText {
		s.p.errs.Add(n.Pos, "this text grows to more than %d bytes", maxText)
		return &schema.Node{Pos: n.Pos}
	}
	out.Text = b.String()
	return out
}

func (s *scope) insertable(v *schema.Node, name string, pos schema.Pos) bool {
	if v.Scalar() {
		return true
	}
	hint := ""
	if v.Kind == schema.Mapping && len(v.Pairs) > 0 {
		hint = ", write for example ${" + name + "." + v.Pairs[0].Key + "}"
	}
	s.p.errs.Add(pos, "${%s} is %s and cannot stand inside text%s", name, v.Shown(), hint)
	return false
}

// lookup finds the value of a name; broken, and reported, if there is none.
func (s *scope) lookup(name string, pos schema.Pos) *schema.Node {
	if env, ok := strings.CutPrefix(name, "env:"); ok {
		return s.p.env(env, pos)
	}
	root, rest, dotted := strings.Cut(name, ".")
	v, ok := s.params[root]
	if !ok {
		v, ok = s.p.variable(root)
	}
	if !ok {
		s.p.errs.Add(pos, "unknown name ${%s}%s", root, s.unknownHint(root))
		return &schema.Node{Pos: pos}
	}
	for at := root; dotted && v.Kind != schema.Broken; {
		var key string
		key, rest, dotted = strings.Cut(rest, ".")
		sub := v.Get(key)
		if sub == nil {
			what := schema.DidYouMean(key, v.Keys())
			if v.Kind != schema.Mapping {
				what = ", it is " + v.Shown()
			}
			s.p.errs.Add(pos, "${%s} has no part %q%s", at, key, what)
			return &schema.Node{Pos: pos}
		}
		v, at = sub, at+"."+key
	}
	return v
}

func (s *scope) unknownHint(name string) string {
	known := append(slices.Collect(maps.Keys(s.params)), s.p.vars.raw.Keys()...)
	slices.Sort(known)
	switch {
	case s.p.matrixNames[name]:
		return ": it is a matrix name, known within its variant only"
	case schema.Suggest(name, known) != "":
		return schema.DidYouMean(name, known)
	}
	return ": declare it under vars: or give --set vars." + name + "=VALUE"
}

// variable is the expanded value of a name under vars.
func (p *parser) variable(name string) (*schema.Node, bool) {
	raw := p.vars.raw.Get(name)
	if raw == nil {
		return nil, false
	}
	p.vars.used[name] = true
	if v, ok := p.vars.done[name]; ok {
		return v, true
	}
	if i := slices.Index(p.vars.busy, name); i >= 0 {
		circle := append(slices.Clone(p.vars.busy[i:]), name)
		p.errs.Add(raw.Pos, "vars.%s is made of itself: %s", name, strings.Join(circle, " -> "))
		return &schema.Node{Pos: raw.Pos}, true
	}
	p.vars.busy = append(p.vars.busy, name)
	v := (&scope{p: p}).expand(raw)
	p.vars.busy = p.vars.busy[:len(p.vars.busy)-1]
	p.vars.done[name] = v
	return v, true
}

// env reads one environment variable and records that it was read.
func (p *parser) env(name string, pos schema.Pos) *schema.Node {
	value, ok := "", false
	if p.opts.LookupEnv != nil {
		value, ok = p.opts.LookupEnv(name)
	}
	if !ok && p.simulating {
		value, ok = missingEnv, true
	}
	if !ok {
		p.errs.Add(pos, "environment variable %s is not set", name)
		return &schema.Node{Pos: pos}
	}
	n := &schema.Node{Kind: schema.Text, Text: value, Pos: pos, Loose: true, Size: 1, Secret: secrets.IsName(name)}
	if k := schema.Classify(value); k != schema.Null {
		n.Kind = k
	}
	use := EnvUse{Name: name, Value: value, Secret: n.Secret}
	if n.Secret {
		p.secret(value)
		use.Value = hidden
	}
	p.envUsed[name] = use
	return n
}

// secret notes a value that must never be shown.
func (p *parser) secret(value string) {
	if len(value) >= minSecret {
		p.secrets[value] = true
	}
}
