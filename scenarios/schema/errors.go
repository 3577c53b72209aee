package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one thing wrong in a scenario file.
type Error struct {
	Pos Pos
	Msg string
}

// Error is the position and what is wrong: "a.yaml:14:7: unknown key ...".
func (e *Error) Error() string { return e.Pos.String() + ": " + e.Msg }

// Errors is everything wrong in a scenario file, in the order of the file;
// what comes from profiles and --set overrides stands last.
type Errors []*Error

// Error lists all errors, one per line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// String is "file:line:column"; only the file where no line is known.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Collector gathers errors. The same error at the same place counts once: a
// shared block is read for each variant.
type Collector struct {
	List []*Error
	seen map[Error]bool
}

// Add records an error at a position, unless the same one is there already.
func (c *Collector) Add(pos Pos, format string, args ...any) {
	e := Error{Pos: pos, Msg: fmt.Sprintf(format, args...)}
	if c.seen[e] {
		return
	}
	if c.seen == nil {
		c.seen = map[Error]bool{}
	}
	c.seen[e] = true
	c.List = append(c.List, &e)
}

// Sorted gives the errors by position, those of file first.
func (c *Collector) Sorted(file string) Errors {
	rank := func(p Pos) int {
		if p.File == file {
			return 0
		}
		return 1
	}

	list := slices.Clone(c.List)
	slices.SortStableFunc(list, func(a, b *Error) int {
		return cmp.Or(
			cmp.Compare(rank(a.Pos), rank(b.Pos)),
			cmp.Compare(a.Pos.File, b.Pos.File),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column))
	})

	return list
}

// Pos is a place in a scenario file.
type Pos struct {
	File   string
	Line   int // from 1
	Column int // from 1
}
