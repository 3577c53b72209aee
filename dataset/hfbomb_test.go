package dataset

import (
	"bytes"
	"encoding/binary"
	"io"
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
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: 1, Encoding: encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE}),
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
				Type: format.ByteArray, PathInSchema: []string{"text"}, Codec: codec.CompressionCodec(), NumValues: 1, Encoding: []format.Encoding{encoding},
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

// text is a value as PLAIN has it.
func text(value string) []byte {
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
			{"a text", text("a b c d"), 11, ""},
			{"claims a little", bomb, 11, "11"},
			{"claims too much", text("a b c d"), pageBytesMax + 1, "want at most 268435456"},
			{"claims more than there is", text("a b c d"), 1 << 20, ""},
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
				case c.words != "" && (err == nil || !strings.Contains(err.Error(), c.words) || !strings.Contains(err.Error(), "bomb.parquet")):
					t.Errorf("Build = %v, want the file's name and %q", err, c.words)
				}
			})
		}
	}
}

// TestEncodedBombs: a few bytes stand for billions of values.
func TestEncodedBombs(t *testing.T) {
	run := func(count uint64, value ...byte) []byte { return append(binary.AppendUvarint(nil, count<<1), value...) }
	sized := func(levels []byte) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)
	}
	deltas := binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, 128), 4), 1<<30)
	for _, c := range []struct {
		name     string
		levels   levels
		encoding format.Encoding
		data     []byte
		words    string // "": accepted
	}{
		{"indexes", levels{}, format.RLEDictionary, append([]byte{1}, run(3, 0)...), ""},
		{"too many indexes", levels{}, format.RLEDictionary, append([]byte{1}, run(1<<30, 0)...), "claims 1073741824 values"},
		{"too many in all", levels{}, plainDictionary, append([]byte{1}, bytes.Repeat(run(pageValuesMax, 0), 3)...), "more than 33554432 values"},
		{"packed indexes", levels{}, format.RLEDictionary, []byte{2, 1<<1 | 1, 1, 2}, ""},
		{"a run without a length", levels{}, format.RLEDictionary, []byte{1, 0x80}, "without a length"},
		{"levels", levels{1, 2}, format.Plain, slicesOf(sized(run(2, 0)), sized(run(2, 2)), text("a")), ""},
		{"too many repetition levels", levels{1, 0}, format.Plain, sized(run(1<<30, 0)), "repetition levels: a run claims"},
		{"too many definition levels", levels{0, 3}, format.Plain, sized(run(1<<30, 0)), "definition levels: a run claims"},
		{"cut levels", levels{1, 0}, format.Plain, []byte{9, 0, 0, 0, 1}, "end before its levels"},
		{"no levels", levels{1, 0}, format.Plain, []byte{9}, "end before its levels"},
		{"too many deltas", levels{}, format.DeltaBinaryPacked, deltas, "claim 1073741824 values"},
		{"too many lengths", levels{}, format.DeltaLengthByteArray, deltas, "claim 1073741824 values"},
		{"no deltas", levels{}, format.DeltaLengthByteArray, []byte{1}, "no number of values"},
		{"shared beginnings", levels{}, format.DeltaByteArray, nil, "cannot be read"},
	} {
		h := format.PageHeader{DataPageHeader: thrift.New(format.DataPageHeader{
			Encoding: c.encoding, RepetitionLevelEncoding: format.RLE, DefinitionLevelEncoding: format.RLE,
		})}
		page := pageContent{header: &h, levels: c.levels, data: c.data}
		if err := page.check(); (err == nil) != (c.words == "") || err != nil && !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: check() = %v, want %q", c.name, err, c.words)
		}
	}
	h := format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{Encoding: format.DeltaByteArray})}
	if err := (&pageContent{header: &h}).check(); err == nil || !strings.Contains(err.Error(), "dictionary encoded as") {
		t.Errorf("check() of an odd dictionary = %v", err)
	}
}

func slicesOf(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// FuzzPageBombs: whatever a page holds, the file is read or refused within
// bounds.
func FuzzPageBombs(f *testing.F) {
	for i, codec := range packings {
		packed, err := codec.Encode(nil, text("a b c d"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), packed, 11)
		f.Add(uint8(i), packed, 5)
	}
	f.Fuzz(func(t *testing.T, which uint8, packed []byte, claimed int) {
		if claimed < 0 || claimed > 1<<20 || len(packed) == 0 {
			return
		}
		codec := packings[int(which)%len(packings)].CompressionCodec()
		var u unpacker
		defer u.close()
		got, err := u.unpack(codec, io.NewSectionReader(bytes.NewReader(packed), 0, int64(len(packed))), int64(claimed))
		if err != nil {
			return
		}
		if len(got) > claimed {
			t.Fatalf("%s: %d bytes unpacked, %d claimed", codec, len(got), claimed)
		}
		want, err := parquet.LookupCompressionCodec(codec).Decode(nil, packed)
		if err != nil || !bytes.Equal(want, got) {
			t.Fatalf("%s: the library unpacks %d bytes (%v), unpack %d", codec, len(want), err, len(got))
		}
	})
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
