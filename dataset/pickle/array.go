package pickle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// array is a numpy array: of objects, or of whole numbers.
type array struct {
	shape   []int
	fortran bool
	objects []any
	ints    []int
}

// arrayOf reads an array in either of numpy's two forms.
func arrayOf(value any) (array, error) {
	o, ok := value.(*object)
	if !ok {
		return array{}, fmt.Errorf("%s in place of an array", describe(value))
	}
	if o.array != nil {
		return *o.array, nil
	}
	a, err := o.decode()
	if err == nil {
		o.array = &a
	}
	return a, err
}

func (o *object) decode() (array, error) {
	switch o.class.name {
	case "_reconstruct":
		state, ok := o.state.(tuple)
		if !ok || len(state) != 5 {
			return array{}, errors.New("an array without content")
		}
		fortran, _ := state[3].(bool)
		return filled(state[1], state[2], fortran, state[4])
	case "_frombuffer":
		if len(o.args) != 4 {
			return array{}, errors.New("an array without content")
		}
		return filled(o.args[2], o.args[1], o.args[3] == "F", o.args[0])
	}

	return array{}, fmt.Errorf("%s in place of an array", describe(o))
}

// filled makes an array of its parts.
func filled(shape, dtype any, fortran bool, content any) (array, error) {
	a := array{fortran: fortran}
	sizes, ok := shape.(tuple)
	if !ok {
		return a, errors.New("an array without a shape")
	}

	count := int64(1)
	for _, s := range sizes {
		n, ok := s.(int64)
		if !ok || n < 0 || n > 1<<32 || count*max(n, 1) > 1<<40 {
			return a, errors.New("an array of an impossible shape")
		}
		count *= n
		a.shape = append(a.shape, int(n))
	}

	kind, order, err := typeOf(dtype)
	if err != nil {
		return a, err
	}
	if kind == "O" {
		items, ok := content.(*list)
		if !ok || int64(len(items.items)) != count {
			return a, errors.New("the shape of an array does not match its number of objects")
		}
		a.objects = items.items
		if a.objects == nil {
			a.objects = []any{}
		}
		return a, nil
	}

	raw, err := bytesOf(content)
	if err != nil {
		return a, err
	}

	a.ints, err = numbers(raw, kind, order, count)
	return a, err
}

// typeOf is the kind ("i8", "u4", "O") and the byte order of a dtype.
func typeOf(dtype any) (kind string, order binary.ByteOrder, err error) {
	o, ok := dtype.(*object)
	if !ok || o.class.name != "dtype" || len(o.args) == 0 {
		return "", nil, errors.New("an array without a type")
	}

	kind, ok = o.args[0].(string)
	if !ok {
		return "", nil, errors.New("an array without a type")
	}

	order = binary.LittleEndian
	if state, ok := o.state.(tuple); ok && len(state) > 1 && state[1] == ">" {
		order = binary.BigEndian
	}
	if strings.HasPrefix(kind, "O") {
		return "O", order, nil
	}

	return kind, order, nil
}

// bytesOf is an array's content; protocols before 3 write it as text that
// stands for bytes one by one.
func bytesOf(content any) ([]byte, error) {
	switch c := content.(type) {
	case []byte:
		return c, nil
	case *object:
		if len(c.args) == 0 {
			return nil, nil // bytearray(): nothing
		}
		if raw, ok := c.args[0].([]byte); ok && c.class.name == "bytearray" {
			return raw, nil
		}
		if text, ok := c.args[0].(string); ok && (c.class.name == "encode" || c.class.name == "bytearray") {
			return latin1(text)
		}
	}

	return nil, fmt.Errorf("%s in place of an array's bytes", describe(content))
}

func latin1(text string) ([]byte, error) {
	raw := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return nil, errors.New("the bytes of an array contain a character that is not a byte")
		}
		raw = append(raw, byte(r))
	}
	return raw, nil
}

// numbers reads count whole numbers.
func numbers(raw []byte, kind string, order binary.ByteOrder, count int64) ([]int, error) {
	width, known := map[string]int{"i1": 1, "u1": 1, "i2": 2, "u2": 2, "i4": 4, "u4": 4, "i8": 8, "u8": 8}[kind]
	if !known {
		return nil, fmt.Errorf("an array of type %q in place of whole numbers", kind)
	}
	if int64(len(raw)) != count*int64(width) {
		return nil, errors.New("the shape of an array does not match its number of bytes")
	}

	signed := kind[0] == 'i'
	out := make([]int, count)
	for i := range out {
		b := raw[i*width : (i+1)*width]
		var n int64
		switch width {
		case 1:
			n = int64(b[0])
		case 2:
			n = int64(order.Uint16(b))
		case 4:
			n = int64(order.Uint32(b))
		default:
			n = int64(order.Uint64(b))
		}
		if signed && width < 8 {
			shift := 64 - 8*width
			n = n << shift >> shift
		}
		out[i] = int(n)
	}

	return out, nil
}
