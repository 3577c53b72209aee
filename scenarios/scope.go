package scenarios

import (
	"maps"
	"slices"
	"strings"
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
	params map[string]*node // matrix values of the variant; nil outside
	keep   []string         // names that are left for the launcher to fill in
}

// variables are the vars: block, each value expanded when it is first read.
type variables struct {
	raw  *node // mapping
	done map[string]*node
	busy []string
	used map[string]bool
}

// expand gives n with every ${} filled in. Errors are reported, the values
// concerned come back broken.
func (s *scope) expand(n *node) *node {
	switch {
	case n.kind == text && strings.Contains(n.text, "${"):
		return s.text(n)
	case n.kind != list && n.kind != mapping:
		return n
	}
	c := *n
	c.items, c.pairs = nil, nil
	for _, it := range n.items {
		c.items = append(c.items, s.expand(it))
	}
	for _, p := range n.pairs {
		c.pairs = append(c.pairs, pair{p.key, p.pos, s.expand(p.value)})
	}
	c.measure()
	if c.size > maxNodes {
		s.p.errs.add(n.pos, "this value grows to more than %d values", maxNodes)
		return &node{pos: n.pos}
	}
	return &c
}

// text expands one text. A text that is exactly one ${name} takes the value as
// it is, whatever its kind.
func (s *scope) text(n *node) *node {
	parts, err := pieces(n.text)
	if err != nil {
		s.p.errs.add(n.pos, "%v", err)
		return &node{pos: n.pos}
	}
	if len(parts) == 1 && parts[0].name && !slices.Contains(s.keep, parts[0].text) {
		v := *s.lookup(parts[0].text, n.pos)
		v.pos = n.pos
		return &v
	}
	out := &node{kind: text, pos: n.pos, size: 1, secret: n.secret}
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
		v := s.lookup(part.text, n.pos)
		if v.kind == broken || !s.insertable(v, part.text, n.pos) {
			return &node{pos: n.pos}
		}
		out.secret = out.secret || v.secret
		b.WriteString(v.text)
	}
	if b.Len() > maxText {
		s.p.errs.add(n.pos, "this text grows to more than %d bytes", maxText)
		return &node{pos: n.pos}
	}
	out.text = b.String()
	return out
}

func (s *scope) insertable(v *node, name string, pos Pos) bool {
	if v.scalar() {
		return true
	}
	hint := ""
	if v.kind == mapping && len(v.pairs) > 0 {
		hint = ", write for example ${" + name + "." + v.pairs[0].key + "}"
	}
	s.p.errs.add(pos, "${%s} is %s and cannot stand inside text%s", name, v.shown(), hint)
	return false
}

// lookup finds the value of a name; broken, and reported, if there is none.
func (s *scope) lookup(name string, pos Pos) *node {
	if env, ok := strings.CutPrefix(name, "env:"); ok {
		return s.p.env(env, pos)
	}
	root, rest, dotted := strings.Cut(name, ".")
	v, ok := s.params[root]
	if !ok {
		v, ok = s.p.variable(root)
	}
	if !ok {
		s.p.errs.add(pos, "unknown name ${%s}%s", root, s.unknownHint(root))
		return &node{pos: pos}
	}
	for at := root; dotted && v.kind != broken; {
		var key string
		key, rest, dotted = strings.Cut(rest, ".")
		sub := v.get(key)
		if sub == nil {
			what := didYouMean(key, v.keys())
			if v.kind != mapping {
				what = ", it is " + v.shown()
			}
			s.p.errs.add(pos, "${%s} has no part %q%s", at, key, what)
			return &node{pos: pos}
		}
		v, at = sub, at+"."+key
	}
	return v
}

func (s *scope) unknownHint(name string) string {
	known := append(slices.Collect(maps.Keys(s.params)), s.p.vars.raw.keys()...)
	slices.Sort(known)
	switch {
	case s.p.matrixNames[name]:
		return ": it is a matrix name, known within its variant only"
	case suggest(name, known) != "":
		return didYouMean(name, known)
	}
	return ": declare it under vars: or give --set vars." + name + "=VALUE"
}

// variable is the expanded value of a name under vars.
func (p *parser) variable(name string) (*node, bool) {
	raw := p.vars.raw.get(name)
	if raw == nil {
		return nil, false
	}
	p.vars.used[name] = true
	if v, ok := p.vars.done[name]; ok {
		return v, true
	}
	if i := slices.Index(p.vars.busy, name); i >= 0 {
		circle := append(slices.Clone(p.vars.busy[i:]), name)
		p.errs.add(raw.pos, "vars.%s is made of itself: %s", name, strings.Join(circle, " -> "))
		return &node{pos: raw.pos}, true
	}
	p.vars.busy = append(p.vars.busy, name)
	v := (&scope{p: p}).expand(raw)
	p.vars.busy = p.vars.busy[:len(p.vars.busy)-1]
	p.vars.done[name] = v
	return v, true
}

// env reads one environment variable and records that it was read.
func (p *parser) env(name string, pos Pos) *node {
	value, ok := "", false
	if p.opts.LookupEnv != nil {
		value, ok = p.opts.LookupEnv(name)
	}
	if !ok && p.simulating {
		value, ok = missingEnv, true
	}
	if !ok {
		p.errs.add(pos, "environment variable %s is not set", name)
		return &node{pos: pos}
	}
	n := &node{kind: text, text: value, pos: pos, loose: true, size: 1, secret: secretName(name)}
	if k := classify(value); k != null {
		n.kind = k
	}
	use := EnvUse{Name: name, Value: value, Secret: n.secret}
	if n.secret {
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
