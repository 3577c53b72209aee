package table

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// parquetTable is a parquet file, of which only the columns used are read.
type parquetTable struct {
	format.FileMetaData

	leaves []leaf
	file   io.ReaderAt
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
	description, err := readFooter(r, size)
	if err != nil {
		return nil, err
	}

	t = &parquetTable{file: r, size: size}
	in := new(thrift.CompactProtocol).NewReaderFromBytes(description) // a signature may follow
	if err := thrift.NewDecoder(in).Decode(&t.FileMetaData); err != nil {
		return nil, fmt.Errorf("not a parquet file: %w", err)
	}
	if t.leaves, err = leavesOf(t.Schema); err != nil {
		return nil, err
	}
	return t, t.checkGroups()
}

const footerMax = 256 << 20 // bytes

// readFooter returns the description at the end of a parquet file, which is
// followed by its length and four letters.
func readFooter(file io.ReaderAt, size int64) ([]byte, error) {
	const magic = "PAR1"
	end := make([]byte, 4+len(magic))
	start := size - int64(len(end)) - int64(len(magic)) // before it stands the magic of the beginning
	if start < 0 {
		return nil, fmt.Errorf("not a parquet file: %d bytes", size)
	}
	if _, err := file.ReadAt(end, size-int64(len(end))); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if string(end[4:]) != magic {
		return nil, fmt.Errorf("not a parquet file: it ends with %q, not %q", end[4:], magic)
	}

	n := int64(binary.LittleEndian.Uint32(end))
	if n > min(start, footerMax) {
		return nil, fmt.Errorf("the parquet file is broken: its description claims %d bytes of the file's %d", n, size)
	}
	description := make([]byte, n)
	_, err := file.ReadAt(description, size-int64(len(end))-n)
	return description, err
}

// checkGroups refuses a file whose numbers of rows are not plausible, and one
// whose row groups do not have its columns.
func (t *parquetTable) checkGroups() error {
	rows := t.NumRows
	if rows < 0 || rows > MaxRows {
		return fmt.Errorf("%d rows: want at most %d in one file", rows, MaxRows)
	}

	for i, group := range t.RowGroups {
		n := group.NumRows
		if n < 0 || n > rows {
			return errors.New("the parquet file is broken: its row groups do not hold its rows")
		}
		if len(group.Columns) != len(t.leaves) {
			return fmt.Errorf("the parquet file is broken: row group %d has %d columns of %d", i+1, len(group.Columns),
				len(t.leaves))
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

func (t *parquetTable) Rows() int    { return int(t.NumRows) }
func (t *parquetTable) Close() error { return t.closer.Close() }

func (t *parquetTable) Columns() []string {
	var names []string
	for _, l := range t.leaves {
		names = append(names, l.path[0])
	}
	return slices.Compact(names)
}

// textLeaves finds the parts of a column: its texts and, or -1, its roles.
func (t *parquetTable) textLeaves(field string) (text, role int, err error) {
	text, role = -1, -1
	only := -1
	count := 0
	for i, l := range t.leaves {
		if l.path[0] != field {
			continue
		}
		only = i
		count++
		for _, part := range l.path[1:] {
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
		return 0, 0, fmt.Errorf("column %q contains no text under value, content or text", field)
	}

	for _, leaf := range []int{text, role} {
		if leaf >= 0 && t.leaves[leaf].kind != format.ByteArray {
			return 0, 0, fmt.Errorf("column %q contains no text", t.leaves[leaf])
		}
	}

	return text, role, nil
}

// Each implements Chats: one pass over the two parts of the column.
func (t *parquetTable) Each(ctx context.Context, field string, picked []int,
	use func(int, []Utterance) error,
) (err error) {
	defer asCorrupt(&err)
	text, role, err := t.textLeaves(field)
	if err != nil {
		return err
	}
	left := int64(maxTextBytes)
	return t.eachGroup(picked, func(group, first int, own []int) error {
		texts, err := t.newLeafReader(group, text, &left)
		if err != nil {
			return err
		}
		defer texts.Close()
		roles, err := t.newLeafReader(group, role, &left)
		if err != nil {
			return err
		}
		defer roles.Close()

		return readPicked(ctx, texts, roles, own, func(row int, said []Utterance) error { return use(first+row, said) })
	})
}

// eachGroup calls read with each row group that holds some of the rows picked,
// which ascend: its first row, and those rows counted from there.
func (t *parquetTable) eachGroup(picked []int, read func(group, first int, own []int) error) error {
	first := 0
	for i := range t.RowGroups {
		count := int(t.RowGroups[i].NumRows)
		var own []int
		for len(picked) > 0 && picked[0] < first+count {
			own, picked = append(own, picked[0]-first), picked[1:]
		}
		if len(own) > 0 {
			if err := read(i, first, own); err != nil {
				return err
			}
		}
		first += count
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

// leafReader reads one leaf column of a row group, row by row.
type leafReader struct {
	name  string
	pages *pageReader
	page  *page
	left  *int64 // bytes of text that may still come
}

// newLeafReader reads a leaf of a row group, of texts up to left bytes, which it
// counts down; for leaf -1 each row has nothing.
func (t *parquetTable) newLeafReader(group, leaf int, left *int64) (*leafReader, error) {
	if leaf < 0 {
		return nil, nil
	}
	name := fmt.Sprintf("row group %d, column %q", group+1, t.leaves[leaf])
	pages, err := newPageReader(t.file, t.size, &t.RowGroups[group].Columns[leaf].MetaData, t.leaves[leaf])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &leafReader{name: name, pages: pages, page: new(page), left: left}, nil
}

// Close frees what unpacks pages.
func (l *leafReader) Close() {
	if l != nil {
		l.pages.close()
	}
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
	err := l.nextRow(maxMessages, func(v value) {
		if !wanted || v.null {
			return
		}
		if *l.left -= int64(len(v.text)); *l.left >= 0 {
			out = append(out, strings.ToValidUTF8(string(v.text), "\uFFFD"))
		}
	})

	if err == nil && *l.left < 0 {
		err = fmt.Errorf("more than %d bytes of text in the rows used: ask for fewer prompts, or is the file broken?",
			maxTextBytes)
	}

	return out, err
}

// nextRow calls use with each value of the next row, at most so many.
func (l *leafReader) nextRow(most int, use func(value)) error {
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
		case begun && v.begins:
			return nil
		case values == most:
			return fmt.Errorf("more than %d values", most)
		}
		l.page.skip(v)
		use(v)
	}
}

// peek is the next value of the column.
func (l *leafReader) peek() (value, error) {
	for l.page.at == l.page.n {
		page, err := l.pages.next()
		if err != nil {
			return value{}, fmt.Errorf("%s, %w", l.name, err)
		}
		l.page = page
	}
	return l.page.value(), nil
}

// MaxRows bounds what is kept of a trace.
const MaxRows = 1 << 24
