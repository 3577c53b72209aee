package spec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCanonicalHeaders(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   map[string]string
		want map[string]string
		err  string
	}{
		{"none", nil, map[string]string{}, ""},
		{
			"canonical",
			map[string]string{"x-one": "1", "AUTHORIZATION": "k", "host": "h"},
			map[string]string{"X-One": "1", "Authorization": "k", "Host": "h"},
			"",
		},
		{"twice", map[string]string{"authorization": "a", "Authorization": "b"}, nil, `"Authorization" is given twice`},
		{"framing", map[string]string{"transfer-encoding": "chunked"}, nil, "sets it itself"},
		{"length", map[string]string{"Content-Length": "7"}, nil, "sets it itself"},
		{"trailer", map[string]string{"Trailer": "X"}, nil, "sets it itself"},
		{"no name", map[string]string{"": "x"}, nil, "invalid HTTP header name"},
		{"blank", map[string]string{"a b": "x"}, nil, "invalid HTTP header name"},
		{"line end", map[string]string{"A": "x\r\nB: y"}, nil, "contains a line break"},
	} {
		got, err := CanonicalHeaders(tt.in)
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestSetHeader(t *testing.T) {
	headers := map[string]string{"authorization": "old", "A": "1"}
	SetHeader(headers, "Authorization", "new")
	if diff := cmp.Diff(map[string]string{"Authorization": "new", "A": "1"}, headers); diff != "" {
		t.Error(diff)
	}
	if !HasHeader(headers, "aUTHORIZATION") || HasHeader(headers, "B") {
		t.Error("HasHeader does not look past the case of names")
	}
}
