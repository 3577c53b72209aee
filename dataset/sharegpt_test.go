package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

func TestShareGPTAsVLLM(t *testing.T) {
	path := writeFile(t, string(synthetic(t)))
	for name, compat := range map[string]string{"sharegpt-newest.json": CompatVLLM, "sharegpt-v06.json": CompatVLLM06} {
		var file struct {
			Cases []struct {
				N           int    `json:"num_requests"`
				Seed        uint64 `json:"seed"`
				OutputLen   *int   `json:"output_len"`
				TotalInputs int    `json:"total_input_tokens"`
				Requests    [][3]any
			}
		}
		loadJSON(t, name, &file)
		if len(file.Cases) == 0 {
			t.Fatal("no cases")
		}
		for _, c := range file.Cases {
			spec := Spec{Kind: "sharegpt", Path: path, Seed: c.Seed, N: c.N, Shuffle: true, Compat: compat}
			if c.OutputLen != nil {
				spec.OutputLen = *c.OutputLen
			}
			set, err := Build(t.Context(), spec, &words{})
			if err != nil {
				t.Fatal(err)
			}
			if len(set.Prompts) != len(c.Requests) {
				t.Fatalf("%s seed %d: %d prompts, want %d", name, c.Seed, len(set.Prompts), len(c.Requests))
			}
			total := 0
			for i, p := range set.Prompts {
				sum := sha256.Sum256([]byte(p.Text))
				got := fmt.Sprint(hex.EncodeToString(sum[:8]), p.InputTokens, p.OutputTokens)
				if want := fmt.Sprint(c.Requests[i][0], c.Requests[i][1], c.Requests[i][2]); got != want {
					t.Errorf("%s seed %d, %d prompts: prompt %d = %s, want %s", name, c.Seed, c.N, i, got, want)
				}
				total += p.InputTokens
			}
			if total != c.TotalInputs {
				t.Errorf("%s seed %d, %d prompts: %d input tokens, want %d", name, c.Seed, c.N, total, c.TotalInputs)
			}
		}
	}
}

// turn and entry write files in ShareGPT's layout.
type turn struct {
	Value string `json:"value"`
}

type entry struct {
	Conversations []turn `json:"conversations"`
}

func say(n int, id string) turn { return turn{strings.Repeat(id+" ", n)} }

func shareGPTText(t *testing.T, entries ...entry) string {
	t.Helper()
	raw, err := json.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestShareGPTFilter(t *testing.T) {
	content := shareGPTText(t,
		entry{[]turn{say(3, "short"), say(50, "x")}},
		entry{[]turn{say(4, "a"), say(4, "x")}},
		entry{[]turn{say(50, "lonely")}},
		entry{[]turn{say(1024, "b"), say(1024, "x"), say(9, "third")}},
		entry{[]turn{say(1025, "long"), say(4, "x")}},
		entry{[]turn{say(1024, "c"), say(1025, "x")}},
		entry{[]turn{say(10, "d"), say(3, "x")}},
	)
	for _, c := range []struct {
		outputLen int
		want      string // first words and lengths
	}{
		{0, "a 4/4, b 1024/1024"},
		{2, "a 4/2, b 1024/2, c 1024/2, d 10/2"},
		{1500, "a 4/1500, d 10/1500"},
	} {
		spec := Spec{
			Kind: "sharegpt", Path: writeFile(t, content), N: strings.Count(c.want, "/"),
			OutputLen: c.outputLen,
		}
		var got []string
		for _, p := range build(t, spec, &words{}).Prompts {
			got = append(got, fmt.Sprintf("%s %d/%d", strings.Fields(p.Text)[0], p.InputTokens, p.OutputTokens))
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("output length %d keeps %s, want %s", c.outputLen, s, c.want)
		}
	}
}

func TestShareGPTEstimates(t *testing.T) {
	content := shareGPTText(t, entry{[]turn{{strings.Repeat("a", 13)}, {strings.Repeat("b", 400)}}},
		entry{[]turn{{"tiny"}, say(9, "x")}})
	set := build(t, Spec{Kind: "sharegpt", Path: writeFile(t, content), N: 1}, nil)
	if p := set.Prompts[0]; p.InputTokens != 0 || p.OutputTokens != 100 {
		t.Errorf("prompt = %+v, want 0 (not counted) and 100 (estimated)", p)
	}
	if !noteWith(set, "estimated") {
		t.Errorf("notes = %q, want one on estimates", set.Notes)
	}
}

func TestShareGPTErrors(t *testing.T) {
	good := `{"conversations":[{"value":"a b c d"},{"value":"a b c d"}]}`
	for _, c := range []struct{ name, content, want string }{
		{"empty", "", "the file is empty"},
		{"blank", " \n", "the file is empty"},
		{"no conversation", "[]", "no conversation of two turns"},
		{"single turns", `[{"conversations":[{"value":"a"}]},{"id":3},null]`, "no conversation of two turns"},
		{"object", good, "not one JSON array"},
		{"json lines", good + "\n" + good, "kind hf reads"},
		{"cut off", "[" + good + `,{"conver`, "cut off"},
		{"cut off after an entry", "[" + good, "cut off"},
		{"no comma", "[" + good + good + "]", "conversation 2 (from byte 60)"},
		{"garbage", "hello", "invalid character 'h'"},
		{"text after", "[" + good + "] x", "more text after the array, which ends at byte 61"},
		{"wrong entry", "[" + good + ",3]", "conversation 2"},
		{"wrong conversations", `[{"conversations":"x"}]`, `"conversations" is a JSON string, want an array`},
		{
			"wrong value", `[{"conversations":[{"value":5},{"value":"x"}]}]`,
			`conversation 1: turn 1: "value" is a JSON number, want text`,
		},
		{"wrong turn", `[{"conversations":[{"value":"x"},"y"]}]`, "turn 2: a JSON string, expected an object"},
		{
			"all filtered", `[{"conversations":[{"value":"a"},{"value":"b"}]}]`,
			"none of 1 conversations passes the filter",
		},
	} {
		path := writeFile(t, c.content)
		_, err := Build(t.Context(), Spec{Kind: "sharegpt", Path: path, N: 1}, &words{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: Build = %v, want the path and %q", c.name, err, c.want)
		}
	}
}

// A turn without a value counts as an empty text, as does a null one, and the
// entry keeps its place in the shuffle.
func TestShareGPTMissingValue(t *testing.T) {
	content := `[ {"conversations":[{"from":"human"},{"value":null}]} ,
		{"conversations":[{"value":"a b c d"},{"value":"a b c d e"}]}]`
	set := build(t, Spec{Kind: "sharegpt", Path: writeFile(t, content), N: 1}, &words{})
	if got := set.Prompts[0].Text; got != "a b c d" {
		t.Errorf("prompt = %q, want %q", got, "a b c d")
	}
}

func FuzzShareGPT(f *testing.F) {
	f.Add([]byte(`[{"conversations":[{"value":"a b c d"},{"value":"a b c d"}]}, {"conversations":[]}]`),
		uint8(3), uint8(0))
	f.Add([]byte(`[{"conversations":[{"value":"\ud800 \u00e9 x y"},{"value":"1 2 3 4"},7]}]`), uint8(1), uint8(9))
	f.Add([]byte(`[`), uint8(1), uint8(0))
	f.Fuzz(func(t *testing.T, content []byte, n, outputLen uint8) {
		places, err := indexShareGPT(t.Context(), bytes.NewReader(content))
		if err != nil {
			return
		}
		spec := Spec{N: int(n) + 1, OutputLen: int(outputLen), Shuffle: true}
		kept, err := sampleShareGPT(t.Context(), shareGPT{bytes.NewReader(content), places}, spec, &words{})
		if err != nil {
			return
		}
		if len(kept) == 0 || len(kept) > spec.N {
			t.Fatalf("%d prompts kept, want 1 to %d", len(kept), spec.N)
		}
		for _, p := range kept {
			if p.InputTokens != len(strings.Fields(p.Text)) || !keepTurn(p.InputTokens, p.OutputTokens, outputLen > 0) {
				t.Fatalf("kept %+v, which does not pass the filter", p)
			}
		}
	})
}

// endless is a file of count equal conversations that is never in memory. It
// records the largest live heap seen while it is read.
type endless struct {
	entry string
	count int
	rest  string
	begun bool
	live  uint64
}

func (e *endless) Read(b []byte) (int, error) {
	if e.rest == "" {
		switch {
		case !e.begun:
			e.rest, e.begun = "["+e.entry, true
		case e.count > 0:
			e.rest = "," + e.entry
		case e.count == 0:
			e.rest = "]"
		default:
			return 0, io.EOF
		}
		if e.count--; e.count%50 == 0 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			e.live = max(e.live, m.HeapAlloc)
		}
	}
	n := copy(b, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// Live memory must not grow with the texts of a file: here 4 MB.
func TestShareGPTMemory(t *testing.T) {
	unit := shareGPTText(t, entry{[]turn{say(1600, "long"), say(1600, "text")}})
	file := &endless{entry: unit[1 : len(unit)-1], count: 250}
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	places, err := indexShareGPT(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	if len(places) != 250 {
		t.Errorf("%d conversations, want 250", len(places))
	}
	if grown := int64(file.live) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("live heap grew by %d bytes, want at most 1 MiB", grown)
	}
}
