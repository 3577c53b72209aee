// Package parquet writes tables as Parquet files, for notebooks.
//
// Columns and rows go in; a file of version 1 of the format comes out, with one
// page for each column of each group of rows, values plain and packed with zstd,
// and every value optional. It reads nothing, and knows neither runs nor figures.
package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Kind is the type of a column's values.
type Kind int

// The kinds of column, and the Go types of their values.
const (
	Text  Kind = iota // string
	Whole             // int
	Float             // float64
	Truth             // bool
)

// Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
}

// groupRows are the rows that are held in memory before they are written.
const groupRows = 100_000

// magic begins and ends a file.
const magic = "PAR1"

// Writer writes one table.
type Writer struct {
	out     io.Writer
	at      int64 // bytes written
	pack    *zstd.Encoder
	columns []Column
	cells   []cells
	rows    int // in cells
	meta    format.FileMetaData
}

// cells are the values of a column that are not written yet.
type cells struct {
	present []bool
	plain   []byte // of the values that are present, one after the other; bits of Truth one per byte
}

// NewWriter begins a file with these columns. by names the program that writes it.
func NewWriter(out io.Writer, by string, columns []Column) (*Writer, error) {
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}

	w := &Writer{out: out, pack: pack, columns: columns, cells: make([]cells, len(columns))}
	w.meta.Version, w.meta.CreatedBy = 1, by
	w.meta.Schema = append(w.meta.Schema, format.SchemaElement{
		Name: "table", NumChildren: thrift.New(int32(len(columns))),
	})
	for _, c := range columns {
		w.meta.Schema = append(w.meta.Schema, c.schema())
	}

	return w, w.write([]byte(magic))
}

func (c Column) schema() format.SchemaElement {
	e := format.SchemaElement{
		Name: c.Name, RepetitionType: thrift.New(format.Optional), Type: thrift.New(c.Kind.stored()),
	}
	if c.Kind == Text {
		e.ConvertedType = thrift.New(deprecated.UTF8)
		e.LogicalType.Value = &format.StringType{}
	}
	return e
}

func (k Kind) stored() format.Type {
	switch k {
	case Whole:
		return format.Int64
	case Float:
		return format.Double
	case Truth:
		return format.Boolean
	default:
		return format.ByteArray
	}
}

// Row adds a row: a value for each column, of its kind's Go type or a pointer to
// it. Nil, of any type, is null.
func (w *Writer) Row(values ...any) error {
	if len(values) != len(w.columns) {
		return fmt.Errorf("write parquet: %d values for %d columns", len(values), len(w.columns))
	}
	for i, value := range values {
		if err := w.cells[i].add(w.columns[i], value); err != nil {
			return err
		}
	}
	if w.rows++; w.rows == groupRows {
		return w.group()
	}
	return nil
}

func (c *cells) add(column Column, value any) error {
	value = pointedTo(value)
	c.present = append(c.present, value != nil)

	ok := true
	switch v := value.(type) {
	case nil:
	case string:
		ok = column.Kind == Text
		c.plain = binary.LittleEndian.AppendUint32(c.plain, uint32(len(v)))
		c.plain = append(c.plain, v...)
	case int:
		ok = column.Kind == Whole
		c.plain = binary.LittleEndian.AppendUint64(c.plain, uint64(v))
	case float64:
		ok = column.Kind == Float
		c.plain = binary.LittleEndian.AppendUint64(c.plain, math.Float64bits(v))
	case bool:
		ok = column.Kind == Truth
		c.plain = append(c.plain, map[bool]byte{true: 1}[v])
	default:
		ok = false
	}

	if !ok {
		return fmt.Errorf("write parquet: column %s does not take a %T", column.Name, value)
	}
	return nil
}

// pointedTo is what a pointer points to, nil for a nil pointer.
func pointedTo(value any) any {
	switch p := value.(type) {
	case *string:
		if p != nil {
			return *p
		}
	case *int:
		if p != nil {
			return *p
		}
	case *float64:
		if p != nil {
			return *p
		}
	case *bool:
		if p != nil {
			return *p
		}
	default:
		return value
	}

	return nil
}

// Close writes what is left, and the description at the end of the file. It does
// not close the file.
func (w *Writer) Close() error {
	if err := w.group(); err != nil {
		return err
	}
	meta, err := thrift.Marshal(new(thrift.CompactProtocol), &w.meta)
	if err != nil {
		return fmt.Errorf("write parquet: %w", err)
	}
	end := binary.LittleEndian.AppendUint32(meta, uint32(len(meta)))
	return errors.Join(w.write(append(end, magic...)), w.pack.Close())
}

func (w *Writer) write(p []byte) error {
	n, err := w.out.Write(p)
	w.at += int64(n)
	return err
}

// group writes the rows that are held in memory as a group.
func (w *Writer) group() error {
	if w.rows == 0 {
		return nil
	}

	group := format.RowGroup{NumRows: int64(w.rows)}
	for i, column := range w.columns {
		chunk, err := w.chunk(column, &w.cells[i])
		if err != nil {
			return err
		}
		group.TotalByteSize += chunk.MetaData.TotalUncompressedSize
		group.Columns = append(group.Columns, chunk)
		w.cells[i] = cells{}
	}

	w.meta.NumRows += int64(w.rows)
	w.meta.RowGroups = append(w.meta.RowGroups, group)
	w.rows = 0
	return nil
}

// chunk writes the values of a column as one page.
func (w *Writer) chunk(column Column, c *cells) (format.ColumnChunk, error) {
	page := append(levels(c.present), values(column.Kind, c.plain)...)
	packed := w.pack.EncodeAll(page, nil)
	header, err := thrift.Marshal(new(thrift.CompactProtocol), &format.PageHeader{
		Type: format.DataPage, UncompressedPageSize: int32(len(page)), CompressedPageSize: int32(len(packed)),
		DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues: int32(len(c.present)), Encoding: format.Plain, DefinitionLevelEncoding: format.RLE,
			RepetitionLevelEncoding: format.RLE,
		}),
	})
	if err != nil {
		return format.ColumnChunk{}, fmt.Errorf("write parquet: %w", err)
	}

	chunk := format.ColumnChunk{FileOffset: w.at, MetaData: format.ColumnMetaData{
		Type: column.Kind.stored(), Encoding: thrift.Slice[format.Encoding]{format.Plain, format.RLE},
		PathInSchema: thrift.Slice[string]{column.Name}, Codec: format.Zstd, NumValues: int64(len(c.present)),
		TotalUncompressedSize: int64(len(header) + len(page)), TotalCompressedSize: int64(len(header) + len(packed)),
		DataPageOffset: w.at,
	}}
	return chunk, errors.Join(w.write(header), w.write(packed))
}

// levels are the definition levels of optional values: runs of 0, absent, and
// of 1, present, behind their length in bytes.
func levels(present []bool) []byte {
	out := make([]byte, 4)
	for i := 0; i < len(present); {
		end := i
		for end < len(present) && present[end] == present[i] {
			end++
		}
		out = binary.AppendUvarint(out, uint64(end-i)<<1)
		out = append(out, map[bool]byte{true: 1}[present[i]])
		i = end
	}
	binary.LittleEndian.PutUint32(out, uint32(len(out)-4))
	return out
}

// values are the plain encoding: truths take a bit each, the first the lowest.
func values(kind Kind, plain []byte) []byte {
	if kind != Truth {
		return plain
	}
	bits := make([]byte, (len(plain)+7)/8)
	for i, b := range plain {
		bits[i/8] |= b << (i % 8)
	}
	return bits
}
