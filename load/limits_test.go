package load

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

func TestLimits(t *testing.T) {
	const ms = time.Millisecond
	limits := spec.Timeouts{FirstToken: 2 * time.Second, Stall: time.Second, Total: 10 * time.Second}
	rest := loadtest.Event(loadtest.Last) + loadtest.Event("[DONE]") + loadtest.EndFrame
	ping := loadtest.Frame(": ping\n\n")
	tests := []struct {
		name   string
		answer script
		class  results.FailureClass // "": success
		end    float64
		words  string
	}{
		{
			"no header",
			script{{20 * time.Second, ""}},
			results.FailFirstToken, 2,
			"first-token limit: no data event within 2s",
		},
		{
			"header but no event",
			script{{0, streamHeader}, {20 * time.Second, ""}},
			results.FailFirstToken, 2,
			"first-token limit: no data event within 2s",
		},
		{"comments are not events", script{
			{0, streamHeader + ping},
			{time.Second, ping},
			{900 * ms, ping},
			{900 * ms, ping},
		}, results.FailFirstToken, 2, "first-token limit: no data event within 2s"},
		{"first event just in time", script{
			{1999 * ms, streamHeader + loadtest.Event(loadtest.Token)},
			{999 * ms, rest},
		}, "", 2.998, ""},
		{
			"stall",
			script{
				{500 * ms, streamHeader + loadtest.Event(loadtest.Token)},
				{999 * ms, loadtest.Event(loadtest.Token)},
				{20 * time.Second, ""},
			},
			results.FailStall, 2.499,
			"stall limit: no byte for 1s, after 2 chunks",
		},
		{"comments keep it alive", script{
			{0, streamHeader + loadtest.Event(loadtest.Token)},
			{900 * ms, ping},
			{900 * ms, ping},
			{900 * ms, rest},
		}, "", 2.7, ""},
		{
			"part of an event keeps it alive",
			script{
				{0, streamHeader + loadtest.Event(loadtest.Token)},
				{900 * ms, loadtest.Frame("dat")},
				{900 * ms, loadtest.Frame("a: [DONE]\n\n") + loadtest.EndFrame},
			},
			"",
			1.8, "",
		},
		{
			"total", append(script{{0, streamHeader}}, repeat(30, 700*ms, loadtest.Event(loadtest.Token))...),
			results.FailTotal, 10, "total limit: not finished within 10s, after 14 chunks",
		},
		{"open after the end mark", script{
			{0, streamHeader + loadtest.Event(loadtest.Token)},
			{500 * ms, loadtest.Event(loadtest.Last) + loadtest.Event("[DONE]")},
			{20 * time.Second, ""},
		}, "", 0.5, ""},
		{
			"open after an error",
			script{
				{0, streamHeader + loadtest.Event(loadtest.Token)},
				{500 * ms, loadtest.Event(`{"error":{"message":"boom"}}`)},
				{20 * time.Second, ""},
			},
			results.FailInBand, 0.5, "boom",
		},
		{"error page that never ends", script{
			{0, "HTTP/1.1 500 no\r\nContent-Length: 100\r\n\r\n{\"error\":\"bo"},
			{20 * time.Second, ""},
		}, results.FailHTTP, 1, "500 Internal Server Error: {\"error\":\"bo"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &pipeServer{answer: func(w io.Writer, _ *http.Request, _ int) bool {
					return tt.answer.play(w) && false
				}}
				records, _, err := runPipe(t.Context(), s, Options{Settings: spec.Settings{Timeouts: limits}}, 1)
				if err != nil || len(records) != 1 {
					t.Fatalf("%d records, %v", len(records), err)
				}
				r := records[0]
				class, words := results.FailureClass(""), ""
				if r.Failure != nil {
					class, words = r.Failure.Class, r.Failure.Message
				}
				if class != tt.class || words != tt.words || r.EndS != tt.end {
					t.Errorf("ended at %v with %q, %q, want %v with %q, %q", r.EndS, class, words, tt.end,
						tt.class, tt.words)
				}
				s.wg.Wait()
			})
		})
	}
}

func repeat(n int, after time.Duration, b string) script {
	s := make(script, n)
	for i := range s {
		s[i].after, s[i].bytes = after, b
	}
	return s
}

// TestNoLimits: without limits a silent stream is waited for.
func TestNoLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &pipeServer{answer: steady(3*time.Hour, 3*time.Hour)}
		records, _, err := runPipe(t.Context(), s, Options{}, 1)
		if err != nil || records[0].Failure != nil || records[0].EndS != 6*3600 {
			t.Errorf("%+v, %v", records, err)
		}
	})
}
