package schematest

import (
	"strings"
	"testing"
)

const schema = `{"$id": "urn:a", "type": "object", "required": ["n"], "properties": {
	"n": {"type": "integer", "description": "a count"},
	"s": {"type": ["number", "null"]},
	"word": {"enum": ["a", "b"]},
	"list": {"type": "array", "items": {"$ref": "#/$defs/T"}},
	"maybe": {"anyOf": [{"$ref": "#/$defs/T"}, {"type": "null"}]},
	"by": {"type": "object", "additionalProperties": {"type": "boolean"}}
}, "patternProperties": {"^p[0-9]+_ms$": {"type": "number"}},
	"$defs": {"T": {"type": "object", "properties": {"x": {"type": "string"}}}}}`

func TestCheck(t *testing.T) {
	for _, c := range []struct{ document, want string }{ // want: part of the error; "": none
		{`{"n": 1}`, ""},
		{`{"n": 1, "s": 1, "word": "a", "list": [{"x": ""}, {}], "maybe": null, "by": {"u": true}, "p50_ms": 1.5}`, ""},
		{`{"n": 1, "maybe": {"x": "y"}, "s": null}`, ""},
		{`{}`, `$: no member "n"`},
		{`[]`, `$: a value of type array`},
		{`{"n": 1.5}`, `$.n: a value of type number`},
		{`{"n": 1, "s": "1"}`, `$.s: a value of type string`},
		{`{"n": 1, "word": "c"}`, `$.word: c is not one of`},
		{`{"n": 1, "list": [{"x": 1}]}`, `$.list[0].x: a value of type integer`},
		{`{"n": 1, "maybe": {"y": 1}}`, `$.maybe: the schema does not name "y"`},
		{`{"n": 1, "by": {"u": 1}}`, `$.by.u: a value of type integer`},
		{`{"n": 1, "more": 1}`, `$: the schema does not name "more"`},
		{`{"n": 1,`, `read document`},
	} {
		err := Check([]byte(schema), []byte(c.document))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.document, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v, want %q", c.document, err, c.want)
		}
	}
}

func TestCheckRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, broken := range []string{`{"minimum": 1}`, `{"$ref": "#/$defs/none"}`, `{`} {
		if err := Check([]byte(broken), []byte(`1`)); err == nil {
			t.Errorf("schema %s is taken", broken)
		}
	}
}
