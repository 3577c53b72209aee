// Package check decides what one key of a scenario means for another: defaults
// that depend on other keys, combinations that make no sense, paths relative to
// the file, and texts that are secret.
//
// What goes in: the tree of a block and the values decoded from it. What comes
// out: those values complete, and errors and warnings with their places. It never
// reads YAML, expands expressions or decodes a key.
package check

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// File is the scenario file whose blocks are checked, and what is found wrong in it.
type File struct {
	Errs   *schema.Collector
	Dir    string                 // that relative paths start from
	Exists func(path string) bool // of a file or folder
	Secret func(text string)      // notes a text that must never be shown

	Scenario *scenarios.Scenario // as far as it is decoded

	// ServerBroken: the shared server block could not be read, so what a variant
	// lacks is no error.
	ServerBroken bool

	warnings []warning
}

// warning is a text, and the kind of those of which one example is enough; "": each
// one counts.
type warning struct{ text, kind string }

// Warnf adds a warning about the value at pos, unless the same one is there already.
func (c *File) Warnf(pos schema.Pos, format string, args ...any) {
	c.addWarning(pos, "", fmt.Sprintf(format, args...))
}

// warnAlikef adds a warning of which one example is enough.
func (c *File) warnAlikef(pos schema.Pos, format string, args ...any) {
	c.addWarning(pos, format, fmt.Sprintf(format, args...))
}

func (c *File) addWarning(pos schema.Pos, kind, text string) {
	w := warning{(&schema.Error{Pos: pos, Msg: text}).Error(), kind}
	if !slices.Contains(c.warnings, w) {
		c.warnings = append(c.warnings, w)
	}
}

// Warnings are the texts of the warnings; of more than a few of one kind, only the first.
func (c *File) Warnings() (texts []string) {
	const few = 3
	alike := map[string]int{}
	for _, w := range c.warnings {
		alike[w.kind]++
	}

	for _, w := range c.warnings {
		switch n := alike[w.kind]; {
		case w.kind == "" || n > 0 && n <= few:
			texts = append(texts, w.text)
		case n > few:
			texts = append(texts, fmt.Sprintf("%s (and %d more like it)", w.text, n-1))
			alike[w.kind] = 0
		}
	}
	return texts
}

func (c *File) errorf(pos schema.Pos, format string, args ...any) { c.Errs.Add(pos, format, args...) }

// SafeName reports whether a name may be that of a variant, a point or a scenario,
// which become folders and step ids.
func SafeName(name string) bool { return safeName.MatchString(name) }

var safeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+=-]{0,99}$`)

// Name reports whether a name is safe, and adds an error at pos if it is not. what
// says what it names.
func (c *File) Name(pos schema.Pos, what, name string) bool {
	if SafeName(name) {
		return true
	}
	c.errorf(pos, "%s is %q, expected letters, digits and . _ + = - (it becomes a folder), at most 100, a letter "+
		"or digit first", what, name)
	return false
}

// forbid reports keys that make no sense beside others.
func (c *File) forbid(n *schema.Node, why string, keys ...string) {
	for _, key := range keys {
		v := n.Get(key)
		if v == nil || v.Kind == schema.Null || v.Kind == schema.Broken {
			continue
		}
		if v.Kind != schema.Mapping || len(v.Pairs) > 0 {
			c.errorf(n.KeyAt(key), "%s is not allowed here: %s", key, why)
		}
	}
}

// abs resolves a path against the scenario's folder.
func (c *File) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(c.Dir, path)
}

// noTilde reports a path that begins with ~, which only shells expand.
func (c *File) noTilde(n *schema.Node, key string) {
	v := n.Get(key)
	if v != nil && v.Kind == schema.List && len(v.Items) > 0 {
		v = v.Items[0]
	}
	if v != nil && v.Kind == schema.Text && (v.Text == "~" || strings.HasPrefix(v.Text, "~/")) {
		c.errorf(v.Pos, "%s is %s, and ~ is not expanded: write ${env:HOME}/...", key, v.Shown())
	}
}

func (c *File) programPath(n *schema.Node, key string, what string, argv []string) {
	c.noTilde(n, key)
	if len(argv) > 0 && strings.Contains(argv[0], "/") && !strings.HasPrefix(argv[0], "~") {
		argv[0] = c.abs(argv[0])
		c.Scenario.NeedFile(what, argv[0], n.At(key))
	}
}

// secretURL hides the password of an address; the whole of it is hidden where
// a secret variable was put into it.
func (c *File) secretURL(raw string) {
	u, err := url.Parse(raw)
	if err != nil || u.User == nil {
		return
	}
	if password, ok := u.User.Password(); ok {
		c.Secret(password)
	}
}

// secretValues lists the secrets among the values of variables or headers, so that nothing
// shows them.
func (c *File) secretValues(values map[string]scenarios.EnvValue) {
	for _, v := range values {
		if v.Secret {
			c.Secret(v.Value)
			c.Secret(strings.TrimPrefix(v.Value, "Bearer "))
		}
	}
}

// SecretTexts lists every text that a secret variable was put into.
func (c *File) SecretTexts(n *schema.Node) {
	if n == nil {
		return
	}
	if n.Secret && n.Scalar() {
		c.Secret(n.Text)
	}
	for _, it := range n.Items {
		c.SecretTexts(it)
	}
	for _, pr := range n.Pairs {
		c.SecretTexts(pr.Value)
	}
}
