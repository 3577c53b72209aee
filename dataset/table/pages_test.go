package table

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// TestPagesThatClaimTooMuch: a page header is not believed before the library
// makes room for what it claims.
func TestPagesThatClaimTooMuch(t *testing.T) {
	data := func(values int32) thrift.Null[format.DataPageHeader] {
		return thrift.New(format.DataPageHeader{NumValues: values})
	}
	packed := snappy.Encode(nil, []byte("123456789abc"))
	for _, c := range []struct {
		name  string
		page  format.PageHeader
		body  []byte
		edit  func(*format.ColumnMetaData)
		words string // "": accepted
	}{
		{
			"plausible",
			format.PageHeader{CompressedPageSize: 12, UncompressedPageSize: 12, DataPageHeader: data(3)},
			[]byte("123456789abc"), nil, "",
		},
		{
			"more bytes than there are",
			format.PageHeader{
				CompressedPageSize: 1 << 30, UncompressedPageSize: 12,
				DataPageHeader: data(3),
			},
			[]byte("123456789abc"), nil,
			"claims 1073741824 bytes, 12 unpacked, of the 12 that are left",
		},
		{"negative", format.PageHeader{CompressedPageSize: -1, DataPageHeader: data(3)}, nil, nil, "claims -1 bytes"},
		{"unpacks to too much", format.PageHeader{
			CompressedPageSize: 12, UncompressedPageSize: 1 << 30,
			DataPageHeader: data(3),
		}, []byte("123456789abc"), nil, "want at most 268435456"},
		{"too many values", format.PageHeader{DataPageHeader: data(1 << 30)}, nil, nil, "claims 1073741824 values"},
		{
			"more values than the column",
			format.PageHeader{DataPageHeader: data(4)},
			nil, nil,
			"more values than the column",
		},
		{
			"values of the second form",
			format.PageHeader{
				Type:             format.DataPageV2,
				DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{NumValues: 1 << 30}),
			},
			nil, nil,
			"claims 1073741824 values",
		},
		{
			"large dictionary",
			format.PageHeader{
				Type:                 format.DictionaryPage,
				DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: 1 << 30}),
			},
			nil, nil,
			"claims 1073741824 values",
		},
		{"snappy", format.PageHeader{
			CompressedPageSize: int32(len(packed)), UncompressedPageSize: 12,
			DataPageHeader: data(3),
		}, packed, func(m *format.ColumnMetaData) { m.Codec = format.Snappy }, ""},
		{
			"snappy that claims more",
			format.PageHeader{
				CompressedPageSize: int32(len(packed)), UncompressedPageSize: 8,
				DataPageHeader: data(3),
			},
			packed, func(m *format.ColumnMetaData) { m.Codec = format.Snappy },
			"its data claims 12 bytes, its header 8",
		},
		{"outside the file", format.PageHeader{DataPageHeader: data(3)}, nil, func(m *format.ColumnMetaData) {
			m.TotalCompressedSize = 1 << 40
		}, "not all within the file"},
		{"no header", format.PageHeader{DataPageHeader: data(0)}, []byte{1}, nil, "no header"},
	} {
		raw, err := thrift.Marshal(new(thrift.CompactProtocol), &c.page)
		if err != nil {
			t.Fatal(err)
		}
		raw = append(raw, c.body...)
		chunk := format.ColumnMetaData{Type: format.Int32, NumValues: 3, TotalCompressedSize: int64(len(raw))}
		if c.edit != nil {
			c.edit(&chunk)
		}
		pages, err := newPageReader(bytes.NewReader(raw), int64(len(raw)), &chunk, leaf{kind: format.Int32})
		for err == nil {
			_, err = pages.next()
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		if (err == nil) != (c.words == "") || err != nil && !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: pages = %v, want %q", c.name, err, c.words)
		}
	}
}

func TestFooterThatClaimsTooMuch(t *testing.T) {
	for content, words := range map[string]string{
		"PAR1":                                 "not a parquet file: 4 bytes",
		"PAR1abc\x03\x00\x00\x00PARE":          `ends with "PARE"`,
		"PAR1abc\x04\x00\x00\x00PAR1":          "claims 4 bytes of the file's 15",
		"PAR1abc\x00\x00\x00\x80PAR1":          "claims 2147483648 bytes",
		"PAR1\x00\x01\x02\x03\x00\x00\x00PAR1": "not a parquet file", // by the library
	} {
		_, err := newParquetTable(strings.NewReader(content), int64(len(content)))
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("newParquetTable(%q) = %v, want %q", content, err, words)
		}
	}
}
