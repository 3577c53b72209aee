// Package expand turns the tree of a scenario file into the trees of its
// variants: it applies --set overrides, fills in ${name} and ${env:NAME},
// multiplies matrices, and lays a variant's keys over those that are shared.
//
// What goes in: a tree of nodes, overrides, an environment look-up. What comes
// out: trees without ${}, which environment variables were read, and which
// values are secret. It knows the names of no keys but those it merges.
package expand

import (
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/scenarios"
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
	names  *Names
	params map[string]*schema.Node // matrix values of the variant; nil outside
	keep   []string                // names that are left for the launcher to fill in
}

// Names are what ${} can stand for: the vars: block, each value expanded when
// it is first read, and environment variables.
type Names struct {
	errs      *schema.Collector
	lookupEnv func(name string) (string, bool)

	// UnsetEnv stands for a variable that is not set; "": that is an error.
	UnsetEnv string

	// UnsetSecret stands for a secret whose variable is not set; "": that is an
	// error. A secret is known by the name of its variable, or of a key for whose
	// value it was read.
	UnsetSecret string

	underSecret bool                  // the key that is being expanded holds a secret
	missing     map[string]schema.Pos // secrets that UnsetSecret stands for
	raw         *schema.Node          // the vars: mapping
	done        map[expansion]*schema.Node
	busy        []string
	used        map[string]bool
	onlySet     map[string]schema.Pos // vars that only --set gives
	ofMatrix    map[string]bool       // names of all variants' matrices, for hints

	envUsed map[string]scenarios.EnvUse
	secrets map[string]bool
}

// expansion is a name under vars, expanded for a key that holds a secret or for another.
type expansion struct {
	name   string
	secret bool
}

// New returns Names without any vars. Mistakes go to errs; lookupEnv reads environment variables.
func New(errs *schema.Collector, lookupEnv func(string) (string, bool)) *Names {
	return &Names{
		errs: errs, lookupEnv: lookupEnv,
		raw: schema.EmptyMapping(schema.Pos{}), done: map[expansion]*schema.Node{}, used: map[string]bool{},
		onlySet: map[string]schema.Pos{}, ofMatrix: map[string]bool{},
		envUsed: map[string]scenarios.EnvUse{}, secrets: map[string]bool{}, missing: map[string]schema.Pos{},
	}
}

// Missing are the variables of secrets that are not set, and where they are first
// read.
func (v *Names) Missing() map[string]schema.Pos { return v.missing }

// ReadVars takes the vars: block of a file.
func (v *Names) ReadVars(root *schema.Node) {
	raw := root.Get("vars")
	if raw == nil || raw.Kind == schema.Null {
		raw = schema.EmptyMapping(root.Pos)
	}
	if raw.Kind != schema.Mapping {
		schema.Wrong(v.errs, "vars", raw, schema.AnyMap())
		raw = schema.EmptyMapping(root.Pos)
	}

	for _, pair := range raw.Pairs {
		if !varName.MatchString(pair.Key) {
			v.errs.Add(pair.Pos, "%q is not a valid name: use letters, digits, _ and -", pair.Key)
		}
		if pair.Value.Kind == schema.Null && pair.Value.Bare {
			v.errs.Add(pair.Value.Pos, `vars.%s has no value: write "" or null`, pair.Key)
		}
	}
	v.raw = raw
}

// Outside is the scope of what stands outside of any variant.
func (v *Names) Outside() *scope { return &scope{names: v} }

// Unread lists the vars that nothing has read, probably misspelled ones. A var
// that only --set gives is an error.
func (v *Names) Unread() []schema.Pair {
	var out []schema.Pair
	for _, pair := range v.raw.Pairs {
		if v.used[pair.Key] {
			continue
		}
		known := slices.DeleteFunc(v.raw.Keys(), func(k string) bool { return k == pair.Key })
		if pos, set := v.onlySet[pair.Key]; set {
			v.errs.Add(pos, "no ${%s} in this scenario%s", pair.Key, schema.DidYouMean(pair.Key, known))
			continue
		}
		out = append(out, pair)
		v.variable(pair.Key) // its errors count all the same
	}

	return out
}

// Texts are the values under vars: as they are written.
func (v *Names) Texts() []string {
	var out []string
	for _, pair := range v.raw.Pairs {
		pair.Value.Flatten("", func(_ string, n *schema.Node) { out = append(out, n.Text) })
	}

	return out
}

// SecretValues are the values that must never be shown.
func (v *Names) SecretValues() []string { return slices.Sorted(maps.Keys(v.secrets)) }

// Uses lists the environment variables that were read. One that turned out to
// be a secret by the key that it was used for, as a whole or as a part of the
// value there, is hidden.
func (v *Names) Uses() []scenarios.EnvUse {
	var out []scenarios.EnvUse
	for _, name := range slices.Sorted(maps.Keys(v.envUsed)) {
		use := v.envUsed[name]
		if !use.Secret && v.isPartOfSecret(use.Value) {
			use = scenarios.EnvUse{Name: name, Value: scenarios.Hidden, Secret: true}
		}
		out = append(out, use)
	}

	return out
}

// isPartOfSecret reports whether a value was put into a secret text, such as the
// address of a notification.
func (v *Names) isPartOfSecret(value string) bool {
	if v.secrets[value] {
		return true
	}
	for secret := range v.secrets {
		if len(value) >= scenarios.MinSecret && strings.Contains(secret, value) {
			return true
		}
	}
	return false
}

// Expand gives n with every ${} filled in. Errors are reported, the values
// concerned come back broken.
func (s *scope) Expand(n *schema.Node) *schema.Node {
	switch {
	case n.Kind == schema.Text && strings.Contains(n.Text, "${"):
		return s.text(n)
	case n.Kind != schema.List && n.Kind != schema.Mapping:
		return n
	}

	c := *n
	c.Items, c.Pairs = nil, nil
	for _, it := range n.Items {
		c.Items = append(c.Items, s.Expand(it))
	}

	for _, p := range n.Pairs {
		outer := s.names.underSecret
		s.names.underSecret = outer || p.Key == "webhook" || secrets.IsName(p.Key)
		c.Pairs = append(c.Pairs, schema.Pair{Key: p.Key, Pos: p.Pos, Value: s.Expand(p.Value)})
		s.names.underSecret = outer
	}

	c.Measure()
	if c.Size > maxNodes {
		s.names.errs.Add(n.Pos, "this value grows to more than %d values", maxNodes)
		return &schema.Node{Pos: n.Pos}
	}

	return &c
}

// text expands one text. A text that is exactly one ${name} takes the value as
// it is, whatever its kind.
func (s *scope) text(n *schema.Node) *schema.Node {
	parts, err := pieces(n.Text)
	if err != nil {
		s.names.errs.Add(n.Pos, "%v", err)
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
		s.names.errs.Add(n.Pos, "this text grows to more than %d bytes", maxText)
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
	s.names.errs.Add(pos, "${%s} is %s and is not allowed inside text%s", name, v.Shown(), hint)
	return false
}

// lookup finds the value of a name; broken, and reported, if there is none.
func (s *scope) lookup(name string, pos schema.Pos) *schema.Node {
	if env, ok := strings.CutPrefix(name, "env:"); ok {
		return s.names.env(env, pos)
	}

	root, rest, dotted := strings.Cut(name, ".")
	v, ok := s.params[root]
	if !ok {
		v, ok = s.names.variable(root)
	}
	if !ok {
		s.names.errs.Add(pos, "unknown name ${%s}%s", root, s.unknownHint(root))
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
			s.names.errs.Add(pos, "${%s} has no part %q%s", at, key, what)
			return &schema.Node{Pos: pos}
		}
		v, at = sub, at+"."+key
	}

	return v
}

func (s *scope) unknownHint(name string) string {
	known := append(slices.Collect(maps.Keys(s.params)), s.names.raw.Keys()...)
	slices.Sort(known)
	switch {
	case s.names.ofMatrix[name]:
		return ": it is a matrix name, known within its variant only"
	case schema.Suggest(name, known) != "":
		return schema.DidYouMean(name, known)
	}
	return ": declare it under vars: or give --set vars." + name + "=VALUE"
}

// variable is the expanded value of a name under vars.
func (v *Names) variable(name string) (*schema.Node, bool) {
	raw := v.raw.Get(name)
	if raw == nil {
		return nil, false
	}
	v.used[name] = true
	as := expansion{name, v.underSecret}
	if n, ok := v.done[as]; ok {
		return n, true
	}
	if i := slices.Index(v.busy, name); i >= 0 {
		circle := append(slices.Clone(v.busy[i:]), name)
		v.errs.Add(raw.Pos, "vars.%s is made of itself: %s", name, strings.Join(circle, " -> "))
		return &schema.Node{Pos: raw.Pos}, true
	}
	v.busy = append(v.busy, name)
	n := v.Outside().Expand(raw)
	v.busy = v.busy[:len(v.busy)-1]
	v.done[as] = n
	return n, true
}

// env reads one environment variable and records that it was read.
func (v *Names) env(name string, pos schema.Pos) *schema.Node {
	value, ok := "", false
	if v.lookupEnv != nil {
		value, ok = v.lookupEnv(name)
	}
	secret := v.underSecret || secrets.IsName(name)
	switch {
	case ok:
	case v.UnsetEnv != "":
		value, ok = v.UnsetEnv, true
	case v.UnsetSecret != "" && secret:
		value, ok = v.UnsetSecret, true
		if _, known := v.missing[name]; !known {
			v.missing[name] = pos
		}
	}
	if !ok {
		v.errs.Add(pos, "environment variable %s is not set", name)
		return &schema.Node{Pos: pos}
	}

	n := &schema.Node{Kind: schema.Text, Text: value, Pos: pos, Loose: true, Size: 1, Secret: secret}
	if k := schema.Classify(value); k != schema.Null {
		n.Kind = k
	}

	use := scenarios.EnvUse{Name: name, Value: value, Secret: n.Secret}
	if n.Secret {
		v.NoteSecret(value)
		use.Value = scenarios.Hidden
	}

	v.envUsed[name] = use
	return n
}

// NoteSecret notes a value that must never be shown.
func (v *Names) NoteSecret(value string) {
	if len(value) >= scenarios.MinSecret {
		v.secrets[value] = true
	}
}
