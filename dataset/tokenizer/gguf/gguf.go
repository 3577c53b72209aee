// Package gguf reads what a GGUF file says of its tokenizer.
//
// What goes in: the beginning of a file. What comes out: its key-values, up to
// bounds that no tokenizer reaches. It reads no tensors.
package gguf

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

// MaxString bounds a string, in bytes.
const MaxString = 16 << 20

// Further bounds of what is read.
const (
	maxKeys   = 1 << 14
	maxItems  = 1 << 22 // as many as ids of tokens
	maxBytes  = 512 << 20
	maxNested = 3
)

// Types of values in a GGUF file.
const (
	Uint8 = iota
	Int8
	Uint16
	Int16
	Uint32
	Int32
	Float32
	Bool
	String
	Array
	Uint64
	Int64
	Float64
)

// Keys are the key-values of a GGUF file that a tokenizer needs. A value
// is an int64, float64, bool, string, or a []string, []int64 or []float64.
type Keys struct {
	Values map[string]any
	SHA256 string // of the file up to the end of the key-values
}

// Read reads the key-values of a file and stops there. It keeps those
// whose key begins with "tokenizer." or "general.".
func Read(r io.Reader) (*Keys, error) {
	g := &reader{r: bufio.NewReaderSize(r, 1<<16), sum: sha256.New()}
	if magic := g.bytes(4); g.err == nil && string(magic) != "GGUF" {
		return nil, fmt.Errorf("begins with %q: want GGUF", magic)
	}
	if version := g.uint32(); g.err == nil && version != 2 && version != 3 {
		return nil, fmt.Errorf("GGUF version %d: want 2 or 3, little endian", version)
	}

	g.uint64() // tensors
	count := g.uint64()
	if g.err == nil && count > maxKeys {
		return nil, fmt.Errorf("%d keys: more than %d", count, maxKeys)
	}

	out := &Keys{Values: map[string]any{}}
	for range count {
		key := g.string()
		kind := g.uint32()
		keep := strings.HasPrefix(key, "tokenizer.") || strings.HasPrefix(key, "general.")
		value := g.value(kind, keep, 0)
		if g.err != nil {
			return nil, fmt.Errorf("key %.80q: %w", key, g.err)
		}
		if keep {
			out.Values[key] = value
		}
	}

	out.SHA256 = hex.EncodeToString(g.sum.Sum(nil))
	return out, g.err
}

// reader reads values one after the other. After an error it reads none.
type reader struct {
	r    *bufio.Reader
	sum  hash.Hash
	used int64
	err  error
	buf  [8]byte
}

func (g *reader) fill(dst []byte) {
	if g.err != nil {
		clear(dst)
		return
	}
	if g.used += int64(len(dst)); g.used > maxBytes {
		g.err = fmt.Errorf("key-values of more than %d bytes", maxBytes)
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

func (g *reader) bytes(n int) []byte {
	g.fill(g.buf[:n])
	return g.buf[:n]
}

func (g *reader) uint32() uint32 { return binary.LittleEndian.Uint32(g.bytes(4)) }
func (g *reader) uint64() uint64 { return binary.LittleEndian.Uint64(g.bytes(8)) }

func (g *reader) string() string {
	n := g.uint64()
	if g.err == nil && n > MaxString {
		g.err = fmt.Errorf("string of %d bytes: more than %d", n, MaxString)
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
func (g *reader) value(kind uint32, keep bool, depth int) any {
	switch kind {
	case String:
		return g.string()
	case Array:
		return g.array(keep, depth)
	case Float32:
		return float64(math.Float32frombits(g.uint32()))
	case Float64:
		return math.Float64frombits(g.uint64())
	case Bool:
		return g.bytes(1)[0] != 0
	}
	return g.integer(kind)
}

func (g *reader) integer(kind uint32) int64 {
	switch kind {
	case Uint8:
		return int64(g.bytes(1)[0])
	case Int8:
		return int64(int8(g.bytes(1)[0]))
	case Uint16:
		return int64(binary.LittleEndian.Uint16(g.bytes(2)))
	case Int16:
		return int64(int16(binary.LittleEndian.Uint16(g.bytes(2))))
	case Uint32:
		return int64(g.uint32())
	case Int32:
		return int64(int32(g.uint32()))
	case Uint64, Int64:
		return int64(g.uint64())
	}

	if g.err == nil {
		g.err = fmt.Errorf("value of type %d is not known", kind)
	}

	return 0
}

func (g *reader) array(keep bool, depth int) any {
	kind, n := g.uint32(), g.uint64()
	if g.err == nil && n > maxItems {
		g.err = fmt.Errorf("list of %d items: more than %d", n, maxItems)
	}
	if g.err == nil && depth >= maxNested {
		g.err = fmt.Errorf("lists more than %d deep", maxNested)
	}
	if keep {
		switch kind {
		case String:
			return readList(g, n, g.string)
		case Float32, Float64:
			return readList(g, n, func() float64 { f, _ := g.value(kind, true, depth).(float64); return f })
		case Array, Bool:
		default:
			return readList(g, n, func() int64 { return g.integer(kind) })
		}
	}

	for i := uint64(0); i < n && g.err == nil; i++ {
		g.value(kind, false, depth+1)
	}

	return nil
}

func readList[T any](g *reader, n uint64, read func() T) []T {
	out := make([]T, 0, min(n, 1<<12))
	for i := uint64(0); i < n && g.err == nil; i++ {
		out = append(out, read())
	}
	return out
}
