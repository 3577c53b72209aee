package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

// plainDictionary is what files of the format's first years say.
const plainDictionary format.Encoding = 2

var errCutPage = errors.New("its data end before its values do")

// values are those of one page that are not null, texts or whole numbers.
type values struct {
	text    []byte
	spans   []span // of each text
	numbers []int64
}

type span struct{ from, to uint32 }

func (v *values) len() int { return len(v.spans) + len(v.numbers) }

// decodeValues reads n values of a kind, texts or whole numbers. Texts stay
// parts of data.
func decodeValues(kind format.Type, encoding format.Encoding, data []byte, n int) (v values, err error) {
	switch {
	case encoding == format.Plain && kind == format.ByteArray:
		v.text = data
		v.spans, err = plainTexts(data, n)
	case encoding == format.Plain && kind == format.Int32:
		v.numbers, err = plainNumbers(data, n, 4)
	case encoding == format.Plain && kind == format.Int64:
		v.numbers, err = plainNumbers(data, n, 8)
	case encoding == format.DeltaLengthByteArray && kind == format.ByteArray:
		v.text, v.spans, err = deltaTexts(data)
	case encoding == format.DeltaBinaryPacked && (kind == format.Int32 || kind == format.Int64):
		v.numbers, err = deltaNumbers(kind, data)
	default:
		return v, fmt.Errorf("values of %s encoded as %s cannot be read: write the file with the default encodings",
			kind, encoding)
	}

	if err == nil && v.len() < n {
		err = errCutPage
	}

	return v, err
}

// plainTexts finds texts that have their lengths before them.
func plainTexts(data []byte, n int) ([]span, error) {
	if n > len(data)/4 {
		return nil, errCutPage
	}

	spans := make([]span, n)
	at := 0
	for i := range spans {
		if len(data)-at < 4 {
			return nil, errCutPage
		}
		size := int64(binary.LittleEndian.Uint32(data[at:]))
		if at += 4; size > int64(len(data)-at) {
			return nil, errCutPage
		}
		spans[i] = span{uint32(at), uint32(at + int(size))} // pages are smaller than pageBytesMax
		at += int(size)
	}

	return spans, nil
}

func plainNumbers(data []byte, n, size int) ([]int64, error) {
	if n > len(data)/size {
		return nil, errCutPage
	}

	out := make([]int64, n)
	for i := range out {
		if size == 4 {
			out[i] = int64(int32(binary.LittleEndian.Uint32(data[4*i:])))
		} else {
			out[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
		}
	}

	return out, nil
}

func deltaTexts(data []byte) ([]byte, []span, error) {
	if err := checkDeltas(data); err != nil {
		return nil, nil, err
	}
	text, offsets, err := new(delta.LengthByteArrayEncoding).DecodeByteArray(nil, data, nil)
	if err != nil {
		return nil, nil, err
	}

	spans := make([]span, max(len(offsets), 1)-1)
	for i := range spans {
		spans[i] = span{offsets[i], offsets[i+1]}
		if spans[i].from > spans[i].to || int64(spans[i].to) > int64(len(text)) {
			return nil, nil, errCutPage
		}
	}

	return text, spans, nil
}

func deltaNumbers(kind format.Type, data []byte) ([]int64, error) {
	if err := checkDeltas(data); err != nil {
		return nil, err
	}
	if kind == format.Int64 {
		return new(delta.BinaryPackedEncoding).DecodeInt64(nil, data)
	}

	narrow, err := new(delta.BinaryPackedEncoding).DecodeInt32(nil, data)
	out := make([]int64, len(narrow))
	for i, number := range narrow {
		out[i] = int64(number)
	}
	return out, err
}

// checkDeltas looks at the number of values that differences begin with, for
// all of which the library makes room.
func checkDeltas(data []byte) error {
	var count uint64
	for range 3 { // the size of a block, the parts of a block, the values
		var n int
		if count, n = binary.Uvarint(data); n <= 0 {
			return errors.New("no number of values")
		}
		data = data[n:]
	}
	if count > pageValuesMax {
		return fmt.Errorf("its data claim %d values: want at most %d", count, pageValuesMax)
	}
	return nil
}

// decodeIndexes reads n indexes into a dictionary of so many values: the number
// of their bits, then runs.
func decodeIndexes(data []byte, n, entries int) ([]uint32, error) {
	if len(data) == 0 || data[0] > 32 {
		return nil, errCutPage
	}
	indexes, err := decodeRuns[uint32](data[1:], int(data[0]), n)
	for _, index := range indexes {
		if int64(index) >= int64(entries) {
			return nil, fmt.Errorf("it uses value %d of a dictionary of %d", index, entries)
		}
	}
	return indexes, err
}

// decodeLevels reads n levels from 0 to highest; nil stands for zeros.
func decodeLevels(data []byte, highest, n int) ([]uint8, error) {
	if highest == 0 {
		return nil, nil
	}
	return decodeRuns[uint8](data, bits.Len(uint(highest)), n)
}

// decodeRuns reads n numbers of so many bits. They are in runs, which begin
// with their length: of one number repeated, or of eight numbers each, packed.
// A run may continue behind the last number.
func decodeRuns[T uint8 | uint32](data []byte, width, n int) ([]T, error) {
	out := make([]T, 0, n)
	if width == 0 {
		return out[:n], nil
	}

	for len(out) < n {
		head, used := binary.Uvarint(data)
		if used <= 0 {
			return nil, errCutPage
		}
		data = data[used:]

		size, left := uint64(width+7)/8, n-len(out)
		if head&1 != 0 {
			size = min(head>>1, math.MaxUint32) * uint64(width)
		}
		body := data[:min(size, uint64(len(data)))]
		data = data[len(body):]

		if head&1 != 0 {
			out = appendPacked(out, body, width, left)
			continue
		}
		if uint64(len(body)) < size {
			return nil, errCutPage
		}
		number := appendPacked[T](nil, body, 8*len(body), 1)[0]
		for range min(head>>1, uint64(left)) {
			out = append(out, number)
		}
	}

	return out, nil
}

// appendPacked appends at most n numbers of so many bits, the lowest bits first.
func appendPacked[T uint8 | uint32](out []T, packed []byte, width, n int) []T {
	pending, have := uint64(0), 0
	for _, b := range packed {
		pending |= uint64(b) << have
		for have += 8; have >= width; have -= width {
			if n == 0 {
				return out
			}
			out = append(out, T(pending&(1<<width-1)))
			pending >>= width
			n--
		}
	}
	return out
}
