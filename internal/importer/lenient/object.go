// Package lenient reads JSON as programs print it: NaN and Infinity among numbers,
// keys that stand twice, one object after another.
//
// What goes in: the bytes of a text. What comes out: objects with their keys in
// order, and the line at which each begins. It knows no format.
package lenient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/plain"
)

// maxObjects bounds the objects of a text, so that hostile files end in an error
// and not in a machine without memory.
const maxObjects = 20_000

// Object is a JSON object with its keys in order.
type Object struct {
	Keys   []string
	Values map[string]json.RawMessage
	Twice  []string // keys that stand more than once; the last counts, as in Python
	Line   int      // where it begins, from 1
}

// Has reports whether the object has all these keys.
func (o *Object) Has(keys ...string) bool {
	for _, k := range keys {
		if _, ok := o.Values[k]; !ok {
			return false
		}
	}
	return true
}

// Into decodes one value; false where it is absent or of another type.
func (o *Object) Into(key string, v any) bool {
	raw, ok := o.Values[key]
	return ok && string(raw) != "null" && json.Unmarshal(raw, v) == nil
}

// Text is a value that is a string; "": there is none.
func (o *Object) Text(key string) string {
	var s string
	if !o.Into(key, &s) {
		return ""
	}
	return s
}

// withoutNaN puts the words that Python and C write for numbers beyond JSON into
// quotation marks, so that they are kept as what they are: no numbers.
func withoutNaN(data []byte) []byte {
	if !slices.ContainsFunc(notNumbers(), func(word string) bool { return bytes.Contains(data, []byte(word)) }) {
		return data
	}

	out := make([]byte, 0, len(data)+len(data)/16)
	for i := 0; i < len(data); {
		switch data[i] {
		case '"':
			end := stringEnd(data, i)
			out = append(out, data[i:end]...)
			i = end
			continue
		case 'N', 'n', 'I', 'i', '-':
			if word := wordAt(data[i:]); word != "" {
				out = append(append(append(out, '"'), word...), '"')
				i += len(word)
				continue
			}
		}
		out = append(out, data[i])
		i++
	}

	return out
}

func wordAt(data []byte) string {
	digits, isNegative := bytes.CutPrefix(data, []byte("-"))
	for _, word := range notNumbers() {
		if bytes.HasPrefix(digits, []byte(word)) {
			return map[bool]string{true: "-"}[isNegative] + word
		}
	}
	return ""
}

// notNumbers are tried in this order: the longer ones first.
func notNumbers() []string { return []string{"nan(ind)", "nan(snan)", "NaN", "Infinity", "nan", "inf"} }

// stringEnd is the index behind the string that begins at i.
func stringEnd(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// ObjectsIn reads a file of one object, of an array of them, or of several one
// after the other.
func ObjectsIn(data []byte) ([]Object, error) {
	data = withoutNaN(data)
	decoder := json.NewDecoder(bytes.NewReader(data))
	var all []Object

	for {
		start := int(decoder.InputOffset())
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read JSON at line %d: %w",
				1+bytes.Count(data[:decoder.InputOffset()], []byte("\n")), err)
		}
		start += bytes.Index(data[start:], raw)
		line := 1 + bytes.Count(data[:max(start, 0)], []byte("\n"))
		if all, err = AppendObjects(all, raw, line); err != nil {
			return nil, err
		}
		if len(all) > maxObjects {
			return nil, fmt.Errorf("more than %d JSON objects", maxObjects)
		}
	}
}

// AppendObjects adds an object, or those of an array, that begins at a line.
func AppendObjects(all []Object, raw json.RawMessage, line int) ([]Object, error) {
	switch raw[0] {
	case '{':
		o, err := ObjectOf(raw)
		o.Line = line
		return append(all, o), err
	case '[':
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return nil, err
		}
		at := 0
		for _, item := range items {
			if item[0] != '{' {
				return nil, fmt.Errorf("line %d: an array of something else than objects", line)
			}
			here := at + max(bytes.Index(raw[at:], item), 0)
			line += bytes.Count(raw[at:here], []byte("\n"))
			at = here
			o, err := ObjectOf(item)
			if err != nil {
				return nil, err
			}
			o.Line = line
			all = append(all, o)
			if len(all) > maxObjects {
				return nil, fmt.Errorf("more than %d JSON objects", maxObjects)
			}
		}
		return all, nil
	}

	return nil, fmt.Errorf("line %d: neither an object nor an array", line)
}

// ObjectOf reads one object.
func ObjectOf(raw json.RawMessage) (Object, error) {
	o := Object{Values: map[string]json.RawMessage{}}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if _, err := decoder.Token(); err != nil {
		return o, err
	}

	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return o, err
		}
		key, ok := token.(string)
		if !ok {
			return o, errors.New("an object without a key")
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return o, err
		}
		if before, again := o.Values[key]; again {
			o.Twice = append(o.Twice, fmt.Sprintf("%s (before: %s)", key, Brief(before)))
		} else {
			o.Keys = append(o.Keys, key)
		}
		o.Values[key] = value
	}

	return o, nil
}

// Brief is a JSON value for keeping; long lists and texts are only described.
func Brief(raw json.RawMessage) string {
	const longest = 512
	if len(raw) <= longest {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return s
		}
		return string(raw)
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		return fmt.Sprintf("(%d values)", len(list))
	}
	return strings.ToValidUTF8(string(raw[:longest]), "") + fmt.Sprintf("... (%d bytes)", len(raw))
}

// JSON writes the object again.
func (o *Object) JSON() []byte {
	var line bytes.Buffer
	line.WriteByte('{')
	for i, key := range o.Keys {
		if i > 0 {
			line.WriteByte(',')
		}
		fmt.Fprintf(&line, "%s:%s", quoted(key), o.Values[key])
	}
	line.WriteByte('}')
	return line.Bytes()
}

// ObjectOfCells makes an object of a row of a CSV file or an INSERT, whose
// values are text.
func ObjectOfCells(heads, cells []string, line int) Object {
	o := Object{Values: map[string]jsonText{}, Line: line}
	for i, head := range heads {
		if i >= len(cells) || o.Has(head) {
			continue
		}
		o.Keys = append(o.Keys, head)
		if plain.IsNumber(cells[i]) && head != "build_commit" && head != "tensor_split" && head != "cpu_mask" {
			o.Values[head] = jsonText(cells[i])
			continue
		}
		o.Values[head] = quoted(cells[i])
	}
	return o
}

type jsonText = json.RawMessage

func quoted(s string) json.RawMessage {
	data, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return data
}
