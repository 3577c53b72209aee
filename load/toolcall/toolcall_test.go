package toolcall

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// weather is a tool with every keyword that is judged.
const weather = `{
	"type": "object",
	"properties": {
		"city": {"type": "string"},
		"unit": {"enum": ["celsius", "fahrenheit"]},
		"days": {"type": "integer", "minimum": 1},
		"near": {"anyOf": [{"type": "number"}, {"type": "null"}]},
		"tags": {"type": "array", "items": {"type": "string"}},
		"kind": {"const": "forecast"},
		"place": {"type": ["object", "null"], "additionalProperties": {"type": "boolean"}}
	},
	"required": ["city"],
	"additionalProperties": false
}`

func weatherSet(t testing.TB) *Set {
	t.Helper()
	set, err := Parse([]byte(`[{"type": "function", "function": {"name": "weather", "parameters": ` + weather + `}},
		{"type": "function", "function": {"name": "now"}}]`))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestProblem(t *testing.T) {
	set := weatherSet(t)
	for _, c := range []struct{ name, arguments, want string }{
		{"weather", `{"city": "Rome"}`, ""},
		{"weather", `{"city":"Rome","unit":"celsius","days":3,"near":null,"tags":["a"],"kind":"forecast","place":{"x":true}}`, ""},
		{"weather", `{"city":"Rome","days":-7,"near":1.5,"place":null}`, ""}, // minimum is not judged
		{"now", ``, ""},
		{"now", `{"anything": [1]}`, ""},
		{"weathr", `{"city": "Rome"}`, `no tool has the name "weathr"`},
		{"", `{}`, `no tool has the name ""`},
		{"weather", ``, `weather: arguments has no "city"`},
		{"weather", `{"city": "Rome"`, `the arguments of weather are not JSON: "{\"city\": \"Rome\""`},
		{"weather", `{"city": "Rome"} {}`, `the arguments of weather are not JSON: "{\"city\": \"Rome\"} {}"`},
		{"weather", `["Rome"]`, `the arguments of weather are not an object: "[\"Rome\"]"`},
		{"weather", `{"city": 7}`, `weather: arguments.city is 7, want string`},
		{
			"weather", `{"city": "Rome", "unit": "kelvin"}`,
			`weather: arguments.unit is "kelvin", want one of ["celsius","fahrenheit"]`,
		},
		{"weather", `{"city": "Rome", "days": 1.5}`, `weather: arguments.days is 1.5, want integer`},
		{"weather", `{"city": "Rome", "near": "sea"}`, `weather: arguments.near is "sea", want number`},
		{"weather", `{"city": "Rome", "tags": ["a", 1]}`, `weather: arguments.tags[1] is 1, want string`},
		{"weather", `{"city": "Rome", "kind": "past"}`, `weather: arguments.kind is "past", want "forecast"`},
		{"weather", `{"city": "Rome", "place": {"x": 1}}`, `weather: arguments.place.x is 1, want boolean`},
		{"weather", `{"city": "Rome", "place": "x"}`, `weather: arguments.place is "x", want object or null`},
		{
			"weather", `{"city": "Rome", "wind": true}`,
			`weather: arguments has "wind", which the schema does not allow`,
		},
	} {
		if got := set.Problem(Call{c.name, c.arguments}); got != c.want {
			t.Errorf("%s(%s): got %q, want %q", c.name, c.arguments, got, c.want)
		}
	}
}

// The three forms of a tool are the same tool.
func TestForms(t *testing.T) {
	for _, form := range []string{
		`[{"type":"function","function":{"name":"f","description":"d","parameters":{"required":["x"]}}}]`,
		`[{"type":"function","name":"f","description":"d","parameters":{"required":["x"]}}]`,
		`[{"name":"f","description":"d","input_schema":{"required":["x"]}},{"type":"web_search"}]`,
	} {
		functions, err := Functions([]byte(form))
		if err != nil {
			t.Fatal(err)
		}
		want := []Function{{Name: "f", Description: "d", Parameters: []byte(`{"required":["x"]}`)}}
		if diff := cmp.Diff(want, functions); diff != "" {
			t.Errorf("%s (-want +got):\n%s", form, diff)
		}
		set, err := Parse([]byte(form))
		if err != nil || set.Problem(Call{"f", "{}"}) == "" || set.Problem(Call{"f", `{"x":1}`}) != "" {
			t.Errorf("%s: %v", form, err)
		}
	}
}

func TestBadTools(t *testing.T) {
	for _, c := range []struct{ tools, want string }{
		{`{}`, "tools are not a list"},
		{`[1]`, "tools are not a list"},
		{`[{"type":"function","function":{}}]`, "tool 1 has no name"},
		{`[{"name":"a"},{}]`, "tool 2 has no name"},
		{`[{"name":"a"},{"name":"a"}]`, `two tools have the name "a"`},
		{`[{"name":"a","parameters":"string"}]`, `the parameters of tool "a" are not a JSON Schema`},
	} {
		if _, err := Parse([]byte(c.tools)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.tools, err, c.want)
		}
	}
	if set, err := Parse([]byte(`[{"type":"web_search"}]`)); set != nil || err != nil {
		t.Errorf("tools of the server: got %v, %v", set, err)
	}
}

func TestCallsOfPieces(t *testing.T) {
	for name, c := range map[string]struct {
		pieces []Piece
		want   []Call
	}{
		"one after the other": {
			[]Piece{
				{0, "a", "f", ""},
				{0, "", "", `{"x"`},
				{0, "", "", `:1}`},
				{1, "b", "g", ""},
				{1, "", "", `{}`},
			},
			[]Call{{"f", `{"x":1}`}, {"g", "{}"}},
		},
		"side by side": {
			[]Piece{{0, "a", "f", ""}, {1, "b", "g", ""}, {0, "", "", "{"}, {1, "", "", "["}, {0, "", "", "}"}},
			[]Call{{"f", "{}"}, {"g", "["}},
		},
		"all of one number, told apart by ids": {
			[]Piece{{0, "a", "f", ""}, {0, "a", "", "{}"}, {0, "b", "g", ""}, {0, "b", "", "[]"}},
			[]Call{{"f", "{}"}, {"g", "[]"}},
		},
		"pieces whose ids are others": {
			[]Piece{{2, "item", "f", ""}, {2, "other", "", "{"}, {2, "another", "", "}"}},
			[]Call{{"f", "{}"}},
		},
		"a name in every piece": {
			[]Piece{{0, "a", "f", "{"}, {0, "a", "f", "}"}},
			[]Call{{"f", "{}"}},
		},
		"no name at all": {[]Piece{{0, "", "", "{}"}}, []Call{{"", "{}"}}},
	} {
		var calls Calls
		for _, p := range c.pieces {
			calls.Add(p)
		}
		if diff := cmp.Diff(c.want, calls.List()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestCallsAreBounded(t *testing.T) {
	var calls Calls
	for i := range 2 * mostCalls {
		calls.Add(Piece{Index: i, Name: "f", Arguments: "{}"})
	}
	if n := len(calls.List()); n != mostCalls {
		t.Errorf("%d calls kept, want %d", n, mostCalls)
	}
	if calls.Bytes() != mostCalls*3 {
		t.Errorf("%d bytes, want %d", calls.Bytes(), mostCalls*3)
	}
}

func FuzzProblem(f *testing.F) {
	f.Add(`[{"name":"f","parameters":`+weather+`}]`, `{"city":"Rome","days":1}`)
	f.Add(`[{"name":"f","parameters":{"anyOf":[false,true],"items":7,"required":1,"type":[3]}}]`, `[[]]`)
	f.Fuzz(func(t *testing.T, tools, arguments string) {
		set, err := Parse([]byte(tools))
		if err != nil || set == nil {
			return
		}
		if len(set.Problem(Call{"f", arguments})) > 4096 {
			t.Error("a message that is too long")
		}
	})
}
