package rawjson

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzWalk: the members are those that encoding/json sees.
func FuzzWalk(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"b":{"c":[1,2]},"a":"x"}`, ` { "\u0061" : null } `, `[1]`, `"x"`, `{`, `{}`, `{"a":1}x`,
		`{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, `{"\ud83d":"\ud83d\ude00"}`,
		`{"é":-0.5e3}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := map[string]string{}
		err := Walk(data, func(name, value []byte) { got[strings.ToValidUTF8(string(name), "\ufffd")] = string(value) })
		if (err == nil) != json.Valid(data) {
			t.Fatalf("walk(%q) = %v, but json.Valid says %v", data, err, json.Valid(data))
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(data, &want) != nil {
			want = nil
		}
		for name, value := range want {
			if clean := strings.ToValidUTF8(name, "\ufffd"); strings.ToValidUTF8(got[clean],
				"\ufffd") != strings.ToValidUTF8(string(value), "\ufffd") && !strings.Contains(clean, "\ufffd") {
				t.Errorf("walk(%q): member %q is %q, want %q", data, name, got[clean], value)
			}
		}
		if len(want) == 0 && len(got) > 0 || len(got) > len(want) {
			t.Errorf("walk(%q) visits %q, want %q", data, got, want)
		}
	})
}
