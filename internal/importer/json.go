package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// object is a JSON object with its keys in order.
type object struct {
	keys   []string
	values map[string]json.RawMessage
	twice  []string // keys that stand more than once; the last counts, as in Python
	line   int      // where it begins, from 1
}

func (o *object) has(keys ...string) bool {
	for _, k := range keys {
		if _, ok := o.values[k]; !ok {
			return false
		}
	}
	return true
}

// into decodes one value; false where it is absent or of another type.
func (o *object) into(key string, v any) bool {
	raw, ok := o.values[key]
	return ok && string(raw) != "null" && json.Unmarshal(raw, v) == nil
}

func (o *object) text(key string) string {
	var s string
	if !o.into(key, &s) {
		return ""
	}
	return s
}

// withoutNaN puts the words that Python writes for numbers beyond JSON into
// quotation marks, so that they are kept as what they are: no numbers.
func withoutNaN(data []byte) []byte {
	if !bytes.Contains(data, []byte("NaN")) && !bytes.Contains(data, []byte("Infinity")) {
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
		case 'N', 'I', '-':
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
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(data, []byte(word)) {
			return word
		}
	}
	return ""
}

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

// objectsIn reads a file of one object, of an array of them, or of several one
// after the other.
func objectsIn(data []byte) ([]object, error) {
	data = withoutNaN(data)
	decoder := json.NewDecoder(bytes.NewReader(data))
	var all []object

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
		if all, err = appendObjects(all, raw, line); err != nil {
			return nil, err
		}
		if len(all) > maxEntries {
			return nil, fmt.Errorf("more than %d JSON objects", maxEntries)
		}
	}
}

func appendObjects(all []object, raw json.RawMessage, line int) ([]object, error) {
	switch raw[0] {
	case '{':
		o, err := objectOf(raw)
		o.line = line
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
			o, err := objectOf(item)
			if err != nil {
				return nil, err
			}
			o.line = line
			all = append(all, o)
			if len(all) > maxEntries {
				return nil, fmt.Errorf("more than %d JSON objects", maxEntries)
			}
		}
		return all, nil
	}

	return nil, fmt.Errorf("line %d: neither an object nor an array", line)
}

func objectOf(raw json.RawMessage) (object, error) {
	o := object{values: map[string]json.RawMessage{}}
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
		if before, again := o.values[key]; again {
			o.twice = append(o.twice, fmt.Sprintf("%s (before: %s)", key, brief(before)))
		} else {
			o.keys = append(o.keys, key)
		}
		o.values[key] = value
	}

	return o, nil
}

// brief is a JSON value for keeping; long lists and texts are only described.
func brief(raw json.RawMessage) string {
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
