package load

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/load/dialect/event"
	"github.com/benchrig/bench/load/wire/sse"
	"github.com/benchrig/bench/results"
)

// Answers that are within every limit of their own are bounded together: where
// many connections each send most of a huge event, those that do not fit the
// budget fail, and the memory of the others is bounded.
func TestAnswersShareABudget(t *testing.T) {
	const limit, connections = 64 << 20, 24 // a budget of 16 MiB, for two events
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))

	var waiting atomic.Int32
	release := make(chan struct{})
	most := "data: " + strings.Repeat("x", 3<<20) // and no end of the event
	s := newRawServer(t, func(w io.Writer, _ *http.Request, _ int) bool {
		_, _ = io.WriteString(w, streamHeader+loadtest.Frame(most))
		if waiting.Add(1) == connections {
			close(release)
		}
		<-release
		_, _ = io.WriteString(w, loadtest.Frame("\n\ndata: "+loadtest.Token+"\n\ndata: [DONE]\n\n"))
		return false
	})

	o := options(s.url, "completions")
	o.MaxConcurrency = connections
	records, _ := runAll(t.Context(), t, o, manyPrompts(connections))
	over := 0
	for _, r := range records {
		if r.Failure != nil && r.Failure.Class == results.FailProtocol && strings.Contains(r.Failure.Message,
			sse.ErrOverBudget.Error()) {
			over++
		}
	}
	if over < connections-4 || over == connections {
		t.Errorf("%d of %d answers were over the budget, want all but a few", over, connections)
	}
}

// What one event costs in all, its buffers included, is a small multiple of its
// size, whatever is in it.
func TestCostOfAHugeEvent(t *testing.T) {
	const size, most = 2 << 20, 12
	repeat := func(text string) string { return strings.Repeat(text, size/len(text)) }
	for _, tt := range []struct{ name, event string }{
		{"text", `data: {"choices":[{"index":0,"text":"` + repeat("x") + `"}]}`},
		{"escapes", `data: {"choices":[{"index":0,"text":"` + repeat(`\n`) + `"}]}`},
		{"text beside an escaped name", `data: {"choic\u0065s":[{"index":0,"text":"` + repeat("x") + `"}]}`},
		{"many lines", repeat("data: x\n")},
		{"many choices", `data: {"choices":[` + repeat("1,") + `1]}`},
		{"many members", `data: {"choices":[{"x":{` + repeat(`"":0,`) + `"y":1}}]}`},
		{"many names", `data: {"error":{` + names(size) + `"y":1}}`},
		{"nothing known", `data: {"x":[` + repeat("1,") + `1]}`},
		{"nested", "data: " + repeat("[")},
		{"an error", `data: {"error":{"message":"` + repeat("x") + `"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := new(answerPool).get(8)
			a.events.Reset(&endless{event: []byte(tt.event + "\n\n"), size: 64 << 10})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			data, at, err := a.events.Next()
			if err != nil {
				t.Fatal(err)
			}
			a.take(data, at, event.ParseOpenAI)
			runtime.ReadMemStats(&after)
			if times := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(tt.event)); times > most {
				t.Errorf("it cost %.1f times its size, want at most %d", times, most)
			} else {
				t.Logf("it cost %.1f times its size", times)
			}
		})
	}
}

// names are members of an object, each with a name of its own.
func names(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `"%x":0,`, i)
	}
	return b.String()
}
