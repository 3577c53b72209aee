package scenarios

import (
	"bytes"
	"encoding/json"
	"strings"
)

// object is one JSON Schema object.
type object = map[string]any

// Schema is the JSON Schema (draft 2020-12) of scenario files, for editors. It
// is made from the tables that decode them. It cannot see what one key means
// for another, nor what a ${name} stands for.
func Schema() []byte {
	b := &schemaBuilder{defs: object{}}
	root := b.block(fileBlock().info())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "bench scenario"
	root["$defs"] = b.defs
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		panic("bug: encode schema: " + err.Error())
	}
	return out.Bytes()
}

type schemaBuilder struct {
	defs object // blocks by name
}

// block is the schema of a mapping: its keys and no others.
func (b *schemaBuilder) block(info *blockInfo) object {
	props, required := object{}, []string{}
	for _, k := range info.keys {
		o := b.key(k.shape)
		o["description"] = describe(k)
		if k.def != "" {
			o["default"] = literal(k.def).value()
		}
		props[k.key] = o
		if k.required {
			required = append(required, k.key)
		}
	}
	o := object{"type": "object", "description": info.doc, "properties": props, "additionalProperties": false}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

func describe(k info) string {
	switch {
	case k.def != "":
		return k.doc + " Default: " + k.def + "."
	case k.note != "":
		return k.doc + " Default: " + k.note + "."
	}
	return k.doc
}

// key is a shape, or null, or a text with ${} in it.
func (b *schemaBuilder) key(s shape) object {
	alts := []any{b.shape(s), object{"type": "null"}}
	if s.kind != textShape && s.kind != anyShape && s.kind != scalarShape {
		alts = append(alts, expression())
	}
	return object{"anyOf": alts}
}

// element is a shape, or a text with ${} in it.
func (b *schemaBuilder) element(s shape) object {
	switch s.kind {
	case textShape, anyShape, scalarShape, nullShape:
		return b.shape(s)
	default:
		return object{"anyOf": []any{b.shape(s), expression()}}
	}
}

func expression() object { return object{"type": "string", "pattern": `\$\{`} }

func (b *schemaBuilder) shape(s shape) object {
	switch s.kind {
	case textShape:
		return object{"type": []string{"string", "number"}}
	case wholeShape:
		return numeric("integer", s.limits)
	case numberShape:
		if s.limits.inf {
			return object{"anyOf": []any{numeric("number", s.limits), object{"const": "inf"}}}
		}
		return numeric("number", s.limits)
	case flagShape:
		return object{"type": "boolean"}
	case durationShape:
		return object{"anyOf": []any{
			object{"const": 0},
			object{"type": "string", "pattern": `^(0|([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+)$`},
		}}
	case lengthShape:
		return object{"anyOf": []any{numeric("integer", s.limits), object{"type": "string", "pattern": lengthOfRest.String()}}}
	case sizeShape:
		return object{"anyOf": []any{object{"const": 0}, object{"type": "string", "pattern": sizeText.String()}}}
	case percentShape:
		return object{"type": "string", "pattern": percentText.String()}
	case enumShape:
		return object{"enum": s.enum}
	case scalarShape:
		return object{"type": []string{"string", "number", "boolean"}}
	case nullShape:
		return object{"type": "null"}
	case listShape:
		return object{"type": "array", "items": b.element(*s.elem)}
	case mapShape:
		return object{"type": "object", "additionalProperties": b.element(*s.elem)}
	case blockShape:
		return b.ref(s.block)
	case oneShape:
		var alts []any
		for _, a := range s.alts {
			alts = append(alts, b.shape(a))
		}
		return object{"anyOf": alts}
	default:
		return object{}
	}
}

// ref puts a block among the definitions and points there.
func (b *schemaBuilder) ref(info *blockInfo) object {
	name := strings.NewReplacer(" ", "-", ":", "", ".", "").Replace(info.name)
	if _, ok := b.defs[name]; !ok {
		b.defs[name] = object{} // ends recursion
		b.defs[name] = b.block(info)
	}
	return object{"$ref": "#/$defs/" + name}
}

func numeric(kind string, l limits) object {
	o := object{"type": kind}
	if l.above {
		o["exclusiveMinimum"] = l.min
	} else {
		o["minimum"] = l.min
	}
	if l.unboundMax {
		return o
	}
	if l.below {
		o["exclusiveMaximum"] = l.max
	} else {
		o["maximum"] = l.max
	}
	return o
}
