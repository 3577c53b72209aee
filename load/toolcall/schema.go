package toolcall

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// check says where a value does not satisfy a JSON Schema, "" if it does. It
// judges type, enum, const, properties, required, additionalProperties, items
// and anyOf; other keywords, $ref among them, are not judged.
func check(schema, value any, at string) string {
	if schema == false {
		return at + " must not be there"
	}
	keywords, ok := schema.(map[string]any)
	if !ok {
		return ""
	}

	if problem := checkType(keywords["type"], value, at); problem != "" {
		return problem
	}
	if allowed, ok := keywords["enum"].([]any); ok && !contains(allowed, value) {
		return fmt.Sprintf("%s is %s, want one of %s", at, show(value), show(allowed))
	}
	if want, ok := keywords["const"]; ok && !reflect.DeepEqual(want, value) {
		return fmt.Sprintf("%s is %s, want %s", at, show(value), show(want))
	}
	if choices, ok := keywords["anyOf"].([]any); ok && len(choices) > 0 {
		first := ""
		if !slices.ContainsFunc(choices, func(choice any) bool {
			problem := check(choice, value, at)
			if first == "" {
				first = problem
			}
			return problem == ""
		}) {
			return first
		}
	}

	switch v := value.(type) {
	case map[string]any:
		return checkObject(keywords, v, at)
	case []any:
		for i, item := range v {
			if problem := check(keywords["items"], item, fmt.Sprintf("%s[%d]", at, i)); problem != "" {
				return problem
			}
		}
	}
	return ""
}

func checkObject(keywords, object map[string]any, at string) string {
	if required, ok := keywords["required"].([]any); ok {
		for _, name := range required {
			name, isText := name.(string)
			if _, there := object[name]; isText && !there {
				return fmt.Sprintf("%s has no %q", at, shorten(name))
			}
		}
	}

	properties, _ := keywords["properties"].(map[string]any)
	further := keywords["additionalProperties"]
	for _, name := range slices.Sorted(maps.Keys(object)) {
		schema, named := properties[name]
		if !named {
			if schema = further; further == false {
				return fmt.Sprintf("%s has %q, which the schema does not allow", at, shorten(name))
			}
		}
		if problem := check(schema, object[name], at+"."+shorten(name)); problem != "" {
			return problem
		}
	}
	return ""
}

// checkType: want is the name of a type, or a list of names.
func checkType(want, value any, at string) string {
	var names []string
	switch want := want.(type) {
	case string:
		names = []string{want}
	case []any:
		for _, name := range want {
			if name, ok := name.(string); ok {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return isOfType(name, value) }) {
		return ""
	}
	return fmt.Sprintf("%s is %s, want %s", at, show(value), shorten(strings.Join(names, " or ")))
}

// isOfType reports whether a value is of a type; of a type that is not JSON
// Schema's, every value is.
func isOfType(name string, value any) bool {
	switch v := value.(type) {
	case nil:
		return name == "null" || !isType(name)
	case bool:
		return name == "boolean" || !isType(name)
	case string:
		return name == "string" || !isType(name)
	case float64:
		return name == "number" || name == "integer" && v == math.Trunc(v) || !isType(name)
	case []any:
		return name == "array" || !isType(name)
	default:
		return name == "object" || !isType(name)
	}
}

func isType(name string) bool {
	return slices.Contains([]string{"null", "boolean", "string", "number", "integer", "array", "object"}, name)
}

func contains(list []any, value any) bool {
	return slices.ContainsFunc(list, func(one any) bool { return reflect.DeepEqual(one, value) })
}

// show is a value in a message.
func show(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "a value"
	}
	return shorten(string(text))
}
