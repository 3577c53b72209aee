package nanjson

import "testing"

func TestReplace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, null, text string }{
		{`{"a": NaN, "b":[-Infinity,+inf]}`, `{"a": null, "b":[null,null]}`, `{"a": "NaN", "b":["-Infinity","+inf"]}`},
		{`{"a": -nan(ind)}`, `{"a": null}`, `{"a": "-nan(ind)"}`},
		{
			`{"a": "b: NaN", "c": nano, "d": null}`, `{"a": "b: NaN", "c": nano, "d": null}`,
			`{"a": "b: NaN", "c": nano, "d": null}`,
		},
		{`nan, "`, `nan, "`, `nan, "`},
	} {
		if got := string(ToNull([]byte(c.in))); got != c.null {
			t.Errorf("ToNull(%s) = %s, want %s", c.in, got, c.null)
		}
		if got := string(ToText([]byte(c.in))); got != c.text {
			t.Errorf("ToText(%s) = %s, want %s", c.in, got, c.text)
		}
	}
}
