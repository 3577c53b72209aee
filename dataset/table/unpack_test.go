package table

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// FuzzPageBombs: whatever a page holds, the file is read or refused within
// bounds.
func FuzzPageBombs(f *testing.F) {
	for i, codec := range codecs {
		packed, err := codec.Encode(nil, plainText("a b c d"))
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
		codec := codecs[int(which)%len(codecs)].CompressionCodec()
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
		{
			"too many indexes",
			levels{},
			format.RLEDictionary, append([]byte{1}, run(1<<30, 0)...),
			"claims 1073741824 values",
		},
		{
			"too many in all",
			levels{},
			plainDictionary, append([]byte{1}, bytes.Repeat(run(pageValuesMax, 0), 3)...),
			"more than 33554432 values",
		},
		{"packed indexes", levels{}, format.RLEDictionary, []byte{2, 1<<1 | 1, 1, 2}, ""},
		{"a run without a length", levels{}, format.RLEDictionary, []byte{1, 0x80}, "without a length"},
		{"levels", levels{1, 2}, format.Plain, slicesOf(sized(run(2, 0)), sized(run(2, 2)), plainText("a")), ""},
		{
			"too many repetition levels",
			levels{1, 0},
			format.Plain, sized(run(1<<30, 0)),
			"repetition levels: a run claims",
		},
		{
			"too many definition levels",
			levels{0, 3},
			format.Plain, sized(run(1<<30, 0)),
			"definition levels: a run claims",
		},
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
		if err := page.check(); (err == nil) != (c.words == "") || err != nil &&
			!strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: check() = %v, want %q", c.name, err, c.words)
		}
	}
	h := format.PageHeader{
		Type:                 format.DictionaryPage,
		DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{Encoding: format.DeltaByteArray}),
	}
	if err := (&pageContent{header: &h}).check(); err == nil || !strings.Contains(err.Error(),
		"dictionary encoded as") {
		t.Errorf("check() of an odd dictionary = %v", err)
	}
}

func slicesOf(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

var codecs = []compress.Codec{&parquet.Gzip, &parquet.Zstd, &parquet.Brotli, &parquet.Lz4Raw, &parquet.Snappy}

func plainText(value string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(value))), value...)
}
