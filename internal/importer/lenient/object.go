// Package lenient reads JSON as programs print it: NaN and Infinity among numbers, keys
// that occur twice, one object after another.
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
	"strings"

	"github.com/benchrig/bench/internal/nanjson"
)

// maxObjects bounds the objects of a text, so that a hostile file ends in an error and
// does not exhaust the machine's memory.
const maxObjects = 20_000

// Object is a JSON object with its keys in order.
type Object struct {
	Keys   []string
	Values map[string]json.RawMessage
	Twice  []string // keys that occur more than once; the last counts, as in Python
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

// Into decodes one value into v. It returns false if the value is absent or of another
// type.
func (o *Object) Into(key string, v any) bool {
	raw, ok := o.Values[key]
	return ok && string(raw) != "null" && json.Unmarshal(raw, v) == nil
}

// Text returns a value that is a string; "": there is none.
func (o *Object) Text(key string) string {
	var s string
	if !o.Into(key, &s) {
		return ""
	}
	return s
}

// ObjectsIn reads a file of one object, of an array of objects, or of several of these
// one after the other.
func ObjectsIn(data []byte) ([]Object, error) {
	data = nanjson.ToText(data)
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

// AppendObjects appends an object, or those of an array; raw begins at a line.
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

// Brief returns a JSON value as text to keep; long lists and texts are only described.
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

// JSON returns the object as JSON again, each key once.
func (o *Object) JSON() []byte {
	var line bytes.Buffer
	line.WriteByte('{')
	for i, key := range o.Keys {
		if i > 0 {
			line.WriteByte(',')
		}
		fmt.Fprintf(&line, "%s:%s", Quoted(key), o.Values[key])
	}
	line.WriteByte('}')
	return line.Bytes()
}

// Quoted returns a text as a JSON string.
func Quoted(s string) json.RawMessage {
	data, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return data
}
