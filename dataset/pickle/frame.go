package pickle

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Column returns a DataFrame's column of token ids, one slice a row.
func Column(data []byte, name string) ([][]int, error) {
	value, err := load(data)
	if err != nil {
		return nil, fmt.Errorf("read pickle: %w", err)
	}
	rows, err := column(value, name)
	if err != nil {
		return nil, fmt.Errorf("read pickle: %w", err)
	}
	return rows, nil
}

func column(value any, name string) ([][]int, error) {
	frame, ok := value.(*object)
	if !ok || frame.kind() != "DataFrame" {
		return nil, fmt.Errorf("it contains %s, not a DataFrame", describe(value))
	}

	state, ok := frame.state.(*dict)
	if !ok {
		return nil, errors.New("the DataFrame has no state")
	}

	manager, ok := state.get("_mgr").(*object)
	if !ok || len(manager.args) != 2 {
		return nil, errors.New("the DataFrame was written by a pandas older than 1.3: load it with a newer one " +
			"and save it again")
	}

	blocks, okBlocks := manager.args[0].(tuple)
	axes, okAxes := manager.args[1].(*list)
	if !okBlocks || !okAxes || len(axes.items) != 2 {
		return nil, errors.New("the DataFrame's blocks are not as pandas writes them")
	}

	names, err := labels(axes.items[0])
	if err != nil {
		return nil, err
	}

	at := slices.Index(names, name)
	if at < 0 {
		return nil, fmt.Errorf("it has no column %q; there are %q", name, names)
	}

	for _, b := range blocks {
		cells, found, err := cellsOf(b, at)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", name, err)
		}
		if found {
			return rows(cells)
		}
	}

	return nil, fmt.Errorf("no block holds column %q", name)
}

// kind is the class that an object is of; protocols 0 and 1 make objects by a
// call that is given their class.
func (o *object) kind() string {
	if o.class.name == "_reconstructor" && len(o.args) > 0 {
		if of, ok := o.args[0].(global); ok {
			return of.name
		}
	}
	return o.class.name
}

// labels are the names of the columns.
func labels(index any) ([]string, error) {
	o, ok := index.(*object)
	if !ok || o.class.name != "_new_Index" || len(o.args) != 2 {
		return nil, errors.New("the columns have no names")
	}

	fields, ok := o.args[1].(*dict)
	if !ok {
		return nil, errors.New("the columns have no names")
	}

	a, err := arrayOf(fields.get("data"))
	if err != nil {
		return nil, fmt.Errorf("names of the columns: %w", err)
	}

	names := make([]string, len(a.objects))
	for i, item := range a.objects {
		names[i], _ = item.(string)
	}

	return names, nil
}

// cellsOf are the cells of the column at position at, if the block holds it.
func cellsOf(block any, at int) (cells []any, found bool, err error) {
	o, ok := block.(*object)
	if !ok || o.class.name != "_unpickle_block" || len(o.args) < 2 {
		return nil, false, errors.New("a block is not as pandas writes it")
	}

	row, err := placed(o.args[1], at)
	if err != nil || row < 0 {
		return nil, false, err
	}

	a, err := arrayOf(o.args[0])
	if err != nil {
		return nil, false, err
	}
	if a.objects == nil || len(a.shape) != 2 || row >= a.shape[0] {
		return nil, false, errors.New("its cells are not arrays")
	}

	columns, n := a.shape[0], a.shape[1]
	if columns*n != len(a.objects) {
		return nil, false, errors.New("its number of cells is not that of the block")
	}

	cells = make([]any, n)
	for i := range n {
		if a.fortran {
			cells[i] = a.objects[i*columns+row]
		} else {
			cells[i] = a.objects[row*n+i]
		}
	}

	return cells, true, nil
}

// placed is the row of a block that holds the column at position at, -1 if
// none does. A block's places are a slice or an array of positions.
func placed(places any, at int) (int, error) {
	if o, ok := places.(*object); ok && o.class.name == "slice" && len(o.args) == 3 {
		start, okStart := o.args[0].(int64)
		stop, okStop := o.args[1].(int64)
		step, okStep := o.args[2].(int64)
		if o.args[2] == nil {
			step, okStep = 1, true
		}
		if !okStart || !okStop || !okStep || step < 1 {
			return 0, errors.New("a block's places are not as pandas writes them")
		}
		if p := int64(at); p >= start && p < stop && (p-start)%step == 0 {
			return int((p - start) / step), nil
		}
		return -1, nil
	}

	a, err := arrayOf(places)
	if err != nil {
		return 0, fmt.Errorf("a block's places: %w", err)
	}

	return slices.Index(a.ints, at), nil
}

func rows(cells []any) ([][]int, error) {
	out := make([][]int, len(cells))
	for i, cell := range cells {
		ids, err := idsOf(cell)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
		out[i] = ids
	}
	return out, nil
}

// idsOf reads one cell: an array or a list of whole numbers.
func idsOf(cell any) ([]int, error) {
	switch c := cell.(type) {
	case *list:
		return whole(c.items)
	case tuple:
		return whole(c)
	}

	a, err := arrayOf(cell)
	switch {
	case err != nil:
		return nil, err
	case len(a.shape) != 1:
		return nil, errors.New("an array of more than one dimension")
	case a.objects != nil:
		return whole(a.objects)
	}

	return a.ints, nil
}

func whole(items []any) ([]int, error) {
	ids := make([]int, len(items))
	for i, item := range items {
		n, ok := item.(int64)
		if !ok {
			return nil, fmt.Errorf("%s in place of a token id", describe(item))
		}
		ids[i] = int(n)
	}
	return ids, nil
}

func describe(value any) string {
	switch v := value.(type) {
	case nil:
		return "None"
	case *object:
		return strings.TrimPrefix(v.class.module+"."+v.class.name, "builtins.")
	case global:
		return v.module + "." + v.name
	case tuple:
		return "a tuple"
	case *list:
		return "a list"
	case *dict:
		return "a dictionary"
	case string:
		return "text"
	case []byte:
		return "bytes"
	}

	return fmt.Sprint(value)
}
