package expand

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// Mixtures makes the variants of a factorial over the settings in which two
// variants differ, and says in the blame which these are.
func Mixtures(blame *scenarios.Blame, all []ExpandedVariant) ([]ExpandedVariant, error) {
	from, err := find(all, blame.From)
	if err != nil {
		return nil, err
	}
	to, err := find(all, blame.To)
	if err != nil {
		return nil, err
	}
	if err = mixable(*blame, from.Node, to.Node); err != nil {
		return nil, err
	}

	settings := differing(from.Node, to.Node)
	if blame.Factors, err = factors(blame.Groups, settings); err != nil {
		return nil, err
	}
	switch n := len(blame.Factors); {
	case n == 0:
		return nil, fmt.Errorf("%s and %s have the same settings", blame.From, blame.To)
	case n > scenarios.MostFactors:
		return nil, fmt.Errorf("%s and %s differ in %d settings, expected at most %d: put those that belong together "+
			"under blame.groups", blame.From, blame.To, n, scenarios.MostFactors)
	}

	blame.Levels = map[string][]bool{}
	var mixtures []ExpandedVariant
	for _, levels := range scenarios.Factorial(len(blame.Factors)) {
		v := *from
		v.Node, v.Params, v.LastKey = mixture(*blame, from.Node, to.Node, levels), nil, ""
		blame.Levels[v.Name()] = levels
		mixtures = append(mixtures, v)
	}
	return mixtures, nil
}

func find(all []ExpandedVariant, name string) (*ExpandedVariant, error) {
	var names []string
	for i, v := range all {
		if names = append(names, v.Name()); v.Name() == name {
			return &all[i], nil
		}
	}
	return nil, fmt.Errorf("no variant is named %q%s", name, schema.DidYouMean(name, names))
}

// mixable refuses variants whose settings cannot be exchanged one by one.
func mixable(blame scenarios.Blame, from, to *schema.Node) error {
	text := func(n *schema.Node, key string) string {
		if v := n.Get(key); v != nil {
			return v.PlainText()
		}
		return ""
	}
	switch {
	case blame.From == blame.To:
		return errors.New("from and to are the same variant")
	case from.Has("components") || to.Has("components"):
		return errors.New("variants with components cannot be mixed")
	case text(from, "launcher") != text(to, "launcher"):
		return fmt.Errorf("%s and %s have different launchers, whose settings cannot be mixed", blame.From, blame.To)
	}
	return nil
}

// notSettings are keys of a variant that do not change what its server does.
func notSettings() []string {
	return []string{"name", "notes", "size", "price", "ready", "stop", "smoke", "extrapolate"}
}

// differing lists the settings that two variants do not share.
func differing(from, to *schema.Node) []scenarios.Setting {
	was, is := settingsOf(from), settingsOf(to)
	var all []scenarios.Setting
	for _, p := range slices.Concat(was, is) {
		s := scenarios.Setting{Path: p.Key, From: shown(p.Key, at(was, p.Key)), To: shown(p.Key, at(is, p.Key))}
		if !same(at(was, p.Key), at(is, p.Key)) &&
			!slices.ContainsFunc(all, func(o scenarios.Setting) bool { return o.Path == s.Path }) {
			all = append(all, s)
		}
	}
	return all
}

// settingsOf are a variant's keys, those of args: and other blocks that are merged
// key by key one by one.
func settingsOf(variant *schema.Node) []schema.Pair {
	var all []schema.Pair
	for _, p := range variant.Without(notSettings()...).Pairs {
		if p.Value.Kind != schema.Mapping || ServerOverlay()[p.Key] == nil {
			all = append(all, p)
			continue
		}
		for _, sub := range p.Value.Pairs {
			name := sub.Key
			if isArgs(p.Key) {
				name = scenarios.ArgName(name)
			}
			all = append(all, schema.Pair{Key: p.Key + "." + name, Value: sub.Value})
		}
	}
	return slices.DeleteFunc(all, func(p schema.Pair) bool {
		return p.Value.Kind == schema.Null && !strings.HasPrefix(p.Key, "env.") // null unsets a variable
	})
}

func isArgs(key string) bool { return key == "args" || key == "sim-args" }

func at(settings []schema.Pair, path string) *schema.Node {
	return (&schema.Node{Kind: schema.Mapping, Pairs: settings}).Get(path)
}

func same(a, b *schema.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return fmt.Sprint(a.Kind, a.Value()) == fmt.Sprint(b.Kind, b.Value())
}

func shown(path string, n *schema.Node) string {
	const most = 60
	switch {
	case n == nil:
		return ""
	case n.Secret || secrets.IsName(path):
		return scenarios.Hidden
	}
	text := []rune(n.PlainText())
	if n.Kind == schema.Mapping {
		text = []rune(fmt.Sprint(n.Value()))
	}
	if len(text) > most {
		return string(text[:most]) + "..."
	}
	return string(text)
}

// factors are the groups and the settings that are in none, in the order of the
// settings.
func factors(groups []scenarios.BlameGroup, settings []scenarios.Setting) ([]scenarios.Factor, error) {
	paths := make([]string, len(settings))
	for i, s := range settings {
		paths[i] = s.Path
	}
	for _, g := range groups {
		for _, path := range g.Settings {
			if !slices.Contains(paths, path) {
				return nil, fmt.Errorf("group %s: the variants do not differ in %q%s", g.Name, path,
					schema.DidYouMean(path, paths))
			}
		}
	}

	var all []scenarios.Factor
	for _, s := range settings {
		name := s.Path
		if g := slices.IndexFunc(groups, func(g scenarios.BlameGroup) bool {
			return slices.Contains(g.Settings, s.Path)
		}); g >= 0 {
			name = groups[g].Name
		}
		i := slices.IndexFunc(all, func(f scenarios.Factor) bool { return f.Name == name })
		if i < 0 {
			i, all = len(all), append(all, scenarios.Factor{Name: name})
		}
		all[i].Settings = append(all[i].Settings, s)
	}
	return all, nil
}

// mixture is from with the settings of to for some factors.
func mixture(blame scenarios.Blame, from, to *schema.Node, levels []bool) *schema.Node {
	mixed, letters := from.Clone(), ""
	for i, f := range blame.Factors {
		if !levels[i] {
			continue
		}
		letters += scenarios.FactorLetter(i)
		for _, s := range f.Settings {
			exchange(mixed, to, s.Path)
		}
	}

	name := *from.Get("name")
	if letters != "" {
		mixed = mixed.Without("notes")
	}
	switch len(letters) {
	case 0:
	case len(levels):
		name = *to.Get("name")
	default:
		name.Text += "+" + letters
	}
	mixed.Pairs[mixed.Index("name")].Value = &name
	mixed.Measure()
	return mixed
}

// exchange gives a variant the setting of another one.
func exchange(into, of *schema.Node, path string) {
	key, sub, nested := strings.Cut(path, ".")
	if !nested {
		replace(into, of, key, key)
		return
	}
	if into.Get(key) == nil || into.Get(key).Kind != schema.Mapping {
		into.Pairs = slices.DeleteFunc(into.Pairs, func(p schema.Pair) bool { return p.Key == key })
		empty := schema.EmptyMapping(of.At(key))
		into.Pairs = append(into.Pairs, schema.Pair{Key: key, Pos: of.KeyAt(key), Value: empty})
	}

	has, gives := sub, sub
	if isArgs(key) {
		has, gives = spelled(into.Get(key), sub), spelled(of.Get(key), sub)
	}
	replace(into.Get(key), of.Get(key), has, gives)
	into.Get(key).Measure()
}

// spelled is the key of an argument as a mapping writes it.
func spelled(args *schema.Node, name string) string {
	if args == nil {
		return name
	}
	if i := argIndex(args, name); i >= 0 {
		return args.Pairs[i].Key
	}
	return name
}

// replace puts what a mapping has at a key in the place of another's.
func replace(into, of *schema.Node, has, gives string) {
	value := schema.Pair{}
	if of != nil && of.Index(gives) >= 0 {
		value = of.Pairs[of.Index(gives)]
	}
	at := into.Index(has)
	switch {
	case value.Value == nil && at >= 0:
		into.Pairs = slices.Delete(into.Pairs, at, at+1)
	case value.Value == nil:
	case at >= 0:
		into.Pairs[at] = value
	default:
		into.Pairs = append(into.Pairs, value)
	}
}
