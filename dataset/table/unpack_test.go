package table

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
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

var codecs = []compress.Codec{&parquet.Gzip, &parquet.Zstd, &parquet.Brotli, &parquet.Lz4Raw, &parquet.Snappy}

func plainText(value string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(value))), value...)
}
