package pyjson

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFloat(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0.0", 1: "1.0", -2.5: "-2.5", 0.1: "0.1", 1e-4: "0.0001", 1e-5: "1e-05", 1.5e-7: "1.5e-07",
		1e15: "1000000000000000.0",
		1e16: "1e+16", 123456789012345680: "1.2345678901234568e+17", 1e300: "1e+300",
		math.SmallestNonzeroFloat64: "5e-324", math.Inf(1): "inf", 0.5: "0.5",
	} {
		if got := Float(f); got != want {
			t.Errorf("Float(%v) = %s, want %s", f, got, want)
		}
	}
}

// FuzzRespace: the layout changes, the meaning does not.
func FuzzRespace(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.5,{"b":"x,y: \"é\u2028"}],"c":null}`, `"a\\"`, `[]`, "\"\x7f\U0001F600\"",
		`{"a":"\\\":,"}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var v any
		if json.Unmarshal([]byte(s), &v) != nil {
			return
		}
		compact, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		got := Respace(compact)
		var back any
		if err := json.Unmarshal(got, &back); err != nil || !cmp.Equal(v, back) {
			t.Fatalf("Respace(%s) = %s: %v, %v", compact, got, back, err)
		}
		if i := strings.IndexFunc(string(got), func(r rune) bool { return r < ' ' || r > '~' }); i >= 0 {
			t.Fatalf("Respace(%s) = %q: byte %d is not printable ASCII", compact, got, i)
		}
	})
}
