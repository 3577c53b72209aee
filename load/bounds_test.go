package load

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

// TestAnswersAreBounded: a server that sends without end, or one huge event, or
// a huge answer without stream, costs little memory and fails.
func TestAnswersAreBounded(t *testing.T) {
	huge := strings.Repeat("x", 64<<10)
	for _, tt := range []struct {
		name     string
		noStream bool
		piece    string
		words    string
	}{
		{"tokens without end", false, strings.Repeat("data: "+loadtest.Token+"\n\n", 500), "the answer does not end"},
		{
			"text without end", false, fmt.Sprintf("data: {\"choices\":[{\"text\":%q}]}\n\n", huge),
			"the answer does not end",
		},
		{"an event without end", false, huge, "event too long"},
		{"a whole answer without end", true, huge, "event too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sent := 0
			s := newRawServer(t, func(w io.Writer, _ *http.Request, _ int) bool {
				head := streamHeader
				if tt.noStream {
					head = strings.Replace(head, "text/event-stream", "application/json", 1)
				}
				if _, err := io.WriteString(w, head); err != nil {
					return false
				}
				for sent < 1<<30 {
					n, err := io.WriteString(w, loadtest.Frame(tt.piece))
					if sent += n; err != nil {
						return false
					}
				}
				return false
			})
			o := options(s.url, "completions")
			o.NoStream, o.KeepText = tt.noStream, false
			r := one(t, o)
			if r.Failure == nil || r.Failure.Class != results.FailProtocol ||
				!strings.Contains(r.Failure.Message, tt.words) {
				t.Errorf("failure %v, want %q", r.Failure, tt.words)
			}
			if len(r.ChunkS) > 20_000 {
				t.Errorf("%d chunks were kept", len(r.ChunkS))
			}
		})
	}
}

// TestStopsWhenTheVerdictIsCertain: a pass ends when more requests failed than
// may.
func TestStopsWhenTheVerdictIsCertain(t *testing.T) {
	for _, tt := range []struct {
		limit, records int
		interrupted    string
	}{
		{0, 200, ""},
		{300, 200, ""},
		{10, 14, " requests failed, and at most 10 may"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &pipeServer{answer: func(w io.Writer, _ *http.Request, _ int) bool {
				return script{{time.Second, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"}}.play(w)
			}}
			o := Options{Settings: spec.Settings{MaxConcurrency: 4}, MaxFailures: tt.limit}
			records, report, err := runPipe(context.Background(), s, o, 200)
			s.wg.Wait()
			if err != nil || len(records) > tt.records+4 || len(records) < tt.records-4 ||
				!strings.HasSuffix(report.Interrupted, tt.interrupted) ||
				(report.Interrupted == "") != (tt.interrupted == "") {
				t.Errorf("limit %d: %d records, %v, interrupted %q, want about %d, %q", tt.limit, len(records), err,
					report.Interrupted, tt.records, tt.interrupted)
			}
		})
	}
}

// TestPromptsThatAreTooLongAreAllCounted: how many prompts fit is known only
// when all were sent; refusals for their length do not end the pass.
func TestPromptsThatAreTooLongAreAllCounted(t *testing.T) {
	for _, tt := range []struct {
		body string
		ends bool
	}{
		{
			`{"error":{"code":400,"message":"request (353 tokens) exceeds the available context size (256 tokens)"}}`,
			false,
		},
		{`{"message":"This model's maximum context length is 8 tokens. However, you requested 9"}`, false},
		{`{"error":"The input (9 tokens) is longer than the model's context length (8 tokens)."}`, false},
		{"{\"error\":\"`inputs` tokens + `max_new_tokens` must be <= 8\"}", false},
		{`{"error":"temperature is out of range"}`, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &pipeServer{answer: func(w io.Writer, _ *http.Request, _ int) bool {
				return script{{time.Second, fmt.Sprintf("HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\n\r\n%s",
					len(tt.body), tt.body)}}.play(w)
			}}
			o := Options{Settings: spec.Settings{MaxConcurrency: 4}, MaxFailures: 3}
			records, report, err := runPipe(context.Background(), s, o, 64)
			s.wg.Wait()
			if ended := report.Interrupted != ""; err != nil || ended != tt.ends || !ended && len(records) != 64 {
				t.Errorf("%s: %d records, %v, interrupted %q; want an early end: %v", tt.body, len(records), err,
					report.Interrupted, tt.ends)
			}
		})
	}
}

// TestEndsWhereEveryRequestIsRefused: a wrong model, key or path is known with
// the first answer; what may be about one prompt is not.
func TestEndsWhereEveryRequestIsRefused(t *testing.T) {
	answer := func(code int, body string) string {
		return fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Length: %d\r\n\r\n%s", code, http.StatusText(code),
			len(body), body)
	}
	for _, tt := range []struct {
		name, answer string
		first        string // answer to the first request; "": as the others
		ends         bool
	}{
		{"404", answer(404, `{"error":{"message":"The model m does not exist."}}`), "", true},
		{"a proxy's 404", answer(404, "<html>not here</html>"), "", true},
		{"401", answer(401, ""), "", true},
		{"405", answer(405, ""), "", true},
		{"400 that names the model", answer(400, `{"error":"invalid model m"}`), "", true},
		{"400 by its code", answer(400, `{"error":{"message":"no","code":"model_not_found"}}`), "", true},
		{"in-band", stream("data: {\"error\":{\"message\":\"model m not found\"}}\n\n"), "", true},

		{"400 about a prompt", answer(400, `{"error":"this model's maximum context length is 8 tokens"}`), "", false},
		{"400 about a prompt, with the name", answer(400, `{"error":"m takes at most 8 tokens"}`), "", false},
		{"429", answer(429, ""), "", false},
		{"503", answer(503, ""), "", false},
		{"404 after an answer", answer(404, ""), stream("data: " + loadtest.Token + "\n\ndata: " + loadtest.Last +
			"\n\n"), false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &pipeServer{answer: func(w io.Writer, _ *http.Request, i int) bool {
				if i == 0 && tt.first != "" {
					return script{{time.Second, tt.first}}.play(w)
				}
				return script{{2 * time.Second, tt.answer}}.play(w)
			}}
			o := Options{Settings: spec.Settings{MaxConcurrency: 4}, Target: Target{Model: "m"}}
			records, report, err := runPipe(context.Background(), s, o, 64)
			s.wg.Wait()
			ended := report.Interrupted == errRefused.Error()
			if err != nil || ended != tt.ends || ended && len(records) > 8 || !ended && len(records) != 64 {
				t.Errorf("%s: %d records, %v, interrupted %q; want an early end: %v", tt.name, len(records), err,
					report.Interrupted, tt.ends)
			}
		})
	}
}

// TestPiecesThatLookRepeated: SGLang may stream pieces, which begin like the text
// so far by chance.
func TestPiecesThatLookRepeated(t *testing.T) {
	for _, tt := range []struct {
		name  string
		texts []string
		want  string
		kinds string
	}{
		{"repeated text", []string{"ha", "ha ha", "ha ha!"}, "ha ha!", "ttt"},
		{"nothing new", []string{"ha", "ha", "ha!"}, "ha!", "tet"},
		{"pieces", []string{"ha", "ha", "!"}, "haha!", "ttt"},
		{"pieces, the second longer", []string{"a", "ab", "c"}, "aabc", "ttt"},
		{"pieces, an empty last", []string{"a", "b", ""}, "ab", "ttf"},
	} {
		body := ""
		for i, text := range tt.texts {
			finish := "null"
			if i == len(tt.texts)-1 {
				finish = `{"type":"stop"}`
			}
			body += fmt.Sprintf(
				"data: {\"text\":%q,\"meta_info\":{\"completion_tokens\":%d,\"prompt_tokens\":1,\"finish_reason\":%s}}\n\n", text, i+1, finish)
		}
		s := newRawServer(t, say(stream(body+"data: [DONE]\n\n")))
		o := options(s.url, "sglang")
		o.Target.Path = "/generate"
		r := one(t, o)
		if r.Failure != nil || r.Text != tt.want || r.ChunkKinds != tt.kinds {
			t.Errorf("%s: text %q, kinds %q, failure %v, want %q, %q", tt.name, r.Text, r.ChunkKinds, r.Failure,
				tt.want, tt.kinds)
		}
	}
}
