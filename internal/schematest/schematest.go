// Package schematest holds JSON documents against a JSON Schema, more strictly
// than the schema asks: a member that it does not name is an error, too, so that
// a field that was added and not described is found.
//
// What goes in: a schema as package results/jsonschema has them, a document. What
// comes out: an error that says where they disagree. It knows the keywords that
// those schemas use and refuses others. It never ships.
package schematest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// keywords are those that say nothing about a document, and those that check knows.
var keywords = strings.Fields("$schema $id $defs title description " +
	"$ref anyOf type enum properties patternProperties additionalProperties required items")

type node = map[string]any

type checker struct{ defs node }

// Check says where a document disagrees with a schema; nil: nowhere.
func Check(schema, document []byte) error {
	var root node
	if err := json.Unmarshal(schema, &root); err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	var value any
	if err := json.Unmarshal(document, &value); err != nil {
		return fmt.Errorf("read document: %w", err)
	}
	defs, _ := root["$defs"].(node)
	return checker{defs}.check(root, value, "$")
}

func (c checker) check(schema node, value any, at string) error {
	for keyword := range schema {
		if !slices.Contains(keywords, keyword) {
			return fmt.Errorf("%s: the schema's keyword %q is not known here", at, keyword)
		}
	}

	if ref, ok := schema["$ref"].(string); ok {
		def, ok := c.defs[strings.TrimPrefix(ref, "#/$defs/")].(node)
		if !ok {
			return fmt.Errorf("%s: the schema has no %s", at, ref)
		}
		return c.check(def, value, at)
	}

	if schema != nil && len(schema) == 0 {
		return nil // anything
	}
	if alternatives, ok := schema["anyOf"].([]any); ok {
		return c.anyOf(alternatives, value, at)
	}
	if err := checkScalar(schema, value, at); err != nil {
		return err
	}

	switch v := value.(type) {
	case node:
		return c.object(schema, v, at)
	case []any:
		items, _ := schema["items"].(node)
		for i, item := range v {
			if err := c.check(items, item, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// anyOf asks for one alternative that fits. Of those that do not, the error of the
// first that has the type of the value is reported.
func (c checker) anyOf(alternatives []any, value any, at string) error {
	var failed error
	for _, alternative := range alternatives {
		schema, _ := alternative.(node)
		err := c.check(schema, value, at)
		if err == nil {
			return nil
		}
		if failed == nil {
			failed = err
		}
	}
	return failed
}

func checkScalar(schema node, value any, at string) error {
	if values, ok := schema["enum"].([]any); ok && !slices.Contains(values, value) {
		return fmt.Errorf("%s: %v is not one of %v", at, value, values)
	}

	var types []any
	switch t := schema["type"].(type) {
	case string:
		types = []any{t}
	case []any:
		types = t
	case nil:
		return nil
	}

	has := typeOf(value)
	if slices.Contains(types, any(has)) || has == "integer" && slices.Contains(types, any("number")) {
		return nil
	}
	return fmt.Errorf("%s: a value of type %s, want %v", at, has, types)
}

func typeOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	}
	return "object"
}

func (c checker) object(schema, object node, at string) error {
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, ok := object[fmt.Sprint(name)]; !ok {
			return fmt.Errorf("%s: no member %q", at, name)
		}
	}

	for _, name := range slices.Sorted(maps.Keys(object)) {
		inner, err := member(schema, name)
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		if inner == nil {
			return fmt.Errorf("%s: the schema does not name %q", at, name)
		}
		if err := c.check(inner, object[name], at+"."+name); err != nil {
			return err
		}
	}
	return nil
}

// member is the schema of an object's member; nil: there is none.
func member(schema node, name string) (node, error) {
	properties, _ := schema["properties"].(node)
	if inner, ok := properties[name].(node); ok {
		return inner, nil
	}

	patterns, _ := schema["patternProperties"].(node)
	for pattern, inner := range patterns {
		expression, err := regexp.Compile(pattern)
		if err != nil {
			return nil, err
		}
		if expression.MatchString(name) {
			return inner.(node), nil
		}
	}

	others, _ := schema["additionalProperties"].(node)
	return others, nil
}
