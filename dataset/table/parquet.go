package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// parquetTable is a parquet file, of which only the columns used are read.
type parquetTable struct {
	file   *parquet.File
	raw    io.ReaderAt
	size   int64
	closer io.Closer
}

// openParquet looks at the file's description; close closes the file too.
func openParquet(file *os.File) (*parquetTable, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	t, err := newParquetTable(file, info.Size())
	if err != nil {
		return nil, err
	}
	t.closer = file
	return t, nil
}

func newParquetTable(r io.ReaderAt, size int64) (t *parquetTable, err error) {
	defer asCorrupt(&err)
	if err := checkFooter(r, size); err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("not a parquet file: %w", err)
	}
	if err := checkGroups(file); err != nil {
		return nil, err
	}
	return &parquetTable{file: file, raw: r, size: size}, nil
}

// checkGroups refuses a file whose numbers of rows are not plausible.
func checkGroups(file *parquet.File) error {
	rows := file.NumRows()
	if rows < 0 || rows > MaxRows {
		return fmt.Errorf("%d rows: want at most %d in one file", rows, MaxRows)
	}

	for _, group := range file.RowGroups() {
		n := group.NumRows()
		if n < 0 || n > rows {
			return errors.New("the parquet file is broken: its row groups do not hold its rows")
		}
		rows -= n
	}

	if rows != 0 {
		return errors.New("the parquet file is broken: its row groups do not hold its rows")
	}

	return nil
}

// asCorrupt makes an error of a panic: the library meets broken files with one.
func asCorrupt(err *error) {
	if broken := recover(); broken != nil {
		*err = fmt.Errorf("the parquet file is broken: %v", broken)
	}
}

func (t *parquetTable) Rows() int    { return int(t.file.NumRows()) }
func (t *parquetTable) Close() error { return t.closer.Close() }

func (t *parquetTable) Columns() []string {
	var names []string
	for _, f := range t.file.Schema().Fields() {
		names = append(names, f.Name())
	}
	return names
}

// leaves finds the parts of a column: its texts and, or -1, its roles.
func (t *parquetTable) leaves(field string) (text, role int, err error) {
	text, role = -1, -1
	only := -1
	count := 0
	for i, path := range t.file.Schema().Columns() {
		if path[0] != field {
			continue
		}
		only = i
		count++
		for _, part := range path[1:] {
			switch {
			case slices.Contains([]string{"value", "content", "text"}, part) && text < 0:
				text = i
			case slices.Contains([]string{"from", "role"}, part) && role < 0:
				role = i
			}
		}
	}

	if text < 0 && count == 1 {
		text = only
	}
	if text < 0 {
		return 0, 0, fmt.Errorf("column %q holds no texts under value, content or text", field)
	}

	for _, leaf := range []int{text, role} {
		if leaf < 0 {
			continue
		}
		path := t.file.Schema().Columns()[leaf]
		if column, ok := t.file.Schema().Lookup(path...); !ok || column.Node.Type().Kind() != parquet.ByteArray {
			return 0, 0, fmt.Errorf("column %q holds no texts", strings.Join(path, "."))
		}
	}

	return text, role, nil
}

// each implements chatTable: one pass over the two parts of the column.
func (t *parquetTable) Each(ctx context.Context, field string, picked []int,
	use func(int, []Utterance) error,
) (err error) {
	defer asCorrupt(&err)
	text, role, err := t.leaves(field)
	if err != nil {
		return err
	}
	left := int64(maxTextBytes)
	return t.eachGroup(picked, []int{text, role}, func(group parquet.RowGroup, first int, own []int) error {
		texts, roles := newLeafReader(group, text, &left), newLeafReader(group, role, &left)
		return errors.Join(readPicked(ctx, texts, roles, own,
			func(row int, said []Utterance) error { return use(first+row, said) }),
			texts.Close(), roles.Close())
	})
}

// eachGroup calls read with each row group that holds some of the rows picked,
// which ascend: its first row, and those rows counted from there. The pages of
// the leaves have been looked at.
func (t *parquetTable) eachGroup(picked, leaves []int,
	read func(group parquet.RowGroup, first int, own []int) error,
) error {
	first := 0
	for i, group := range t.file.RowGroups() {
		count := int(group.NumRows())
		var own []int
		for len(picked) > 0 && picked[0] < first+count {
			own, picked = append(own, picked[0]-first), picked[1:]
		}
		if len(own) > 0 {
			if err := t.checkLeaves(i, leaves...); err != nil {
				return err
			}
			if err := read(group, first, own); err != nil {
				return err
			}
		}
		first += count
	}

	return nil
}

// checkLeaves looks at the pages of two leaves of a row group.
func (t *parquetTable) checkLeaves(group int, leaves ...int) error {
	columns := t.file.Metadata().RowGroups[group].Columns
	for _, leaf := range leaves {
		if leaf < 0 {
			continue
		}
		path := t.file.Schema().Columns()[leaf]
		column, _ := t.file.Schema().Lookup(path...)
		chunk := &columns[leaf].MetaData
		err := checkPages(t.raw, t.size, chunk, levels{column.MaxRepetitionLevel, column.MaxDefinitionLevel})
		if first := t.file.Metadata().RowGroups[0].Columns[leaf].MetaData.Codec; chunk.Codec != first {
			// which the library takes for all
			err = fmt.Errorf("packed with %s, in the first row group with %s", chunk.Codec, first)
		}
		if err != nil {
			return fmt.Errorf("row group %d, column %q: %w", group+1, strings.Join(path, "."), err)
		}
	}

	return nil
}

func readPicked(ctx context.Context, texts, roles *leafReader, picked []int, use func(int, []Utterance) error) error {
	for row := 0; len(picked) > 0; row++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		wanted := picked[0] == row
		said, err := texts.next(wanted)
		if err != nil {
			return fmt.Errorf("row %d: %w", row+1, err)
		}
		who, err := roles.next(wanted)
		if err != nil {
			return fmt.Errorf("row %d: %w", row+1, err)
		}
		if !wanted {
			continue
		}
		picked = picked[1:]
		together, err := together(who, said)
		if err != nil {
			return fmt.Errorf("row %d: %w", row+1, err)
		}
		if err := use(row, together); err != nil {
			return err
		}
	}

	return nil
}

// leafReader reads the texts of one leaf column, row by row.
type leafReader struct {
	pages  parquet.Pages
	values parquet.ValueReader
	buffer []parquet.Value
	at     int // of the next value in buffer
	have   int
	left   *int64 // bytes of text that may still come
}

// newLeafReader reads a leaf of a row group, of texts up to left bytes, which it
// counts down; for leaf -1 each row has nothing.
func newLeafReader(group parquet.RowGroup, leaf int, left *int64) *leafReader {
	if leaf < 0 {
		return nil
	}
	return &leafReader{pages: group.ColumnChunks()[leaf].Pages(), buffer: make([]parquet.Value, 256), left: left}
}

func (l *leafReader) Close() error {
	if l == nil {
		return nil
	}
	return l.pages.Close()
}

// Bounds on what is taken from a file: a broken one may claim any number of
// messages, and name one long text of its dictionary any number of times.
const (
	maxMessages  = 1 << 20 // of a conversation
	maxTextBytes = 1 << 30 // of all rows that are read at once
)

// next returns the texts of the next row, none if it is not wanted.
func (l *leafReader) next(wanted bool) ([]string, error) {
	if l == nil {
		return nil, nil
	}

	var out []string
	err := l.nextRow(maxMessages, func(v parquet.Value) {
		if !wanted || v.IsNull() {
			return
		}
		if *l.left -= int64(len(v.ByteArray())); *l.left >= 0 {
			out = append(out, strings.ToValidUTF8(string(v.ByteArray()), "\uFFFD"))
		}
	})

	if err == nil && *l.left < 0 {
		err = fmt.Errorf("more than %d bytes of text in the rows used: ask for fewer prompts, or is the file broken?",
			maxTextBytes)
	}

	return out, err
}

// nextRow calls use with each value of the next row, at most so many.
func (l *leafReader) nextRow(most int, use func(parquet.Value)) error {
	for values := 0; ; values++ {
		begun := values > 0
		v, err := l.peek()
		switch {
		case errors.Is(err, io.EOF) && begun:
			return nil
		case errors.Is(err, io.EOF):
			return errors.New("the column ends before the rows do")
		case err != nil:
			return err
		case begun && v.RepetitionLevel() == 0:
			return nil
		case values == most:
			return fmt.Errorf("more than %d values", most)
		}
		l.at++
		use(v)
	}
}

// peek is the next value of the column.
func (l *leafReader) peek() (parquet.Value, error) {
	for l.at == l.have {
		if l.values == nil {
			page, err := l.pages.ReadPage()
			if err != nil {
				return parquet.Value{}, err
			}
			l.values = page.Values()
		}
		n, err := l.values.ReadValues(l.buffer)
		l.at, l.have = 0, n
		switch {
		case errors.Is(err, io.EOF):
			l.values = nil
		case err != nil:
			return parquet.Value{}, err
		case n == 0:
			return parquet.Value{}, errors.New("a page without an end")
		}
	}

	return l.buffer[l.at], nil
}

// MaxRows bounds what is kept of a trace.
const MaxRows = 1 << 24
