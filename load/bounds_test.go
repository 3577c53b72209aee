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
		{"tokens without end", false, strings.Repeat("data: "+loadtest.Token+"\n\n", 500), "the answer has no end"},
		{"text without end", false, fmt.Sprintf("data: {\"choices\":[{\"text\":%q}]}\n\n", huge), "the answer has no end"},
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
			if r.Failure == nil || r.Failure.Class != results.FailProtocol || !strings.Contains(r.Failure.Message, tt.words) {
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
			if err != nil || len(records) > tt.records+4 || len(records) < tt.records-4 || !strings.HasSuffix(report.Interrupted, tt.interrupted) || (report.Interrupted == "") != (tt.interrupted == "") {
				t.Errorf("limit %d: %d records, %v, interrupted %q, want about %d, %q", tt.limit, len(records), err, report.Interrupted, tt.records, tt.interrupted)
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
			body += fmt.Sprintf("data: {\"text\":%q,\"meta_info\":{\"completion_tokens\":%d,\"prompt_tokens\":1,\"finish_reason\":%s}}\n\n", text, i+1, finish)
		}
		s := newRawServer(t, say(stream(body+"data: [DONE]\n\n")))
		o := options(s.url, "sglang")
		o.Target.Path = "/generate"
		r := one(t, o)
		if r.Failure != nil || r.Text != tt.want || r.ChunkKinds != tt.kinds {
			t.Errorf("%s: text %q, kinds %q, failure %v, want %q, %q", tt.name, r.Text, r.ChunkKinds, r.Failure, tt.want, tt.kinds)
		}
	}
}
