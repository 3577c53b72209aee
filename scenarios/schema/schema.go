package schema

import (
	"bytes"
	"encoding/json"
	"strings"
)

// object is one JSON Schema object.
type object = map[string]any

// JSONSchema is the JSON Schema (draft 2020-12) of files with this table, for
// editors. It cannot see what one key means for another, nor what a ${name}
// stands for. known are the values of a text key, or the keys of a mapping, that
// editors offer, by the name of the block and the key: "under load: profile".
func JSONSchema(file *BlockInfo, title string, known map[string][]string) []byte {
	b := &schemaBuilder{defs: object{}, known: known}
	root := b.block(file)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = title
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
	defs  object // blocks by name
	known map[string][]string
}

// block is the schema of a mapping: its keys and no others.
func (b *schemaBuilder) block(info *BlockInfo) object {
	props, required := object{}, []string{}
	for _, k := range info.Keys {
		o := b.key(k.Shape, b.known[info.Name+" "+k.Key])
		o["description"] = describe(k)
		if k.Default != "" {
			o["default"] = literal(k.Default).Value()
		}
		props[k.Key] = o
		if k.Required {
			required = append(required, k.Key)
		}
	}

	o := object{"type": "object", "description": info.Doc, "properties": props, "additionalProperties": false}
	if len(required) > 0 {
		o["required"] = required
	}

	return o
}

func describe(k Info) string {
	switch {
	case k.Default != "":
		return k.Doc + " Default: " + k.Default + "."
	case k.Note != "":
		return k.Doc + " Default: " + k.Note + "."
	}
	return k.Doc
}

// key is a shape, or null, or a text with ${} in it. names are those that an
// editor offers: as the values of a text, all that it may be, or as the keys of a
// mapping, which may have others, too.
func (b *schemaBuilder) key(s Shape, names []string) object {
	own := b.shape(s)
	switch {
	case len(names) == 0:
	case s.Kind == mapShape:
		props := object{}
		for _, name := range names {
			props[name] = b.element(*s.elem)
		}
		own["properties"] = props
	case s.Kind == TextShape:
		own = object{"anyOf": []any{object{"enum": names}, expression()}}
	}
	alts := []any{own, object{"type": "null"}}
	if s.Kind != TextShape && s.Kind != AnyShape && s.Kind != ScalarShape {
		alts = append(alts, expression())
	}
	return object{"anyOf": alts}
}

// element is a shape, or a text with ${} in it.
func (b *schemaBuilder) element(s Shape) object {
	switch s.Kind {
	case TextShape, AnyShape, ScalarShape, NullShape:
		return b.shape(s)
	default:
		return object{"anyOf": []any{b.shape(s), expression()}}
	}
}

func expression() object { return object{"type": "string", "pattern": `\$\{`} }

func (b *schemaBuilder) shape(s Shape) object {
	switch s.Kind {
	case TextShape:
		return object{"type": []string{"string", "number"}}
	case wholeShape:
		return numeric("integer", s.Limits)
	case numberShape:
		if s.Limits.inf {
			return object{"anyOf": []any{numeric("number", s.Limits), object{"const": "inf"}}}
		}
		return numeric("number", s.Limits)
	case flagShape:
		return object{"type": "boolean"}
	case DurationShape:
		return object{"anyOf": []any{
			object{"const": 0},
			object{"type": "string", "pattern": `^(0|([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+)$`},
		}}
	case LengthShape:
		return object{"anyOf": []any{
			numeric("integer", s.Limits),
			object{"type": "string", "pattern": LengthOfRest.String()},
		}}
	case SizeShape:
		return object{"anyOf": []any{object{"const": 0}, object{"type": "string", "pattern": sizeText.String()}}}
	case PercentShape:
		return object{"type": "string", "pattern": PercentText.String()}
	case enumShape:
		return object{"enum": s.enum}
	case ScalarShape:
		return object{"type": []string{"string", "number", "boolean"}}
	case NullShape:
		return object{"type": "null"}
	case listShape:
		return object{"type": "array", "items": b.element(*s.elem)}
	case mapShape:
		return object{"type": "object", "additionalProperties": b.element(*s.elem)}
	case BlockShape:
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
func (b *schemaBuilder) ref(info *BlockInfo) object {
	name := strings.NewReplacer(" ", "-", ":", "", ".", "").Replace(info.Name)
	if _, ok := b.defs[name]; !ok {
		b.defs[name] = object{} // ends recursion
		b.defs[name] = b.block(info)
	}
	return object{"$ref": "#/$defs/" + name}
}

func numeric(kind string, l Limits) object {
	o := object{"type": kind}
	if l.Above {
		o["exclusiveMinimum"] = l.min
	} else {
		o["minimum"] = l.min
	}

	if l.unboundMax {
		return o
	}
	if l.Below {
		o["exclusiveMaximum"] = l.Max
	} else {
		o["maximum"] = l.Max
	}

	return o
}
