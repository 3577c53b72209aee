package dataset

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// packings are all that the library reads.
var packings = []compress.Codec{&parquet.Gzip, &parquet.Zstd, &parquet.Brotli, &parquet.Lz4Raw, &parquet.Snappy}

// bombFile is a parquet file of one column of texts whose only page is body,
// packed, with a header that claims so many bytes.
func bombFile(t testing.TB, codec compress.Codec, body []byte, claimed int, encoding format.Encoding) []byte {
	t.Helper()
	packed, err := codec.Encode(nil, body)
	if err != nil {
		t.Fatal(err)
	}
	page := marshal(t, &format.PageHeader{
		Type: format.DataPage, CompressedPageSize: int32(len(packed)), UncompressedPageSize: int32(claimed),
		DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues: 1, Encoding: encoding,
			DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
		}),
	})
	page = append(page, packed...)
	meta := marshal(t, &format.FileMetaData{
		Version: 1, NumRows: 1,
		Schema: []format.SchemaElement{
			{Name: "root", NumChildren: thrift.New[int32](1)},
			{Name: "text", Type: thrift.New(format.ByteArray), RepetitionType: thrift.New(format.Required)},
		},
		RowGroups: []format.RowGroup{{
			NumRows: 1, TotalByteSize: int64(len(page)),
			Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{
				Type: format.ByteArray, PathInSchema: []string{"text"}, Codec: codec.CompressionCodec(), NumValues: 1,
				Encoding:       []format.Encoding{encoding},
				DataPageOffset: 4, TotalCompressedSize: int64(len(page)), TotalUncompressedSize: int64(claimed),
			}}},
		}},
	})
	file := append([]byte("PAR1"), page...)
	file = append(file, meta...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(meta))), "PAR1"...)
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// plainText is a value as PLAIN has it.
func plainText(value string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(value))), value...)
}

// TestPageBombs: a page of kilobytes that unpacks to hundreds of megabytes is
// refused for its honest claim, or where it no longer keeps to a small one.
func TestPageBombs(t *testing.T) {
	bomb := make([]byte, 64<<20)
	for _, codec := range packings {
		for _, c := range []struct {
			name    string
			body    []byte
			claimed int
			words   string // "": read
		}{
			{"a text", plainText("a b c d"), 11, ""},
			{"claims a little", bomb, 11, "11"},
			{"claims too much", plainText("a b c d"), 256<<20 + 1, "want at most 268435456"},
			{"claims more than there is", plainText("a b c d"), 1 << 20, ""},
		} {
			t.Run(codec.String()+" "+c.name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "bomb.parquet")
				if err := os.WriteFile(path, bombFile(t, codec, c.body, c.claimed, format.Plain), 0o600); err != nil {
					t.Fatal(err)
				}
				_, err := Build(t.Context(), Spec{Kind: "hf", Path: path, Field: "text", N: 1, OutputLen: 4}, &words{})
				if c.words == "" && codec == &parquet.Snappy && c.claimed != len(c.body) {
					c.words = "its data claims 11 bytes, its header 1048576"
				}
				switch {
				case c.words == "" && err != nil && !strings.Contains(err.Error(), "none of 1 rows"):
					t.Errorf("Build = %v, want the file read", err)
				case c.words != "" && (err == nil || !strings.Contains(err.Error(), c.words) ||
					!strings.Contains(err.Error(), "bomb.parquet")):
					t.Errorf("Build = %v, want the file's name and %q", err, c.words)
				}
			})
		}
	}
}

// TestTextNamedOften: a dictionary holds a long text once, and rows name it as
// often as they like.
func TestTextNamedOften(t *testing.T) {
	type row struct {
		Texts []string `parquet:"texts,list,dict,zstd"`
	}
	long := strings.Repeat("a", 10_000)
	var often row
	for range 120_000 {
		often.Texts = append(often.Texts, long)
	}
	path := filepath.Join(t.TempDir(), "often.parquet")
	if err := os.WriteFile(path, parquetBytes(t, []row{often}), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Build(t.Context(), Spec{Kind: "hf", Path: path, Field: "texts", N: 1}, nil)
	if err == nil || !strings.Contains(err.Error(), "more than 1073741824 bytes of text") {
		t.Errorf("Build = %v, want the text refused", err)
	}
}
