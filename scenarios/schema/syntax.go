package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxSource bounds a scenario file; more is surely another kind of file.
const maxSource = 1 << 20

// maxBisect bounds the lines of a text in which a syntax error is looked for.
const maxBisect = 2000

var yamlPrefix = regexp.MustCompile(`^yaml: (line \d+: )?`)

var errSecond = errors.New("a second document; a scenario is one document")

// ReadTree reads YAML text into nodes. Positions are those of file; a zero
// origin line is used for text that has no lines of its own (--set). The
// answer is broken where nothing can be read.
func ReadTree(errs *Collector, file string, src []byte, lines bool) *Node {
	t := &treeReader{errs: errs, file: file, lines: lines}
	if len(src) > maxSource {
		errs.Add(Pos{File: file}, "file has %d bytes, more than the %d of any sensible scenario", len(src), maxSource)
		return &Node{Pos: Pos{File: file}}
	}

	doc, err := parseYAML(src)
	if err != nil {
		pos, msg := t.syntaxError(src, err)
		errs.Add(pos, "%s", msg)
		return &Node{Pos: pos}
	}

	if doc == nil || len(doc.Content) == 0 {
		return &Node{Kind: Null, Bare: true, Pos: t.at(1, 1), Size: 1}
	}

	return t.node(doc.Content[0])
}

// parseYAML reads the only document of src; nil if there is none.
func parseYAML(src []byte) (doc *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil { // a bug of the YAML library must not end a run
			err = fmt.Errorf("yaml: %v", p)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var first, second yaml.Node
	if err := dec.Decode(&first); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}

	switch err := dec.Decode(&second); {
	case errors.Is(err, io.EOF):
		return &first, nil
	case err != nil:
		return nil, err
	}

	return nil, errSecond
}

type treeReader struct {
	errs  *Collector
	file  string
	lines bool
}

func (t *treeReader) at(line, column int) Pos {
	if !t.lines {
		return Pos{File: t.file}
	}
	return Pos{File: t.file, Line: max(line, 1), Column: max(column, 1)}
}

// syntaxError gives an error of the YAML library its place and, where a common
// cause is to be seen, says so.
func (t *treeReader) syntaxError(src []byte, err error) (Pos, string) {
	msg := "not YAML: " + yamlPrefix.ReplaceAllString(err.Error(), "")
	if !t.lines {
		return t.at(1, 1), msg
	}

	rows := strings.SplitAfter(string(src), "\n")
	line := badLine(rows)
	row := strings.TrimRight(rows[line-1], "\r\n")
	body := strings.TrimLeft(row, " ")
	switch {
	case errors.Is(err, errSecond):
	case strings.HasPrefix(strings.TrimLeft(body, " "), "\t"):
		msg += " (indent with spaces, not tabs)"
	case strings.Contains(row, "${") && strings.ContainsAny(row, "[{"):
		msg += ` (inside { } and [ ] write "${name}" in quotes)`
	}

	return t.at(line, len(row)-len(body)+1), msg
}

// badLine finds the line, from 1, without which and without all later ones the
// text would be YAML. The YAML library names the place where the innermost
// block began, which may be far above.
func badLine(rows []string) int {
	if len(rows) > maxBisect {
		return 1
	}
	for n := len(rows) - 1; n > 0; n-- {
		if _, err := parseYAML([]byte(strings.Join(rows[:n], ""))); err == nil {
			return n + 1
		}
	}
	return 1
}

func (t *treeReader) node(y *yaml.Node) *Node {
	pos := t.at(y.Line, y.Column)
	n := &Node{Pos: pos, Size: 1}
	if y.Kind == yaml.AliasNode || y.Anchor != "" {
		t.errs.Add(pos, "YAML anchors and aliases are not read here: put the shared value under vars: and write "+
			"${name}")
		return n
	}
	if y.Style&yaml.TaggedStyle != 0 {
		t.errs.Add(pos, "YAML tags such as %s are not read here", y.Tag)
		return n
	}

	switch y.Kind {
	case yaml.ScalarNode:
		t.scalar(n, y)
	case yaml.SequenceNode:
		n.Kind = List
		for _, c := range y.Content {
			n.Items = append(n.Items, t.node(c))
		}
	case yaml.MappingNode:
		n.Kind = Mapping
		t.pairs(n, y)
	default: // documents and aliases do not come here
	}

	n.Measure()
	return n
}

func (t *treeReader) scalar(n *Node, y *yaml.Node) {
	n.Kind, n.Text = Text, y.Value
	quoted := yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if y.Style&quoted == 0 {
		n.Kind = Classify(y.Value)
		n.Bare = y.Value == ""
	}
}

func (t *treeReader) pairs(n *Node, y *yaml.Node) {
	first := map[string]Pos{}
	for c := range slices.Chunk(y.Content, 2) {
		pos := t.at(c[0].Line, c[0].Column)
		key := c[0].Value
		switch {
		case c[0].Kind != yaml.ScalarNode || c[0].Anchor != "" || c[0].Style&yaml.TaggedStyle != 0:
			t.errs.Add(pos, "a key must be plain text")
			continue
		case c[0].Tag == "!!merge":
			t.errs.Add(pos, "YAML merge keys are not read here: put what variants share into server:")
			continue
		case strings.Contains(key, "${"):
			t.errs.Add(pos, "key %q: ${} is filled in values only, not in keys", key)
			continue
		}

		if was, twice := first[key]; twice {
			t.errs.Add(pos, "key %q is given twice, first in line %d", key, was.Line)
			continue
		}

		first[key] = pos
		n.Pairs = append(n.Pairs, Pair{Key: key, Pos: pos, Value: t.node(c[1])})
	}
}
