package vllmcli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// dotted collects the fields that are given one by one, such as
// --extra-body.top_n 3, until they become one JSON object of their flag.
type dotted struct {
	names  []string // flags with fields, in order
	fields map[string]map[string]any
}

// isDotted reports whether a name stands for a field of a flag that takes JSON.
func isDotted(name string) bool {
	flag, field, ok := strings.Cut(name, ".")
	return ok && flag != "" && field != ""
}

// set notes a field. A value is JSON where it can be read as that, else text.
// A path that ends with + adds to a list.
func (d *dotted) set(flag, path, value string) error {
	object, known := d.fields[flag]
	if !known {
		object = map[string]any{}
		if d.fields == nil {
			d.fields = map[string]map[string]any{}
		}
		d.fields[flag] = object
		d.names = append(d.names, flag)
	}

	path, isList := strings.CutSuffix(path, "+")
	keys := strings.Split(path, ".")
	if slices.Contains(keys, "") {
		return fmt.Errorf("--%s.%s: a part of the name is empty", flag, path)
	}

	last := len(keys) - 1
	for _, key := range keys[:last] {
		inner, ok := object[key].(map[string]any)
		if !ok && object[key] != nil {
			return fmt.Errorf("--%s.%s: %q has a value already", flag, path, key)
		}
		if !ok {
			inner = map[string]any{}
			object[key] = inner
		}
		object = inner
	}

	if !isList {
		object[keys[last]] = valueOf(value)
		return nil
	}

	list, _ := object[keys[last]].([]any)
	for item := range strings.SplitSeq(value, ",") {
		list = append(list, valueOf(item))
	}
	object[keys[last]] = list
	return nil
}

func valueOf(text string) any {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}

// args are the collected fields as arguments. Where the flag was given as JSON
// too, its object gets the fields.
func (d *dotted) args(args []string) ([]string, error) {
	for _, name := range d.names {
		object := d.fields[name]
		prefix := "--" + name + "="
		for i, arg := range slices.Backward(args) {
			whole, given := strings.CutPrefix(arg, prefix)
			if !given {
				continue
			}
			var base map[string]any
			if err := decodeObject(whole, &base); err != nil {
				return nil, fmt.Errorf("--%s %q: %w", name, whole, err)
			}
			object = merged(base, object)
			args = slices.Delete(args, i, i+1)
			break
		}

		text, err := json.Marshal(object)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", name, err)
		}
		args = append(args, prefix+string(text))
	}

	return args, nil
}

// merged is base with the fields of over, object by object.
func merged(base, over map[string]any) map[string]any {
	for key, value := range over {
		inner, isObject := value.(map[string]any)
		below, wasObject := base[key].(map[string]any)
		if isObject && wasObject {
			value = merged(below, inner)
		}
		if base == nil {
			base = map[string]any{}
		}
		base[key] = value
	}
	return base
}
