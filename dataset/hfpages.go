package dataset

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

// pageWalk looks at the headers of a column's pages before the library does.
type pageWalk struct {
	file   io.ReaderAt
	codec  format.CompressionCodec
	at     int64 // of the next page
	end    int64
	values int64 // that may still come
}

// checkPages refuses a column whose pages claim more than is plausible. size is
// the file's.
func checkPages(file io.ReaderAt, size int64, chunk *format.ColumnMetaData) error {
	start := chunk.DataPageOffset
	if chunk.DictionaryPageOffset != 0 {
		start = chunk.DictionaryPageOffset
	}
	w := pageWalk{file: file, codec: chunk.Codec, at: start, end: start + chunk.TotalCompressedSize, values: chunk.NumValues}
	if start < 0 || chunk.TotalCompressedSize < 0 || w.end < start || w.end > size || chunk.DataPageOffset < start || chunk.DataPageOffset > w.end {
		return fmt.Errorf("broken: its %d bytes at %d are not all within the file's %d", chunk.TotalCompressedSize, start, size)
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
	if err := w.snappy(&h, data); err != nil {
		return err
	}
	w.at = data + stored
	return nil
}

// count takes the page's values off those that the column has.
func (w *pageWalk) count(h *format.PageHeader) error {
	values := h.DataPageHeader.V.NumValues
	switch {
	case h.DataPageHeaderV2.Valid:
		values = h.DataPageHeaderV2.V.NumValues
	case h.DictionaryPageHeader.Valid:
		values = h.DictionaryPageHeader.V.NumValues
	}
	if values < 0 || values > pageValuesMax {
		return fmt.Errorf("it claims %d values: want at most %d", values, pageValuesMax)
	}
	if h.Type == format.DictionaryPage {
		return nil
	}
	if w.values -= int64(values); w.values < 0 {
		return errors.New("the pages hold more values than the column")
	}
	return nil
}

// snappy checks the length that a packed page claims within its data.
func (w *pageWalk) snappy(h *format.PageHeader, data int64) error {
	if w.codec != format.Snappy {
		return nil
	}
	unpacked, stored := int64(h.UncompressedPageSize), int64(h.CompressedPageSize)
	if v2 := &h.DataPageHeaderV2; v2.Valid {
		levels := int64(v2.V.RepetitionLevelsByteLength) + int64(v2.V.DefinitionLevelsByteLength)
		if v2.V.IsCompressed.Valid && !v2.V.IsCompressed.V {
			return nil
		}
		unpacked, stored, data = unpacked-levels, stored-levels, data+levels
	}
	if stored <= 0 {
		return nil
	}
	length := make([]byte, min(binary.MaxVarintLen64, stored))
	if _, err := w.file.ReadAt(length, data); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if claimed, n := binary.Uvarint(length); n <= 0 || claimed != uint64(unpacked) {
		return fmt.Errorf("its data claims %d bytes, its header %d", claimed, unpacked)
	}
	return nil
}
