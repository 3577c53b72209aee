package table

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/parquet-go/parquet-go"
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
	for i, path := range t.file.Schema().Columns() {
		if path[0] == field {
			leaves, c.leaf = leaves+1, i
		}
	}

	if leaves == 0 {
		return c, fmt.Errorf("no column %q; it has %s", field, strings.Join(t.Columns(), ", "))
	}

	column, ok := t.file.Schema().Lookup(t.file.Schema().Columns()[c.leaf]...)
	if leaves > 1 || !ok || column.MaxRepetitionLevel != 1 || !isWhole(column.Node.Type()) {
		return c, fmt.Errorf("column %q holds no lists of whole numbers", field)
	}

	return c, nil
}

func isWhole(of parquet.Type) bool { return of.Kind() == parquet.Int32 || of.Kind() == parquet.Int64 }

// ids implements idTable: one pass over the column.
func (c idColumn) IDs(ctx context.Context, picked []int) (out [][]int, err error) {
	defer asCorrupt(&err)

	out = make([][]int, 0, len(picked))
	err = c.eachGroup(picked, []int{c.leaf}, func(group parquet.RowGroup, first int, own []int) error {
		leaf := newLeafReader(group, c.leaf, nil)
		for row := 0; len(own) > 0; row++ {
			if err := ctx.Err(); err != nil {
				return errors.Join(err, leaf.Close())
			}
			ids, holes, err := leaf.nextIDs()
			if err == nil && own[0] == row && holes {
				err = errors.New("a null among the token ids")
			}
			if err != nil {
				return errors.Join(fmt.Errorf("row %d: %w", first+row+1, err), leaf.Close())
			}
			if own[0] == row {
				out, own = append(out, ids), own[1:]
			}
		}
		return leaf.Close()
	})

	return out, err
}

// nextIDs returns the numbers of the next row, and whether there are nulls
// among them. A list that is empty or missing has no numbers.
func (l *leafReader) nextIDs() (ids []int, holes bool, err error) {
	nulls := 0
	err = l.nextRow(maxIDs, func(v parquet.Value) {
		switch {
		case v.IsNull():
			nulls++ // an empty list is one, too
		case v.Kind() == parquet.Int32:
			ids = append(ids, int(v.Int32()))
		default:
			ids = append(ids, int(v.Int64()))
		}
	})
	return ids, nulls > 0 && len(ids) > 0, err
}
