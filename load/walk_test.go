package load

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// FuzzWalk: the members are those that encoding/json sees.
func FuzzWalk(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"b":{"c":[1,2]},"a":"x"}`, ` { "\u0061" : null } `, `[1]`, `"x"`, `{`, `{}`, `{"a":1}x`,
		`{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, `{"\ud83d":"\ud83d\ude00"}`, `{"é":-0.5e3}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := map[string]string{}
		err := walk(data, func(name, value []byte) { got[strings.ToValidUTF8(string(name), "\ufffd")] = string(value) })
		if (err == nil) != json.Valid(data) {
			t.Fatalf("walk(%q) = %v, but json.Valid says %v", data, err, json.Valid(data))
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(data, &want) != nil {
			want = nil
		}
		for name, value := range want {
			if clean := strings.ToValidUTF8(name, "\ufffd"); strings.ToValidUTF8(got[clean], "\ufffd") != strings.ToValidUTF8(string(value), "\ufffd") && !strings.Contains(clean, "\ufffd") {
				t.Errorf("walk(%q): member %q is %q, want %q", data, name, got[clean], value)
			}
		}
		if len(want) == 0 && len(got) > 0 || len(got) > len(want) {
			t.Errorf("walk(%q) visits %q, want %q", data, got, want)
		}
	})
}

// FuzzNative: no event upsets the parsers of the native APIs; they take all
// JSON and nothing else, and a second reading gives the same.
func FuzzNative(f *testing.F) {
	for _, s := range []string{
		`{"content":"a","stop":true,"stop_type":"limit","tokens_predicted":5,"timings":{"prompt_n":1,"cache_n":4,"predicted_n":5}}`,
		`{"token":{"text":"a","special":false},"generated_text":"ab","details":{"finish_reason":"length","generated_tokens":2}}`,
		`{"text":"a","meta_info":{"finish_reason":{"type":"abort","message":"m"},"completion_tokens":1}}`,
		`{"message":{"content":"a","thinking":"b","tool_calls":[1]},"done":true,"done_reason":"stop","eval_count":3}`,
		`{"error":{"message":"m"},"generated_text":null,"token":null,"meta_info":[],"stop":1}`, `[DONE]`, `{"generated_text":"","text":"\ud83d"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, api := range APIs()[2:] {
			c, again := new(chunk), new(chunk)
			err := api.parser()(data, c)
			if want := json.Valid(data) || (isDone(data) && !api.Lines); (err == nil) != want {
				t.Fatalf("%s: parse(%q) = %v, want success: %v", api.Name, data, err, want)
			}
			if c.fault != nil && faultWords(c.fault, 100) == "" {
				t.Errorf("%s: error %q has no words", api.Name, c.fault)
			}
			_ = api.wholeParser()(data, again)
			_ = api.parser()(data, again)
			if diff := cmp.Diff(seen(c), seen(again), cmp.AllowUnexported(tokenCounts{}, draftCounts{})); diff != "" {
				t.Errorf("%s: parse(%q) differs the second time:\n%s", api.Name, data, diff)
			}
		}
	})
}

// referenceLines is what JSON lines are, in few words.
func referenceLines(stream string) (lines []string) {
	all := strings.Split(stream, "\n")
	for i, line := range all {
		if line = strings.TrimSpace(line); line != "" && (i < len(all)-1 || json.Valid([]byte(line))) {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestLineReader(t *testing.T) {
	tests := []struct {
		name, stream string
		want         []string
	}{
		{"lines", "{\"a\":1}\n{\"b\":2}\n", []string{`{"a":1}`, `{"b":2}`}},
		{"no last end", "{\"a\":1}\n{\"b\":2}", []string{`{"a":1}`, `{"b":2}`}},
		{"crlf and blanks", "\r\n{\"a\":1}\r\n\n \n{}\n", []string{`{"a":1}`, `{}`}},
		{"a lone cr is white space", "{\r}\n", []string{"{\r}"}},
		{"not JSON but a line", "oops\n{}\n", []string{"oops", "{}"}},
		{"cut off", "{}\n{\"a", []string{"{}"}},
		{"sse fields are lines too", "data: {}\n", []string{"data: {}"}},
		{"longer than any buffer", `"` + strings.Repeat("x", 200_000) + "\"\n1\n", []string{`"` + strings.Repeat("x", 200_000) + `"`, "1"}},
		{"empty", "", nil},
	}
	for _, tt := range tests {
		if got := referenceLines(tt.stream); !cmp.Equal(got, tt.want) {
			t.Errorf("%s: the reference reads %.100q, want %.100q", tt.name, got, tt.want)
		}
		for _, split := range splitters() {
			if len(tt.stream) > split.most {
				continue
			}
			got, err := readEvents(&eventReader{lines: true}, split.cut([]byte(tt.stream)))
			if !errors.Is(err, io.EOF) || !cmp.Equal(got, tt.want) {
				t.Errorf("%s, %s: got %.100q, %v, want %.100q", tt.name, split.name, got, err, tt.want)
			}
		}
	}
}

// TestLineStamps: a line bears the time of the read that completed it; one
// that only the end of the stream completed, that of its last bytes.
func TestLineStamps(t *testing.T) {
	e := &eventReader{lines: true}
	e.reset(&parts{pieces: [][]byte{[]byte("{"), []byte("}\n{}\n["), []byte("]\n"), []byte("1"), []byte("2")}})
	var got []time.Duration
	for {
		_, at, err := e.next()
		if err != nil {
			break
		}
		got = append(got, at/time.Millisecond)
	}
	if want := []time.Duration{2, 2, 3, 5}; !cmp.Equal(got, want) {
		t.Errorf("lines stamped at reads %v, want %v", got, want)
	}
}

func TestLineLimit(t *testing.T) {
	got, err := readEvents(&eventReader{lines: true, limit: 8 << 10}, [][]byte{[]byte(strings.Repeat("x", 9000))})
	if !errors.Is(err, errEventTooLong) || len(got) != 0 {
		t.Errorf("got %d lines and error %v, want none and %v", len(got), err, errEventTooLong)
	}
}

func FuzzLineReader(f *testing.F) {
	for _, s := range []string{"{}\n[1]\n", "a\r\n\r\nb", "\n\n1", "\x00\n\xff", "{\"a\":\"\\n\"}"} {
		f.Add([]byte(s), uint64(1))
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		want := referenceLines(string(stream))
		e := &eventReader{lines: true}
		for _, cut := range []func([]byte) [][]byte{
			func(b []byte) [][]byte { return [][]byte{b} },
			func(b []byte) [][]byte { return pieces(b, func() int { return 1 }) },
			randomPieces(seed, 40),
		} {
			in := cut(stream)
			if len(stream) == 0 {
				in = nil
			}
			got, err := readEvents(e, in)
			if !errors.Is(err, io.EOF) || !cmp.Equal(got, want) {
				t.Fatalf("stream %q in %d pieces: got %q, %v, want %q", stream, len(in), got, err, want)
			}
		}
	})
}
