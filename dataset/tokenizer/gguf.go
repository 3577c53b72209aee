package tokenizer

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"strings"
)

// Bounds of what is read of a GGUF file.
const (
	ggufMaxKeys   = 1 << 14
	ggufMaxString = 16 << 20
	ggufMaxItems  = maxID
	ggufMaxBytes  = 512 << 20
	ggufMaxNested = 3
)

// Types of values in a GGUF file.
const (
	ggufUint8 = iota
	ggufInt8
	ggufUint16
	ggufInt16
	ggufUint32
	ggufInt32
	ggufFloat32
	ggufBool
	ggufString
	ggufArray
	ggufUint64
	ggufInt64
	ggufFloat64
)

// ggufKeys are the key-values of a GGUF file that a tokenizer needs. A value
// is an int64, float64, bool, string, or a []string, []int64 or []float64.
type ggufKeys struct {
	values map[string]any
	sha256 string // of the file up to the end of the key-values
}

// readGGUF reads the key-values of a file and stops there. It keeps those
// whose key begins with "tokenizer." or "general.".
func readGGUF(r io.Reader) (*ggufKeys, error) {
	g := &ggufReader{r: bufio.NewReaderSize(r, 1<<16), sum: sha256.New()}
	if magic := g.bytes(4); g.err == nil && string(magic) != "GGUF" {
		return nil, fmt.Errorf("begins with %q: want GGUF", magic)
	}
	if version := g.uint32(); g.err == nil && version != 2 && version != 3 {
		return nil, fmt.Errorf("GGUF version %d: want 2 or 3, little endian", version)
	}

	g.uint64() // tensors
	count := g.uint64()
	if g.err == nil && count > ggufMaxKeys {
		return nil, fmt.Errorf("%d keys: more than %d", count, ggufMaxKeys)
	}

	out := &ggufKeys{values: map[string]any{}}
	for range count {
		key := g.string()
		kind := g.uint32()
		keep := strings.HasPrefix(key, "tokenizer.") || strings.HasPrefix(key, "general.")
		value := g.value(kind, keep, 0)
		if g.err != nil {
			return nil, fmt.Errorf("key %.80q: %w", key, g.err)
		}
		if keep {
			out.values[key] = value
		}
	}

	out.sha256 = hex.EncodeToString(g.sum.Sum(nil))
	return out, g.err
}

// ggufReader reads values one after the other. After an error it reads none.
type ggufReader struct {
	r    *bufio.Reader
	sum  hash.Hash
	used int64
	err  error
	buf  [8]byte
}

func (g *ggufReader) fill(dst []byte) {
	if g.err != nil {
		clear(dst)
		return
	}
	if g.used += int64(len(dst)); g.used > ggufMaxBytes {
		g.err = fmt.Errorf("key-values of more than %d bytes", ggufMaxBytes)
		return
	}
	if _, err := io.ReadFull(g.r, dst); err != nil {
		clear(dst)
		g.err = err
		if errors.Is(err, io.EOF) {
			g.err = io.ErrUnexpectedEOF
		}
		return
	}

	g.sum.Write(dst)
}

func (g *ggufReader) bytes(n int) []byte {
	g.fill(g.buf[:n])
	return g.buf[:n]
}

func (g *ggufReader) uint32() uint32 { return binary.LittleEndian.Uint32(g.bytes(4)) }
func (g *ggufReader) uint64() uint64 { return binary.LittleEndian.Uint64(g.bytes(8)) }

func (g *ggufReader) string() string {
	n := g.uint64()
	if g.err == nil && n > ggufMaxString {
		g.err = fmt.Errorf("string of %d bytes: more than %d", n, ggufMaxString)
	}
	if g.err != nil {
		return ""
	}

	// A length that the file does not hold must not cost its memory.
	const block = 1 << 16
	var out []byte
	for left := int(n); left > 0 && g.err == nil; left -= block {
		at := len(out)
		out = append(out, make([]byte, min(left, block))...)
		g.fill(out[at:])
	}

	return string(out)
}

// value reads one value; it is nil if it is not to be kept.
func (g *ggufReader) value(kind uint32, keep bool, depth int) any {
	switch kind {
	case ggufString:
		return g.string()
	case ggufArray:
		return g.array(keep, depth)
	case ggufFloat32:
		return float64(math.Float32frombits(g.uint32()))
	case ggufFloat64:
		return math.Float64frombits(g.uint64())
	case ggufBool:
		return g.bytes(1)[0] != 0
	}
	return g.integer(kind)
}

func (g *ggufReader) integer(kind uint32) int64 {
	switch kind {
	case ggufUint8:
		return int64(g.bytes(1)[0])
	case ggufInt8:
		return int64(int8(g.bytes(1)[0]))
	case ggufUint16:
		return int64(binary.LittleEndian.Uint16(g.bytes(2)))
	case ggufInt16:
		return int64(int16(binary.LittleEndian.Uint16(g.bytes(2))))
	case ggufUint32:
		return int64(g.uint32())
	case ggufInt32:
		return int64(int32(g.uint32()))
	case ggufUint64, ggufInt64:
		return int64(g.uint64())
	}

	if g.err == nil {
		g.err = fmt.Errorf("value of type %d is not known", kind)
	}

	return 0
}

func (g *ggufReader) array(keep bool, depth int) any {
	kind, n := g.uint32(), g.uint64()
	if g.err == nil && n > ggufMaxItems {
		g.err = fmt.Errorf("list of %d items: more than %d", n, ggufMaxItems)
	}
	if g.err == nil && depth >= ggufMaxNested {
		g.err = fmt.Errorf("lists more than %d deep", ggufMaxNested)
	}
	if keep {
		switch kind {
		case ggufString:
			return readList(g, n, g.string)
		case ggufFloat32, ggufFloat64:
			return readList(g, n, func() float64 { f, _ := g.value(kind, true, depth).(float64); return f })
		case ggufArray, ggufBool:
		default:
			return readList(g, n, func() int64 { return g.integer(kind) })
		}
	}

	for i := uint64(0); i < n && g.err == nil; i++ {
		g.value(kind, false, depth+1)
	}

	return nil
}

func readList[T any](g *ggufReader, n uint64, read func() T) []T {
	out := make([]T, 0, min(n, 1<<12))
	for i := uint64(0); i < n && g.err == nil; i++ {
		out = append(out, read())
	}
	return out
}
