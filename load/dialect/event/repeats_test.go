package event

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// repeated are events that differ from those before them in a text, or in more than
// that.
var repeated = []string{
	`{"id":"a","choices":[{"index":0,"text":" one","finish_reason":null}],"usage":null}`,
	`{"id":"a","choices":[{"index":0,"text":" t\u00e9n\n","finish_reason":null}],"usage":null}`,
	`{"id":"a","choices":[{"index":0,"text":"","finish_reason":null}],"usage":null}`,
	`{"id":"a","choices":[{"index":0,"text":"x","finish_reason":"stop","y":"","finish_reason":null}],"usage":null}`,
	`{"id":"a","choices":[{"index":0,"text":"x\","finish_reason":null}],"usage":null}`,
	`{"id":"a","choices":[{"index":0,"text":"x\q","finish_reason":null}],"usage":null}`,
	`{"id":"a","choices":[{"index":0,"text":"` + "\x01" + `","finish_reason":null}],"usage":null}`,
	`{"id":"b","choices":[{"index":0,"text":" one","finish_reason":null}],"usage":null}`,
	`{"choices":[{"delta":{"content":"a"}}]}`,
	`{"choices":[{"delta":{"content":"bc"}}]}`,
	`{"choices":[{"delta":{"content":"bc"}}]}}`,
	`{"choices":[{"delta":{"reasoning":"a","content":""}}]}`,
	`{"choices":[{"delta":{"reasoning":"b","content":""}}]}`,
	`{"choices":[{"delta":{"reasoning":"b","reasoning_content":"b"}}]}`,
	`{"choices":[{"delta":{"reasoning":"b","reasoning_content":"c"}}]}`,
	`{"choices":[{"delta":{"reasoning":"b","reasoning_content":""}}]}`,
	`{"choices":[{"delta":{"role":"assistant","content":"a"}}]}`,
	`{"choices":[{"delta":{"role":"assistant","content":"b"}}]}`,
	`{"choices":[{"text":"a"},{"text":"b"}]}`,
	`{"choices":[{"text":"a"},{"text":"c"}]}`,
	`{"choices":[{"text":"a","delta":{"content":"b"}}]}`,
	`{"choices":[{"text":"a","delta":{"content":"c"}}]}`,
	`{"choices":[{"text":"a"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
	`{"choices":[{"text":"b"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
	`[DONE]`,
}

// checkRepeats reads events in turn and compares each with what the parser makes of it
// by itself.
func checkRepeats(t *testing.T, events ...string) {
	t.Helper()
	var r Repeats
	for _, data := range events {
		got, want := new(Chunk), new(Chunk)
		errGot, errWant := r.Parse([]byte(data), got, ParseOpenAI), ParseOpenAI([]byte(data), want)
		if (errGot == nil) != (errWant == nil) {
			t.Fatalf("%q after others: error %v, want %v", data, errGot, errWant)
		}
		if errWant != nil {
			continue
		}
		diff := cmp.Diff(seen(want), seen(got), cmp.AllowUnexported(TokenCounts{}, DraftCounts{}))
		if diff != "" || got.Odd != want.Odd || got.HasText != want.HasText || got.HasDelta != want.HasDelta {
			t.Fatalf("%q after others (-by itself +after them):\n%s", data, diff)
		}
	}
}

// Every event after every other two reads as it does alone.
func TestRepeatsReadAsTheParser(t *testing.T) {
	for _, first := range repeated {
		for _, second := range repeated {
			checkRepeats(t, slices.Concat([]string{first, second}, repeated)...)
		}
	}
}

func TestRepeatsOfCaptures(t *testing.T) {
	var events []string
	for _, data := range captureEvents(t) {
		events = append(events, string(data))
	}
	checkRepeats(t, events...)
}

// FuzzRepeats: an event after another reads as it does alone.
func FuzzRepeats(f *testing.F) {
	for i := range len(repeated) - 1 {
		f.Add(repeated[i], repeated[i+1], "x")
	}
	f.Fuzz(func(t *testing.T, first, second, text string) {
		checkRepeats(t, first, second)
		c := new(Chunk)
		if ParseOpenAI([]byte(first), c) == nil && c.isText() {
			checkRepeats(t, first, first[:c.text.start]+text+first[c.text.end:])
		}
	})
}

// A stream of plain tokens is read by comparison.
func BenchmarkRepeats(b *testing.B) {
	events := [][]byte{[]byte(repeated[0]), []byte(repeated[1])}
	var r Repeats
	c := new(Chunk)
	b.SetBytes(int64(len(events[0])))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := r.Parse(events[i%2], c, ParseOpenAI); err != nil {
			b.Fatal(err)
		}
	}
}
