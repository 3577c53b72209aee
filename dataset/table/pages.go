package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Bounds on the pages of a parquet file: a broken file of a few bytes can claim
// gigabytes.
const (
	pageHeaderMax = 64 << 10  // bytes
	pageBytesMax  = 256 << 20 // of one page, as stored and unpacked
	pageValuesMax = 1 << 24   // of one page
)

// pageReader reads the pages of one column of a row group, each of which is
// valid until the next.
type pageReader struct {
	file       io.ReaderAt
	codec      format.CompressionCodec
	leaf       leaf
	at         int64 // of the next page
	end        int64
	left       int64 // values that may still come
	dictionary *values
	unpacker
}

// newPageReader looks at where the column's pages are. size is the file's.
func newPageReader(file io.ReaderAt, size int64, chunk *format.ColumnMetaData, of leaf) (*pageReader, error) {
	start := chunk.DataPageOffset
	if chunk.DictionaryPageOffset != 0 {
		start = chunk.DictionaryPageOffset
	}
	end := start + chunk.TotalCompressedSize

	switch {
	case start < 0 || chunk.TotalCompressedSize < 0 || end < start || end > size || chunk.DataPageOffset < start ||
		chunk.DataPageOffset > end:
		return nil, fmt.Errorf("broken: its %d bytes at %d are not all within the file's %d", chunk.TotalCompressedSize,
			start, size)
	case chunk.Type != of.kind:
		return nil, fmt.Errorf("broken: its values are %s in one place and %s in another", of.kind, chunk.Type)
	}

	return &pageReader{file: file, codec: chunk.Codec, leaf: of, at: start, end: end, left: chunk.NumValues}, nil
}

// next returns the next page of values, io.EOF behind the last.
func (r *pageReader) next() (*page, error) {
	for r.at < r.end {
		start := r.at
		p, err := r.read()
		if err != nil {
			return nil, fmt.Errorf("page at byte %d: %w", start, err)
		}
		if p != nil {
			return p, nil
		}
	}
	return nil, io.EOF
}

// read reads the next page; nil if it holds no rows.
func (r *pageReader) read() (*page, error) {
	h, err := r.header()
	if err != nil {
		return nil, err
	}
	stored := io.NewSectionReader(r.file, r.at, int64(h.CompressedPageSize))
	r.at += stored.Size()

	switch h.Type {
	case format.DataPage:
		return r.firstForm(h, stored)
	case format.DataPageV2:
		return r.secondForm(h, stored)
	case format.DictionaryPage:
		return nil, r.keepDictionary(h, stored)
	default:
		return nil, nil
	}
}

// header reads the header of a page and moves behind it.
func (r *pageReader) header() (*format.PageHeader, error) {
	raw := make([]byte, min(pageHeaderMax, r.end-r.at))
	if _, err := r.file.ReadAt(raw, r.at); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}

	h := new(format.PageHeader)
	in := new(thrift.CompactProtocol).NewReaderFromBytes(raw)
	if err := thrift.NewDecoder(in).Decode(h); err != nil {
		return nil, fmt.Errorf("no header of less than %d bytes: %w", len(raw), err)
	}
	r.at += int64(in.BytesRead())

	stored, unpacked := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	switch {
	case stored < 0 || unpacked < 0 || stored > r.end-r.at:
		return nil, fmt.Errorf("it claims %d bytes, %d unpacked, of the %d that are left", stored, unpacked, r.end-r.at)
	case max(stored, unpacked) > pageBytesMax:
		return nil, fmt.Errorf("it claims %d bytes: want at most %d", max(stored, unpacked), pageBytesMax)
	}

	return h, r.count(h)
}

// count takes the page's values off those that the column has.
func (r *pageReader) count(h *format.PageHeader) error {
	n, ofColumn := h.DictionaryPageHeader.V.NumValues, false
	switch h.Type { // whatever other headers there are
	case format.DataPage:
		n, ofColumn = h.DataPageHeader.V.NumValues, true
	case format.DataPageV2:
		n, ofColumn = h.DataPageHeaderV2.V.NumValues, true
	case format.DictionaryPage, format.IndexPage:
	}

	if n < 0 || n > pageValuesMax {
		return fmt.Errorf("it claims %d values: want at most %d", n, pageValuesMax)
	}
	if ofColumn {
		r.left -= int64(n)
	}
	if r.left < 0 {
		return errors.New("the pages hold more values than the column")
	}
	return nil
}

func (r *pageReader) keepDictionary(h *format.PageHeader, stored *io.SectionReader) error {
	of := h.DictionaryPageHeader.V
	if of.Encoding != format.Plain && of.Encoding != plainDictionary {
		return fmt.Errorf("a dictionary encoded as %s", of.Encoding)
	}
	data, err := r.unpack(r.codec, stored, int64(h.UncompressedPageSize))
	if err != nil {
		return err
	}

	entries, err := decodeValues(r.leaf.kind, format.Plain, bytes.Clone(data), int(of.NumValues))
	r.dictionary = &entries
	return err
}

// firstForm reads a page whose levels are packed with its values, each with its
// length before it.
func (r *pageReader) firstForm(h *format.PageHeader, stored *io.SectionReader) (*page, error) {
	of := &h.DataPageHeader.V
	data, err := r.unpack(r.codec, stored, int64(h.UncompressedPageSize))
	if err != nil {
		return nil, err
	}

	take := func(highest int, encoding format.Encoding) (levels []byte) {
		switch {
		case highest == 0 || err != nil:
			return nil
		case encoding != format.RLE:
			err = fmt.Errorf("levels encoded as %s cannot be read: write the file with a newer version of the program",
				encoding)
			return nil
		case len(data) < 4 || int64(binary.LittleEndian.Uint32(data)) > int64(len(data)-4):
			err = errCutPage
			return nil
		}
		n := binary.LittleEndian.Uint32(data)
		levels, data = data[4:4+n], data[4+n:]
		return levels
	}
	repetition := take(r.leaf.levels.repetition, of.RepetitionLevelEncoding)
	definition := take(r.leaf.levels.definition, of.DefinitionLevelEncoding)
	if err != nil {
		return nil, err
	}

	return r.page(int(of.NumValues), repetition, definition, of.Encoding, data)
}

// secondForm reads a page whose levels are before its values, not packed.
func (r *pageReader) secondForm(h *format.PageHeader, stored *io.SectionReader) (*page, error) {
	of := &h.DataPageHeaderV2.V
	codec := r.codec
	if of.IsCompressed.Valid && !of.IsCompressed.V {
		codec = format.Uncompressed
	}

	repetition, definition := int64(of.RepetitionLevelsByteLength), int64(of.DefinitionLevelsByteLength)
	both, claimed := repetition+definition, int64(h.UncompressedPageSize)
	if repetition < 0 || definition < 0 || both > min(stored.Size(), claimed) {
		return nil, fmt.Errorf("its levels claim %d and %d bytes of %d", repetition, definition,
			min(stored.Size(), claimed))
	}
	levels := make([]byte, both)
	if _, err := io.ReadFull(stored, levels); err != nil {
		return nil, err
	}

	data, err := r.unpack(codec, io.NewSectionReader(stored, both, stored.Size()-both), claimed-both)
	if err != nil {
		return nil, err
	}
	return r.page(int(of.NumValues), levels[:repetition], levels[repetition:], of.Encoding, data)
}

// page decodes n values and their levels.
func (r *pageReader) page(n int, repetition, definition []byte, encoding format.Encoding, data []byte) (*page, error) {
	p := &page{n: n, highest: r.leaf.levels.definition}
	var err error
	if p.repetition, err = decodeLevels(repetition, r.leaf.levels.repetition, n); err != nil {
		return nil, fmt.Errorf("repetition levels: %w", err)
	}
	if p.definition, err = decodeLevels(definition, p.highest, n); err != nil {
		return nil, fmt.Errorf("definition levels: %w", err)
	}

	present := n
	for _, level := range p.definition {
		if int(level) != p.highest {
			present--
		}
	}
	if present == 0 {
		return p, nil
	}

	switch encoding {
	case plainDictionary, format.RLEDictionary:
		if r.dictionary == nil {
			return nil, errors.New("no dictionary stands before it")
		}
		p.values = *r.dictionary
		p.indexes, err = decodeIndexes(data, present, p.values.len())
	default:
		p.values, err = decodeValues(r.leaf.kind, encoding, data, present)
	}

	return p, err
}

// page is a part of a column.
type page struct {
	n          int     // values, nulls too
	highest    int     // definition level, that of a value that is not null
	repetition []uint8 // nil: 0 for each value
	definition []uint8
	values     values
	indexes    []uint32 // into values; nil: one after the other

	at   int // of the next value
	used int // of those that are not null
}

// value is a text or a whole number, or null.
type value struct {
	begins bool // a row
	null   bool
	text   []byte
	number int64
}

// value returns the next value, of which there is one.
func (p *page) value() value {
	v := value{
		begins: p.repetition == nil || p.repetition[p.at] == 0,
		null:   p.definition != nil && int(p.definition[p.at]) != p.highest,
	}
	if v.null {
		return v
	}

	i := p.used
	if p.indexes != nil {
		i = int(p.indexes[i])
	}
	if p.values.numbers != nil {
		v.number = p.values.numbers[i]
	} else {
		v.text = p.values.text[p.values.spans[i].from:p.values.spans[i].to]
	}

	return v
}

// skip moves behind the next value.
func (p *page) skip(v value) {
	p.at++
	if !v.null {
		p.used++
	}
}
