package table

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// idColumn is a column of lists of whole numbers.
type idColumn struct {
	*parquetTable

	leaf int
}

func openIDColumn(file *os.File, field string) (IDs, error) {
	t, err := openParquet(file)
	if err != nil {
		return nil, err
	}
	return t.idColumn(field)
}

// idColumn finds the column.
func (t *parquetTable) idColumn(field string) (c idColumn, err error) {
	defer asCorrupt(&err)

	leaves := 0
	c = idColumn{t, -1}
	for i, l := range t.leaves {
		if l.path[0] == field {
			leaves, c.leaf = leaves+1, i
		}
	}

	if leaves == 0 {
		return c, fmt.Errorf("no column %q; it has %s", field, strings.Join(t.Columns(), ", "))
	}
	if of := t.leaves[c.leaf]; leaves > 1 || of.levels.repetition != 1 || !of.isWhole() {
		return c, fmt.Errorf("column %q contains no lists of whole numbers", field)
	}

	return c, nil
}

// IDs implements IDTable: one pass over the column.
func (c idColumn) IDs(ctx context.Context, picked []int) (out [][]int, err error) {
	defer asCorrupt(&err)

	out = make([][]int, 0, len(picked))
	err = c.eachGroup(picked, func(group, first int, own []int) error {
		leaf, err := c.newLeafReader(group, c.leaf, nil)
		if err != nil {
			return err
		}
		defer leaf.Close()

		for row := 0; len(own) > 0; row++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			ids, holes, err := leaf.nextIDs()
			if err == nil && own[0] == row && holes {
				err = errors.New("a null among the token ids")
			}
			if err != nil {
				return fmt.Errorf("row %d: %w", first+row+1, err)
			}
			if own[0] == row {
				out, own = append(out, ids), own[1:]
			}
		}
		return nil
	})

	return out, err
}

// nextIDs returns the numbers of the next row, and whether there are nulls
// among them. A list that is empty or missing has no numbers.
func (l *leafReader) nextIDs() (ids []int, holes bool, err error) {
	nulls := 0
	err = l.nextRow(maxIDs, func(v value) {
		if v.null {
			nulls++ // an empty list is one, too
		} else {
			ids = append(ids, int(v.number))
		}
	})
	return ids, nulls > 0 && len(ids) > 0, err
}
