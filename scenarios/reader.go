package scenarios

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// reader turns nodes into typed values and reports what does not fit.
type reader struct {
	errs     *collector
	path     []string // of the value being read
	defaults map[string]string
	others   []*blockInfo     // all blocks of a file, to say where a misplaced key belongs
	literals map[string]*node // defaults read so far, by their text
	failed   bool             // something was wrong, reported here or before
}

func (r *reader) key() string {
	if len(r.path) == 0 {
		return "the value"
	}
	return r.path[len(r.path)-1]
}

func (r *reader) fail(pos Pos, format string, args ...any) {
	r.failed = true
	r.errs.add(pos, format, args...)
}

// wrong reports a value of another kind than expected.
func (r *reader) wrong(n *node, want shape) {
	r.failed = true
	if n.kind != broken {
		r.fail(n.pos, "%s is %s, expected %s", r.key(), n.shown(), want.words())
	}
}

// entryWrong reports an entry of a list that is no mapping.
func (r *reader) entryWrong(n *node) {
	r.failed = true
	if n.kind != broken {
		r.fail(n.pos, "an entry of %s is %s, expected %s", r.key(), n.shown(), simple(blockShape).words())
	}
}

// literal is the node of a default.
func (r *reader) literal(def string) *node {
	n, ok := r.literals[def]
	if !ok {
		n = literal(def)
		r.literals[def] = n
	}
	return n
}

func (r *reader) defaulted(value string) {
	if r.defaults != nil {
		r.defaults[strings.Join(r.path, ".")] = value
	}
}

// unknown reports a key that the block does not have.
func (r *reader) unknown(b *blockInfo, p pair) {
	names := b.names()
	if slices.Contains(names, kebab(p.key)) {
		r.fail(p.pos, "unknown key %q, did you mean %q?", p.key, kebab(p.key))
		return
	}
	var homes []string
	for _, o := range r.others {
		if o.name != b.name && slices.Contains(o.names(), kebab(p.key)) {
			homes = append(homes, o.name)
		}
	}
	switch near := suggest(p.key, names); {
	case len(homes) > 0 && (near == "" || farFrom(p.key, near)):
		r.fail(p.pos, "unknown key %q, it belongs %s", p.key, strings.Join(homes, " or "))
	case near == "" && slices.Contains(names, "args"):
		r.fail(p.pos, "unknown key %q; arguments of the engine belong under args:", p.key)
	default:
		r.fail(p.pos, "unknown key %q%s", p.key, didYouMean(p.key, names))
	}
}

// farFrom tells whether near is no mere slip of the pen of key.
func farFrom(key, near string) bool { return distance(kebab(key), near) > 2 }

func (r *reader) text(n *node) (string, bool) {
	if n.kind == text || n.kind == number || n.kind == boolean && n.loose {
		return n.text, true
	}
	if n.kind == boolean {
		r.fail(n.pos, "%s is %s, expected text: write it in quotes", r.key(), n.shown())
		return "", false
	}
	r.wrong(n, simple(textShape))
	return "", false
}

func (r *reader) whole(n *node, s shape) (uint64, bool) {
	if n.kind == number {
		if v, err := strconv.ParseUint(n.text, 10, 63); err == nil && s.limits.holds(float64(v)) {
			return v, true
		}
	}
	r.wrong(n, s)
	return 0, false
}

func (r *reader) number(n *node, s shape) (float64, bool) {
	if s.limits.inf && n.kind == text && slices.Contains([]string{"inf", ".inf", "Inf", ".Inf"}, n.text) {
		return math.Inf(1), true
	}
	if n.kind == number {
		if v, err := strconv.ParseFloat(n.text, 64); err == nil && s.limits.holds(v) {
			return v, true
		}
	}
	r.wrong(n, s)
	return 0, false
}

func (r *reader) flag(n *node) (value, ok bool) {
	if n.kind == boolean {
		return n.value().(bool), true
	}
	if yes, known := oldBools()[strings.ToLower(n.text)]; known && n.kind == text {
		r.fail(n.pos, "%s is %s, expected true or false, did you mean %q?", r.key(), n.shown(), strconv.FormatBool(yes))
		return false, false
	}
	r.wrong(n, simple(flagShape))
	return false, false
}

// oldBools are the words that YAML 1.1 read as true and false.
func oldBools() map[string]bool {
	return map[string]bool{"yes": true, "on": true, "y": true, "no": false, "off": false, "n": false}
}

// duration reads "90s" and a plain 0.
func (r *reader) duration(n *node) (time.Duration, bool) {
	if n.kind == number && n.text == "0" {
		return 0, true
	}
	if n.kind == number && !strings.HasPrefix(n.text, "-") {
		r.fail(n.pos, "%s is %s, which has no unit, expected %s", r.key(), n.shown(), simple(durationShape).words())
		return 0, false
	}
	if n.kind == text {
		if d, err := time.ParseDuration(n.text); err == nil && d >= 0 {
			return d, true
		}
	}
	r.wrong(n, simple(durationShape))
	return 0, false
}

func (r *reader) enum(n *node, s shape) (string, bool) {
	if n.kind != text {
		r.wrong(n, s)
		return "", false
	}
	if slices.Contains(s.enum, n.text) {
		return n.text, true
	}
	hint := ", expected " + s.words()
	if near := suggest(n.text, s.enum); near != "" && !n.secret {
		hint += ", did you mean " + strconv.Quote(near) + "?"
	}
	r.fail(n.pos, "%s is %s%s", r.key(), n.shown(), hint)
	return "", false
}

// argv reads a command: a list, never a shell string.
func (r *reader) argv(n *node) ([]string, bool) {
	if n.kind == text {
		r.fail(n.pos, "%s is %s: commands are lists, never shell strings: write [program, argument, ...]", r.key(), n.shown())
		return nil, false
	}
	words, ok := r.texts(n)
	if ok && (len(words) == 0 || words[0] == "") {
		r.fail(n.pos, "%s is empty, expected [program, argument, ...]", r.key())
		return nil, false
	}
	for _, it := range n.items {
		if strings.ContainsRune(it.text, 0) {
			r.fail(it.pos, "%s holds a NUL byte", r.key())
			return nil, false
		}
	}
	return words, ok
}

// texts reads a list of scalars, each as it is written.
func (r *reader) texts(n *node) ([]string, bool) {
	if n.kind != list {
		r.wrong(n, listOf(simple(textShape)))
		return nil, false
	}
	out := make([]string, 0, len(n.items))
	ok := true
	for _, it := range n.items {
		if !it.scalar() {
			r.wrong(it, simple(textShape))
			ok = false
			continue
		}
		out = append(out, it.text)
	}
	return out, ok && len(out) == len(n.items)
}
