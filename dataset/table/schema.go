package table

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/format"
)

// leaf is a column that has values itself.
type leaf struct {
	path   []string // from the column of the table down
	kind   format.Type
	levels levels
}

// levels are the highest that the values of a column have.
type levels struct{ repetition, definition int }

func (l leaf) String() string { return strings.Join(l.path, ".") }

// isWhole reports whether the values are whole numbers.
func (l leaf) isWhole() bool { return l.kind == format.Int32 || l.kind == format.Int64 }

// maxDepth bounds how deeply columns are nested.
const maxDepth = 64

// leavesOf returns the leaves that a schema describes, in the order in which
// row groups hold them. A schema is a tree, each node followed by its children.
func leavesOf(schema []format.SchemaElement) ([]leaf, error) {
	if len(schema) == 0 {
		return nil, errors.New("the parquet file is broken: it describes no columns")
	}

	tree := schemaTree{rest: schema[1:]}
	if err := tree.children(schema[0].NumChildren.V, leaf{}); err != nil {
		return nil, fmt.Errorf("the parquet file is broken: %w", err)
	}

	return tree.leaves, nil
}

// schemaTree takes nodes off rest and collects leaves.
type schemaTree struct {
	rest   []format.SchemaElement
	leaves []leaf
}

func (t *schemaTree) children(n int32, parent leaf) error {
	for range n {
		if len(t.rest) == 0 || len(parent.path) == maxDepth {
			return fmt.Errorf("column %q has more columns than are described, or is nested too deeply", parent)
		}
		if err := t.node(parent); err != nil {
			return err
		}
	}
	return nil
}

func (t *schemaTree) node(parent leaf) error {
	e := t.rest[0]
	t.rest = t.rest[1:]

	node := leaf{append(slices.Clip(parent.path), e.Name), e.Type.V, parent.levels}
	if e.RepetitionType.V != format.Required {
		node.levels.definition++
	}
	if e.RepetitionType.V == format.Repeated {
		node.levels.repetition++
	}

	if e.NumChildren.V > 0 || !e.Type.Valid {
		return t.children(e.NumChildren.V, node)
	}
	t.leaves = append(t.leaves, node)
	return nil
}
