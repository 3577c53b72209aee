package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Bounds on the pages of a parquet file. The library makes room for what a
// header claims before it looks at the data, so that a broken file of a few
// bytes can ask for gigabytes and minutes.
const (
	footerMax     = 256 << 20 // bytes
	pageHeaderMax = 64 << 10  // bytes
	pageBytesMax  = 256 << 20 // of one page, as stored and unpacked
	pageValuesMax = 1 << 24   // of one page
)

// checkFooter looks at the end of a parquet file: the length of its
// description and four letters.
func checkFooter(file io.ReaderAt, size int64) error {
	const magic = "PAR1"
	end := make([]byte, 4+len(magic))
	start := size - int64(len(end)) - int64(len(magic)) // before it stands the magic of the beginning
	if start < 0 {
		return fmt.Errorf("not a parquet file: %d bytes", size)
	}
	if _, err := file.ReadAt(end, size-int64(len(end))); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if string(end[4:]) != magic {
		return fmt.Errorf("not a parquet file: it ends with %q, not %q", end[4:], magic)
	}
	if n := int64(binary.LittleEndian.Uint32(end)); n > min(start, footerMax) {
		return fmt.Errorf("the parquet file is broken: its description claims %d bytes of the file's %d", n, size)
	}

	return nil
}

// levels are the highest that the values of a column have.
type levels struct{ repetition, definition int }

// pageWalk looks at a column's pages before the library does.
type pageWalk struct {
	file   io.ReaderAt
	codec  format.CompressionCodec
	levels levels
	at     int64 // of the next page
	end    int64
	values int64 // that may still come
	unpacker
}

// checkPages refuses a column whose pages claim or unpack to more than is
// plausible. size is the file's.
func checkPages(file io.ReaderAt, size int64, chunk *format.ColumnMetaData, of levels) error {
	start := chunk.DataPageOffset
	if chunk.DictionaryPageOffset != 0 {
		start = chunk.DictionaryPageOffset
	}

	w := pageWalk{
		file: file, codec: chunk.Codec, levels: of, at: start, end: start + chunk.TotalCompressedSize,
		values: chunk.NumValues,
	}
	defer w.close()

	if start < 0 || chunk.TotalCompressedSize < 0 || w.end < start || w.end > size || chunk.DataPageOffset < start ||
		chunk.DataPageOffset > w.end {
		return fmt.Errorf("broken: its %d bytes at %d are not all within the file's %d", chunk.TotalCompressedSize,
			start, size)
	}

	for w.at < w.end {
		if err := w.page(); err != nil {
			return fmt.Errorf("page at byte %d: %w", w.at, err)
		}
	}

	return nil
}

// page checks one page and moves behind it.
func (w *pageWalk) page() error {
	raw := make([]byte, min(pageHeaderMax, w.end-w.at))
	if _, err := w.file.ReadAt(raw, w.at); err != nil && !errors.Is(err, io.EOF) {
		return err
	}

	var h format.PageHeader
	r := new(thrift.CompactProtocol).NewReaderFromBytes(raw)
	if err := thrift.NewDecoder(r).Decode(&h); err != nil {
		return fmt.Errorf("no header of less than %d bytes: %w", len(raw), err)
	}

	data := w.at + int64(r.BytesRead())
	stored, unpacked := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	switch {
	case stored < 0 || unpacked < 0 || stored > w.end-data:
		return fmt.Errorf("it claims %d bytes, %d unpacked, of the %d that are left", stored, unpacked, w.end-data)
	case max(stored, unpacked) > pageBytesMax:
		return fmt.Errorf("it claims %d bytes: want at most %d", max(stored, unpacked), pageBytesMax)
	}

	if err := w.count(&h); err != nil {
		return err
	}
	if err := w.content(&h, data); err != nil {
		return err
	}

	w.at = data + stored
	return nil
}

// count takes the page's values off those that the column has.
func (w *pageWalk) count(h *format.PageHeader) error {
	values, nulls := valuesOf(h)
	switch {
	case values < 0 || values > pageValuesMax:
		return fmt.Errorf("it claims %d values: want at most %d", values, pageValuesMax)
	case nulls < 0 || nulls > values:
		return fmt.Errorf("it claims %d nulls among %d values", nulls, values)
	case h.Type == format.DictionaryPage:
		return nil
	}
	if w.values -= int64(values); w.values < 0 {
		return errors.New("the pages hold more values than the column")
	}
	return nil
}

// valuesOf is how many values a page claims, nulls among them where it says so.
func valuesOf(h *format.PageHeader) (values, nulls int32) {
	switch h.Type { // the library goes by it, whatever else is there
	case format.DataPageV2:
		return h.DataPageHeaderV2.V.NumValues, h.DataPageHeaderV2.V.NumNulls
	case format.DictionaryPage:
		return h.DictionaryPageHeader.V.NumValues, 0
	default:
		return h.DataPageHeader.V.NumValues, 0
	}
}

// content unpacks the data of a page and looks at how its values are encoded.
func (w *pageWalk) content(h *format.PageHeader, at int64) error {
	stored, claimed := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	page := pageContent{levels: w.levels, header: h}
	codec := w.codec
	if v2 := &h.DataPageHeaderV2; h.Type == format.DataPageV2 {
		if v2.V.IsCompressed.Valid && !v2.V.IsCompressed.V {
			codec = format.Uncompressed
		}
		repetition, definition := int64(v2.V.RepetitionLevelsByteLength), int64(v2.V.DefinitionLevelsByteLength)
		if repetition < 0 || definition < 0 || repetition+definition > min(stored, claimed) {
			return fmt.Errorf("its levels claim %d and %d bytes of %d", repetition, definition, min(stored, claimed))
		}
		page.repetition, page.definition = make([]byte, repetition), make([]byte, definition)
		for _, part := range [][]byte{page.repetition, page.definition} {
			if _, err := w.file.ReadAt(part, at); err != nil {
				return err
			}
			at, stored, claimed = at+int64(len(part)), stored-int64(len(part)), claimed-int64(len(part))
		}
	}

	var err error
	if page.data, err = w.unpack(codec, io.NewSectionReader(w.file, at, stored), claimed); err != nil {
		return err
	}

	return page.check()
}
