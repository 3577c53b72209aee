package table

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// unpacker unpacks pages, each in the place of the one before. It stops where a
// page holds more than it says: the library unpacks to the end, however far
// that is.
type unpacker struct {
	stored, unpacked bytes.Buffer
	zstd             *zstd.Decoder
}

func (u *unpacker) close() {
	if u.zstd != nil {
		u.zstd.Close()
	}
}

// unpack returns the content of a page that claims so many bytes, valid until
// the next call.
func (u *unpacker) unpack(codec format.CompressionCodec, packed *io.SectionReader, claimed int64) ([]byte, error) {
	if packed.Size() == 0 {
		return nil, nil
	}
	if codec == format.Snappy || codec == format.Lz4Raw {
		return u.block(codec, packed, claimed)
	}

	content, err := u.reader(codec, packed)
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", codec, err)
	}

	u.unpacked.Reset()
	n, err := u.unpacked.ReadFrom(io.LimitReader(content, claimed+1))
	switch {
	case n > claimed:
		return nil, fmt.Errorf("it unpacks to more than the %d bytes that it claims: the file is broken, or made to "+
			"fill the memory", claimed)
	case err != nil:
		return nil, fmt.Errorf("unpack %s: %w", codec, err)
	}

	return u.unpacked.Bytes(), nil
}

// reader unpacks as it reads.
func (u *unpacker) reader(codec format.CompressionCodec, packed io.Reader) (io.Reader, error) {
	switch codec {
	case format.Uncompressed:
		return packed, nil
	case format.Gzip:
		return gzip.NewReader(packed)
	case format.Brotli:
		return brotli.NewReader(packed), nil
	case format.Zstd:
		if u.zstd != nil {
			return u.zstd, u.zstd.Reset(packed)
		}
		var err error
		u.zstd, err = zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(pageBytesMax))
		return u.zstd, err
	default:
		return nil, errors.New("this packing cannot be read: write the file with zstd or snappy")
	}
}

// block unpacks what is packed as one block.
func (u *unpacker) block(codec format.CompressionCodec, packed *io.SectionReader, claimed int64) ([]byte, error) {
	u.stored.Reset()
	if _, err := u.stored.ReadFrom(packed); err != nil {
		return nil, err
	}

	src := u.stored.Bytes()
	if codec == format.Snappy {
		if n, err := snappy.DecodedLen(src); err != nil || int64(n) != claimed {
			return nil, fmt.Errorf("its data claims %d bytes, its header %d", n, claimed)
		}
	}

	u.unpacked.Reset()
	room := int(max(claimed, 1)) // lz4 stumbles over none
	u.unpacked.Grow(room)
	dst := u.unpacked.AvailableBuffer()[:room]
	if codec == format.Snappy {
		out, err := snappy.Decode(dst, src)
		if err != nil {
			return nil, fmt.Errorf("unpack %s: %w", codec, err)
		}
		return out, nil
	}

	n, err := lz4.UncompressBlock(src, dst) // an error also of data that needs more room
	if err == nil && int64(n) > claimed {
		err = errors.New("there are more")
	}
	if err != nil {
		return nil, fmt.Errorf("unpack %s to the %d bytes that it claims: %w", codec, claimed, err)
	}

	return dst[:n], nil
}
