package event

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/results"
)

// seenChunk is a chunk in comparable form; text as encoding/json would have it.
type seenChunk struct {
	Done, Choices, Tool, Role bool
	Content, Reasoning        string
	Finish                    string
	Usage, Timings            TokenCounts
	Drafts                    DraftCounts
	Fault                     string
	Kind                      string
}

func seen(c *Chunk) seenChunk {
	coerce := func(b []byte) string { return string([]rune(string(b))) }
	return seenChunk{
		Done: c.Done, Choices: c.Choices, Tool: c.Tool, Role: c.Role,
		Content: coerce(c.Content), Reasoning: coerce(c.Reasoning), Finish: coerce(c.Finish),
		Usage: c.Usage, Timings: c.Timings, Drafts: c.Drafts, Fault: coerce(c.Fault), Kind: string(rune(c.Kind())),
	}
}

// checkAgainstSlow compares both readings of data and reports whether the fast
// one was sure of itself.
func checkAgainstSlow(t *testing.T, data []byte) bool {
	t.Helper()
	fast, slow := new(Chunk), new(Chunk)
	fast.Reset()
	slow.Reset()
	ok := parseFast(data, fast)
	err := parseSlow(data, slow)
	if !ok {
		return false
	}
	if err != nil {
		t.Errorf("parseFast accepts %q, encoding/json does not", data)
		return true
	}
	if diff := cmp.Diff(seen(slow), seen(fast), cmp.AllowUnexported(TokenCounts{}, DraftCounts{})); diff != "" {
		t.Errorf("%q: encoding/json (-) and the scanner (+) differ:\n%s", data, diff)
	}
	usage, timings := countsOf(data)
	if fast.Usage != usage || fast.Timings != timings {
		t.Errorf("%q: counts %+v and %+v, by encoding/json %+v and %+v", data, fast.Usage, fast.Timings, usage, timings)
	}
	return true
}

// countsOf reads the counts of an event by encoding/json.
func countsOf(data []byte) (usage, timings TokenCounts) {
	members := func(of any, name string) map[string]any {
		object, _ := of.(map[string]any)
		inner, _ := object[name].(map[string]any)
		return inner
	}
	var event any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // those beyond float64 are JSON too
	if decoder.Decode(&event) != nil {
		return NoCounts, NoCounts
	}
	u, t := members(event, "usage"), members(event, "timings")
	usage = TokenCounts{
		wholeOf(u["prompt_tokens"]), wholeOf(u["completion_tokens"]),
		wholeOf(members(u, "prompt_tokens_details")["cached_tokens"]),
	}
	timings = TokenCounts{wholeOf(t["prompt_n"]), wholeOf(t["predicted_n"]), wholeOf(t["cache_n"])}
	if timings.Input >= 0 {
		timings.Input += max(timings.Cached, 0)
	}
	return usage, timings
}

// wholeOf returns a whole number, -1 for all else.
func wholeOf(v any) int {
	number, _ := v.(json.Number)
	n, err := number.Float64()
	if err != nil || n < 0 || n > 1<<53 || n != math.Trunc(n) {
		return -1
	}
	return int(n)
}

func captureEvents(t testing.TB) [][]byte {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/captures/*.http")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	var all [][]byte
	for _, path := range paths {
		header, body := loadtest.Capture(t, path)
		if strings.Contains(header, "event-stream") {
			all = append(all, dataLines(body)...)
		}
	}
	return all
}

// dataLines are the events of a stream, each of one data line.
func dataLines(stream []byte) (events [][]byte) {
	for line := range bytes.Lines(stream) {
		if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: ")); ok {
			events = append(events, data)
		}
	}
	return events
}

// TestChunksOfCaptures: every event of every real server is read by the fast
// way, as encoding/json reads it.
func TestChunksOfCaptures(t *testing.T) {
	events := captureEvents(t)
	n := 0
	for _, data := range events {
		if string(data) == "[DONE]" {
			continue
		}
		n++
		if !checkAgainstSlow(t, data) {
			t.Errorf("left to encoding/json: %q", data)
		}
	}
	if n < 500 {
		t.Errorf("compared %d events, want at least 500", n)
	}
}

func TestParseChunk(t *testing.T) {
	none := NoCounts
	tests := []struct {
		name, data string
		want       seenChunk
	}{
		{"done", " [DONE]", seenChunk{Done: true, Usage: none, Timings: none, Kind: "o"}},
		{"text", `{"choices":[{"text":" a\n\"\u00e9\ud83d\ude00\/"}]}`, seenChunk{
			Choices: true, Content: " a\n\"é😀/",
			Usage: none, Timings: none, Kind: "t",
		}},
		{
			"lone surrogates", `{"choices":[{"text":"\ud83dx\ude00\ud83d\u0041"}]}`,
			seenChunk{Choices: true, Content: "\ufffdx\ufffd\ufffdA", Usage: none, Timings: none, Kind: "t"},
		},
		{
			"delta", `{"choices":[{"delta":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}`,
			seenChunk{Choices: true, Role: true, Content: "a", Finish: "stop", Usage: none, Timings: none, Kind: "t"},
		},
		{"role", `{"choices":[{"delta":{"role":"assistant","content":null}}]}`, seenChunk{
			Choices: true, Role: true,
			Usage: none, Timings: none, Kind: "r",
		}},
		{"empty", `{"choices":[{"text":""}]}`, seenChunk{Choices: true, Usage: none, Timings: none, Kind: "e"}},
		{"finish", `{"choices":[{"delta":{},"finish_reason":"length"}]}`, seenChunk{
			Choices: true, Finish: "length",
			Usage: none, Timings: none, Kind: "f",
		}},
		{
			"reasoning", `{"choices":[{"delta":{"reasoning_content":"hm","content":""}}]}`,
			seenChunk{Choices: true, Reasoning: "hm", Usage: none, Timings: none, Kind: "k"},
		},
		{
			"reasoning under both names", `{"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}`,
			seenChunk{Choices: true, Reasoning: "hm", Usage: none, Timings: none, Kind: "k"},
		},
		{
			"reasoning, newer name", `{"choices":[{"delta":{"reasoning":"hm"}}]}`,
			seenChunk{Choices: true, Reasoning: "hm", Usage: none, Timings: none, Kind: "k"},
		},
		{"tool", `{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}`, seenChunk{
			Choices: true, Tool: true,
			Usage: none, Timings: none, Kind: "c",
		}},
		{
			"no tool", `{"choices":[{"delta":{"tool_calls":[ ],"function_call":null}}]}`,
			seenChunk{Choices: true, Usage: none, Timings: none, Kind: "e"},
		},
		{
			"usage",
			`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":2}}}`,
			seenChunk{Usage: TokenCounts{3, 5, 2}, Timings: none, Kind: "u"},
		},
		{
			"usage without details", `{"choices":null,"usage":{"completion_tokens":5,"prompt_tokens_details":null}}`,
			seenChunk{Usage: TokenCounts{-1, 5, -1}, Timings: none, Kind: "u"},
		},
		{"null usage", `{"choices":[{"text":"a"}],"usage":null}`, seenChunk{
			Choices: true, Content: "a", Usage: none,
			Timings: none, Kind: "t",
		}},
		{
			"timings", `{"choices":[{"text":""}],"timings":{"prompt_n":4,"cache_n":6,"predicted_n":9,"prompt_ms":1.5e-3}}`,
			seenChunk{Choices: true, Usage: none, Timings: TokenCounts{10, 9, 6}, Kind: "e"},
		},
		{
			"timings with drafts",
			`{"choices":[{"text":""}],"timings":{"prompt_n":4,"predicted_n":9,"draft_n":51,"draft_n_accepted":23}}`,
			seenChunk{Choices: true, Usage: none, Timings: TokenCounts{4, 9, -1}, Drafts: DraftCounts{
				Tokens:   51,
				Accepted: 23,
			}, Kind: "e"},
		},
		{
			"drafts of no number", `{"timings":{"draft_n":null,"draft_n_accepted":"x","predicted_n":9}}`,
			seenChunk{Usage: none, Timings: TokenCounts{-1, 9, -1}, Kind: "u"},
		},
		{"error object", `{"error":{"message":"boom"}}`, seenChunk{
			Usage: none, Timings: none,
			Fault: `{"message":"boom"}`, Kind: "x",
		}},
		{"error string beside text", `{"error":"boom","choices":[{"text":"a"}]}`, seenChunk{
			Choices: true, Content: "a",
			Usage: none, Timings: none, Fault: `"boom"`, Kind: "x",
		}},
		{"no error", `{"error":null,"choices":[{"text":"a"}]}`, seenChunk{
			Choices: true, Content: "a", Usage: none,
			Timings: none, Kind: "t",
		}},
		{"older error object", `{"object":"error","message":"boom","code":400}`, seenChunk{
			Usage: none, Timings: none,
			Fault: `"boom"`, Kind: "x",
		}},
		{"message without error", `{"object":"x","message":"boom"}`, seenChunk{Usage: none, Timings: none, Kind: "o"}},
		{"not an object", `[1]`, seenChunk{Usage: none, Timings: none, Kind: "o"}},
		{"choices of another type", `{"choices":{"a":1}}`, seenChunk{Usage: none, Timings: none, Kind: "o"}},
		{"two choices", `{"choices":[{"text":"a"},{"text":"b"}]}`, seenChunk{
			Choices: true, Content: "ab", Usage: none,
			Timings: none, Kind: "t",
		}},
		{
			"left to encoding/json: escaped name", `{"choic\u0065s":[{"text":"a"}]}`,
			seenChunk{Choices: true, Content: "a", Usage: none, Timings: none, Kind: "t"},
		},
		{
			"left to encoding/json: name twice", `{"choices":[{"text":"a"}],"choices":[{"text":"b","text":"c"}]}`,
			seenChunk{Choices: true, Content: "c", Usage: none, Timings: none, Kind: "t"},
		},
		{
			"left to encoding/json: float", `{"usage":{"completion_tokens":5.0,"prompt_tokens":-1}}`,
			seenChunk{Usage: TokenCounts{-1, 5, -1}, Timings: none, Kind: "u"},
		},
		{"left to encoding/json: deep", `{"x":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) +
			`,"choices":[{"text":"a"}]}`, seenChunk{
			Choices: true, Content: "a", Usage: none,
			Timings: none, Kind: "t",
		}},
		{
			"left to encoding/json: escaped finish reason", `{"choices":[{"finish_reason":"st\u006fp"}]}`,
			seenChunk{Choices: true, Finish: "stop", Usage: none, Timings: none, Kind: "f"},
		},
	}
	for _, tt := range tests {
		c := new(Chunk)
		if err := ParseOpenAI([]byte(tt.data), c); err != nil {
			t.Errorf("%s: parse(%s): %v", tt.name, tt.data, err)
		}
		if diff := cmp.Diff(tt.want, seen(c), cmp.AllowUnexported(TokenCounts{}, DraftCounts{})); diff != "" {
			t.Errorf("%s: parse(%s): -want +got\n%s", tt.name, tt.data, diff)
		}
		if !strings.HasPrefix(tt.name, "left to") && tt.name != "done" && tt.name != "not an object" &&
			!checkAgainstSlow(t, []byte(tt.data)) {
			t.Errorf("%s: left to encoding/json", tt.name)
		}
	}
}

func TestParseChunkRefuses(t *testing.T) {
	for _, data := range []string{
		``, `{`, `{}{}`, `{"a":1,}`, `{"a":01}`, `{"a":"` + "\x01" + `"}`, `{"a":"\x"}`,
		"{\"a\":\"\x00b\"}", "{\"a\":\"12345678\x01n\"}", `{"a":tru}`, `{"a" 1}`, `{"a":1e}`, `{"a":-}`, `{"a":1.}`,
		`ping`, `{"a":[1,]}`, "{}\x00",
	} {
		c := new(Chunk)
		if err := ParseOpenAI([]byte(data), c); err == nil {
			t.Errorf("parse(%q) took it as %+v, want an error", data, seen(c))
		}
	}
}

func FuzzChunk(f *testing.F) {
	for i, data := range captureEvents(f) {
		if i%40 == 0 {
			f.Add(data)
		}
	}
	for _, s := range []string{
		`{"choices":[{"text":"\ud83d\ude00","delta":{"content":"x","reasoning":"y","role":"r","tool_calls":[1]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`,
		`{"error":{"message":"m","code":1},"object":"error","message":"n","timings":{"prompt_n":1,"cache_n":2,"predicted_n":3}}`,
		`{"choices":[null,1,"x",[],{}],"usage":[],"x":{"a":[true,false,null,-1.5e+3]}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkAgainstSlow(t, data)
		c := new(Chunk)
		err := ParseOpenAI(data, c)
		done := string(bytes.TrimSpace(data)) == "[DONE]"
		if (err == nil) != (json.Valid(data) || done) {
			t.Errorf("parse(%q) = %v, but json.Valid says %v", data, err, json.Valid(data))
		}
		if c.Fault != nil && FaultMessage(c.Fault, 100) == "" {
			t.Errorf("error %q has no words", c.Fault)
		}
	})
}

func TestFaultWords(t *testing.T) {
	tests := []struct{ raw, want string }{
		{`"plain"`, "plain"},
		{`{"message":"m"}`, "m"},
		{`{"message":"m","type":"T","code":500,"param":null}`, "m (type T, code 500)"},
		{`{"message":"m","type":null,"code":"x"}`, "m (code x)"},
		{`{"code":7}`, `{"code":7}`},
		{`{"msg":"m"}`, "m"},
		{`{}`, `{}`},
		{`{"message":"` + strings.Repeat("é", 100) + `"}`, strings.Repeat("é", 49) + "..."},
	}
	for _, tt := range tests {
		if got := FaultMessage([]byte(tt.raw), 99); got != tt.want {
			t.Errorf("faultWords(%s) = %q, want %q", tt.raw, got, tt.want)
		}
	}
}

func TestBodyWords(t *testing.T) {
	tests := []struct{ body, want string }{
		{`{"error":{"message":"m"}}`, "m"},
		{`{"error":"m"}`, "m"},
		{`{"error":{}}`, "{}"},
		{`{"message":"m","object":"error"}`, "m"},
		{`{"detail":"m"}`, "m"},
		{`{"detail":[{"loc":["body"],"msg":"field required"}]}`, `[{"loc":["body"],"msg":"field required"}]`},
		{" <html>no</html>\n", "<html>no</html>"},
		{"", ""},
		{"\xff", "\ufffd"},
	}
	for _, tt := range tests {
		if got := BodyMessage([]byte(tt.body), 100); got != tt.want {
			t.Errorf("bodyWords(%q) = %q, want %q", tt.body, got, tt.want)
		}
	}
}

func TestKindsAreTokens(t *testing.T) {
	for k, want := range map[results.ChunkKind]bool{
		results.ChunkText: true, results.ChunkReasoning: true, results.ChunkTool: true, results.ChunkWhole: true,
		results.ChunkEmpty: false, results.ChunkRole: false, results.ChunkFinish: false, results.ChunkUsage: false,
		results.ChunkError: false, results.ChunkOther: false,
	} {
		if got := IsToken(k); got != want {
			t.Errorf("isToken(%c) = %v, want %v", k, got, want)
		}
	}
}
