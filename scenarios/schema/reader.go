package schema

import (
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Reader turns nodes into typed values and reports what does not fit.
type Reader struct {
	Errs     *Collector
	Path     []string // of the value being read
	Defaults map[string]string
	Others   []*BlockInfo     // all blocks of a file, to say where a misplaced key belongs
	Literals map[string]*Node // defaults read so far, by their text
	Swept    []string         // keys of which a sweep takes several values
	Failed   bool             // something was wrong, reported here or before
}

// Key returns the last part of the path, as a message names the value being read.
func (r *Reader) Key() string {
	if len(r.Path) == 0 {
		return "the value"
	}
	return r.Path[len(r.Path)-1]
}

// Fail reports an error at a position and marks the reader as failed.
func (r *Reader) Fail(pos Pos, format string, args ...any) {
	r.Failed = true
	r.Errs.Add(pos, format, args...)
}

// Wrong reports a value of another kind than expected.
func (r *Reader) Wrong(n *Node, want Shape) {
	r.Failed = true
	hint := ""
	if n.Kind == List && slices.Contains(r.Swept, strings.Join(r.Path, ".")) {
		hint = "; several values go under sweep"
	}
	if n.Kind != Broken {
		r.Fail(n.Pos, "%s is %s, expected %s%s", r.Key(), n.Shown(), want.Words(), hint)
	}
}

// Wrong reports that the value of a key is of another kind than expected.
func Wrong(errs *Collector, key string, n *Node, want Shape) {
	(&Reader{Errs: errs, Path: []string{key}}).Wrong(n, want)
}

// entryWrong reports an entry of a list that is not a mapping.
func (r *Reader) entryWrong(n *Node) {
	r.Failed = true
	if n.Kind != Broken {
		r.Fail(n.Pos, "an entry of %s is %s, expected %s", r.Key(), n.Shown(), Simple(BlockShape).Words())
	}
}

// literal is the node of a default.
func (r *Reader) literal(def string) *Node {
	n, ok := r.Literals[def]
	if !ok {
		n = literal(def)
		r.Literals[def] = n
	}
	return n
}

func (r *Reader) defaulted(value string) {
	if r.Defaults != nil {
		r.Defaults[strings.Join(r.Path, ".")] = value
	}
}

// Unknown reports a key that the block does not have.
func (r *Reader) Unknown(b *BlockInfo, p Pair) {
	names := b.Names()
	if slices.Contains(names, kebab(p.Key)) {
		r.Fail(p.Pos, "unknown key %q, did you mean %q?", p.Key, kebab(p.Key))
		return
	}

	var homes []string
	for _, o := range r.Others {
		if o.Name != b.Name && slices.Contains(o.Names(), kebab(p.Key)) {
			homes = append(homes, o.Name)
		}
	}

	switch near := Suggest(p.Key, names); {
	case len(homes) > 0 && (near == "" || farFrom(p.Key, near)):
		r.Fail(p.Pos, "unknown key %q, it belongs %s", p.Key, strings.Join(homes, " or "))
	case near == "" && slices.Contains(names, "args"):
		r.Fail(p.Pos, "unknown key %q; arguments of the engine belong under args:", p.Key)
	default:
		r.Fail(p.Pos, "unknown key %q%s", p.Key, DidYouMean(p.Key, names))
	}
}

// farFrom reports whether near is not merely a misspelled key.
func farFrom(key, near string) bool { return distance(kebab(key), near) > 2 }

// Text reads a text or a number, as written, and any scalar of a Loose node. It reports all else and returns false.
func (r *Reader) Text(n *Node) (string, bool) {
	if n.Kind == Text || n.Kind == Number || n.Kind == Boolean && n.Loose {
		return n.Text, true
	}
	if n.Kind == Boolean {
		r.Fail(n.Pos, "%s is %s, expected text: write it in quotes", r.Key(), n.Shown())
		return "", false
	}
	r.Wrong(n, Simple(TextShape))
	return "", false
}

// Whole reads a whole number within the limits of s. It reports anything else and returns false.
func (r *Reader) Whole(n *Node, s Shape) (uint64, bool) {
	if n.Kind == Number {
		if v, err := strconv.ParseUint(n.Text, 10, 63); err == nil && s.Limits.holds(float64(v)) {
			return v, true
		}
	}
	r.Wrong(n, s)
	return 0, false
}

// Number reads a number within the limits of s, inf where they allow it. It reports anything else and returns false.
func (r *Reader) Number(n *Node, s Shape) (float64, bool) {
	if s.Limits.inf && n.Kind == Text && slices.Contains([]string{"inf", ".inf", "Inf", ".Inf"}, n.Text) {
		return math.Inf(1), true
	}
	if n.Kind == Number {
		if v, err := strconv.ParseFloat(n.Text, 64); err == nil && s.Limits.holds(v) {
			return v, true
		}
	}
	r.Wrong(n, s)
	return 0, false
}

func (r *Reader) flag(n *Node) (value, ok bool) {
	if n.Kind == Boolean {
		return n.Value().(bool), true
	}
	if yes, known := oldBools()[strings.ToLower(n.Text)]; known && n.Kind == Text {
		r.Fail(n.Pos, "%s is %s, expected true or false, did you mean %q?", r.Key(), n.Shown(), strconv.FormatBool(yes))
		return false, false
	}
	r.Wrong(n, Simple(flagShape))
	return false, false
}

// oldBools are the words that YAML 1.1 read as true and false.
func oldBools() map[string]bool {
	return map[string]bool{"yes": true, "on": true, "y": true, "no": false, "off": false, "n": false}
}

// Duration reads "90s" and a plain 0.
func (r *Reader) Duration(n *Node) (time.Duration, bool) {
	if n.Kind == Number && n.Text == "0" {
		return 0, true
	}
	if n.Kind == Number && !strings.HasPrefix(n.Text, "-") {
		r.Fail(n.Pos, "%s is %s, which has no unit, expected %s", r.Key(), n.Shown(), Simple(DurationShape).Words())
		return 0, false
	}
	if n.Kind == Text {
		if d, err := time.ParseDuration(n.Text); err == nil && d >= 0 {
			return d, true
		}
	}
	r.Wrong(n, Simple(DurationShape))
	return 0, false
}

// Enum reads one of the words of s. It reports anything else, with the nearest word, and returns false.
func (r *Reader) Enum(n *Node, s Shape) (string, bool) {
	if n.Kind != Text {
		r.Wrong(n, s)
		return "", false
	}
	if slices.Contains(s.enum, n.Text) {
		return n.Text, true
	}
	hint := ", expected " + s.Words()
	if near := Suggest(n.Text, s.enum); near != "" && !n.Secret {
		hint += ", did you mean " + strconv.Quote(near) + "?"
	}
	r.Fail(n.Pos, "%s is %s%s", r.Key(), n.Shown(), hint)
	return "", false
}

// EachText yields each text of a list with its node. It reports what is not a list, and entries that are not text.
func (r *Reader) EachText(n *Node) iter.Seq2[*Node, string] {
	return func(yield func(*Node, string) bool) {
		if n.Kind != List {
			r.Wrong(n, Texts())
			return
		}
		for _, it := range n.Items {
			if text, ok := r.Text(it); ok && !yield(it, text) {
				return
			}
		}
	}
}

// Argv reads a command: a list, never a shell string.
func (r *Reader) Argv(n *Node) ([]string, bool) {
	if n.Kind == Text {
		r.Fail(n.Pos, "%s is %s: commands are lists, never shell strings: write [program, argument, ...]", r.Key(),
			n.Shown())
		return nil, false
	}

	words, ok := r.Texts(n)
	if ok && (len(words) == 0 || words[0] == "") {
		r.Fail(n.Pos, "%s is empty, expected [program, argument, ...]", r.Key())
		return nil, false
	}

	for _, it := range n.Items {
		if strings.ContainsRune(it.Text, 0) {
			r.Fail(it.Pos, "%s contains a NUL byte", r.Key())
			return nil, false
		}
	}

	return words, ok
}

// Texts reads a list of scalars, each as it is written.
func (r *Reader) Texts(n *Node) ([]string, bool) {
	if n.Kind != List {
		r.Wrong(n, Texts())
		return nil, false
	}

	out := make([]string, 0, len(n.Items))
	ok := true
	for _, it := range n.Items {
		if !it.Scalar() {
			r.Wrong(it, Simple(TextShape))
			ok = false
			continue
		}
		out = append(out, it.Text)
	}

	return out, ok && len(out) == len(n.Items)
}
