// Package pickle reads one kind of Python pickle: a pandas DataFrame that
// holds, in a column, arrays or lists of whole numbers.
//
// What goes in: the bytes of such a file. What comes out: the column. It
// executes nothing: a pickle is a program for a stack machine, and this
// machine builds a description of what the program would make, from a fixed
// list of pandas' and numpy's names. A pickle that names anything else is
// refused where it does so.
package pickle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
)

// The values of the machine beside nil, bool, int64, float64, string, []byte.
type (
	tuple []any
	list  struct{ items []any }
	dict  struct {
		keys   []any
		values []any
	}
	// global is a name of the fixed list.
	global struct{ module, name string }
	// object is what a call of a global would return; state is what BUILD gave it.
	object struct {
		class global
		args  tuple
		state any
		array *array // what arrayOf made of it: a small file may name a large array many times
	}
	mark struct{}
)

// allowed lists what a DataFrame of arrays is made of: pandas 1.3 to 2.x,
// numpy 1 and 2, pickle protocols 0 to 5.
var allowed = map[global]bool{
	{"pandas.core.frame", "DataFrame"}:                 true,
	{"pandas.core.internals.managers", "BlockManager"}: true,
	{"pandas._libs.internals", "_unpickle_block"}:      true,
	{"pandas.core.indexes.base", "_new_Index"}:         true,
	{"pandas.core.indexes.base", "Index"}:              true,
	{"pandas.core.indexes.range", "RangeIndex"}:        true,
	{"pandas.core.indexes.numeric", "Int64Index"}:      true,
	{"numpy", "ndarray"}:                               true,
	{"numpy", "dtype"}:                                 true,
	{"numpy.core.multiarray", "_reconstruct"}:          true,
	{"numpy._core.multiarray", "_reconstruct"}:         true,
	{"numpy.core.numeric", "_frombuffer"}:              true,
	{"numpy._core.numeric", "_frombuffer"}:             true,
	{"numpy.core.multiarray", "scalar"}:                true,
	{"numpy._core.multiarray", "scalar"}:               true,
	{"copy_reg", "_reconstructor"}:                     true,
	{"copyreg", "_reconstructor"}:                      true,
	{"builtins", "object"}:                             true,
	{"__builtin__", "object"}:                          true,
	{"_codecs", "encode"}:                              true,
	{"__builtin__", "bytes"}:                           true,
	{"builtins", "slice"}:                              true,
	{"__builtin__", "slice"}:                           true,
	{"builtins", "bytearray"}:                          true,
}

// machine runs a pickle's program.
type machine struct {
	in    []byte
	at    int
	stack []any
	memo  map[int64]any
}

// errEnd says that the program ended without STOP.
var errEnd = errors.New("the file ends in the middle")

// load runs the program to its STOP.
func load(in []byte) (any, error) {
	m := &machine{in: in, memo: map[int64]any{}}
	for {
		at := m.at
		op, err := m.take(1)
		if err != nil {
			return nil, err
		}
		if op[0] == '.' {
			return m.pop()
		}
		if err := m.step(op[0]); err != nil {
			return nil, fmt.Errorf("at byte %d: %w", at, err)
		}
	}
}

// step carries out one instruction.
func (m *machine) step(op byte) error {
	for _, try := range []func(byte) (bool, error){m.constant, m.container, m.build} {
		if known, err := try(op); known || err != nil {
			return err
		}
	}
	return fmt.Errorf("instruction %q is not one that a DataFrame of arrays needs", op)
}

// constant pushes literals.
func (m *machine) constant(op byte) (bool, error) {
	var value any
	var err error
	switch op {
	case 'N':
	case 0x88:
		value = true
	case 0x89:
		value = false
	case 'K', 'M', 'J':
		value, err = m.small(op)
	case 0x8a:
		value, err = m.long()
	case 'I', 'L':
		value, err = m.decimal()
	case 'G':
		var b []byte
		if b, err = m.take(8); err == nil {
			value = math.Float64frombits(binary.BigEndian.Uint64(b))
		}
	case 'X', 0x8c, 0x8d:
		var b []byte
		b, err = m.counted(map[byte]int{'X': 4, 0x8c: 1, 0x8d: 8}[op])
		value = string(b)
	case 'B', 'C', 0x8e, 0x96:
		value, err = m.counted(map[byte]int{'B': 4, 'C': 1, 0x8e: 8, 0x96: 8}[op])
	case 'V':
		value, err = m.unicode()
	case 'F':
		var b []byte
		if b, err = m.line(); err == nil {
			value, err = strconv.ParseFloat(string(b), 64)
		}
	default:
		return false, nil
	}

	if err == nil {
		m.push(value)
	}

	return true, err
}

func (m *machine) small(op byte) (any, error) {
	width := map[byte]int{'K': 1, 'M': 2, 'J': 4}[op]
	b, err := m.take(width)
	if err != nil {
		return nil, err
	}
	switch width {
	case 1:
		return int64(b[0]), nil
	case 2:
		return int64(binary.LittleEndian.Uint16(b)), nil
	}
	return int64(int32(binary.LittleEndian.Uint32(b))), nil
}

// long reads a number of up to 255 bytes; those beyond 64 bits are not tokens.
func (m *machine) long() (any, error) {
	b, err := m.counted(1)
	if err != nil || len(b) > 8 {
		return nil, errors.Join(err, errors.New("a number of more than 64 bits"))
	}
	var wide [8]byte
	copy(wide[:], b)
	if len(b) > 0 && b[len(b)-1]&0x80 != 0 {
		for i := len(b); i < len(wide); i++ {
			wide[i] = 0xff
		}
	}
	return int64(binary.LittleEndian.Uint64(wide[:])), nil
}

// decimal reads a number written out, as protocol 0 does: "12", "12L", and
// "00" and "01" for False and True.
func (m *machine) decimal() (any, error) {
	b, err := m.line()
	if err != nil {
		return nil, err
	}

	switch string(b) {
	case "00":
		return false, nil
	case "01":
		return true, nil
	}

	n, ok := new(big.Int).SetString(string(bytes.TrimSuffix(b, []byte("L"))), 10)
	if !ok || !n.IsInt64() {
		return nil, fmt.Errorf("%s is not a number of 64 bits", strconv.Quote(string(b[:min(len(b), 40)])))
	}

	return n.Int64(), nil
}

// unicode reads a line of text in which what is not a plain character is escaped.
func (m *machine) unicode() (any, error) {
	b, err := m.line()
	if err != nil {
		return nil, err
	}

	text := make([]rune, 0, len(b))
	for i := 0; i < len(b); i++ {
		width := 0
		if b[i] == '\\' && i+1 < len(b) {
			width = map[byte]int{'u': 4, 'U': 8}[b[i+1]]
		}
		if width == 0 || i+2+width > len(b) {
			text = append(text, rune(b[i]))
			continue
		}
		code, err := strconv.ParseUint(string(b[i+2:i+2+width]), 16, 31)
		if err != nil {
			return nil, fmt.Errorf("text with a broken escape: %w", err)
		}
		text = append(text, rune(code))
		i += 1 + width
	}

	return string(text), nil
}

// take consumes n bytes.
func (m *machine) take(n int) ([]byte, error) {
	if n < 0 || n > len(m.in)-m.at {
		return nil, errEnd
	}
	b := m.in[m.at : m.at+n]
	m.at += n
	return b, nil
}

// counted consumes bytes behind their number, which is width bytes wide.
func (m *machine) counted(width int) ([]byte, error) {
	head, err := m.take(width)
	if err != nil {
		return nil, err
	}
	var n [8]byte
	copy(n[:], head)
	length := binary.LittleEndian.Uint64(n[:])
	if length > uint64(len(m.in)) {
		return nil, errEnd
	}
	return m.take(int(length))
}

func (m *machine) line() ([]byte, error) {
	n := bytes.IndexByte(m.in[m.at:], '\n')
	if n < 0 {
		return nil, errEnd
	}
	b := m.in[m.at : m.at+n]
	m.at += n + 1
	return b, nil
}

func (m *machine) push(value any) { m.stack = append(m.stack, value) }

func (m *machine) pop() (any, error) {
	if len(m.stack) == 0 {
		return nil, errors.New("the stack is empty")
	}
	top := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return top, nil
}
