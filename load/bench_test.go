package load

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/load/dialect/event"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/load/wire/sse"
	"github.com/benchrig/bench/results"
)

func BenchmarkSSE(b *testing.B) {
	e := new(sse.Reader)
	src := &repeater{data: []byte(strings.Repeat("data: "+vllmEvent+"\n\n", 10))}
	e.Reset(src)
	b.SetBytes(int64(len(vllmEvent) + 8))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := e.Next(); err != nil {
			b.Fatal(err)
		}
	}
}

// repeater gives the same data at every read.
type repeater struct{ data []byte }

func (r *repeater) ReadStamped(p []byte) (int, time.Duration, error) {
	if len(p) < len(r.data) {
		return copy(p, r.data[:1]), 0, io.ErrShortBuffer
	}
	return copy(p, r.data), 0, nil
}

func BenchmarkChunk(b *testing.B) {
	for name, data := range map[string]string{"completions": vllmEvent, "chat": chatEvent} {
		b.Run(name, func(b *testing.B) {
			c, raw := new(event.Chunk), []byte(data)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := event.ParseOpenAI(raw, c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRun drives a minimal server in the same process over loopback, as
// fast as it goes: both ends are in the figures.
func BenchmarkRun(b *testing.B) {
	for _, bm := range []struct{ width, tokens int }{{1, 1}, {64, 1}, {64, 100}, {512, 100}} {
		b.Run(fmt.Sprintf("%d streams of %d tokens", bm.width, bm.tokens), func(b *testing.B) {
			whole := stream(strings.Repeat("data: "+vllmEvent+"\n\n", bm.tokens) + "data: [DONE]\n\n")
			s := newRawServer(b, func(w io.Writer, _ *http.Request, _ int) bool {
				_, err := io.WriteString(w, whole)
				return err == nil
			})
			o := options(s.url, "completions")
			o.MaxConcurrency, o.KeepText = bm.width, false
			o.Timeouts = spec.Timeouts{Connect: time.Minute, FirstToken: time.Minute, Stall: time.Minute}
			prompts := manyPrompts(b.N)
			for i := range prompts {
				prompts[i].OutputTokens = bm.tokens
			}
			b.ReportAllocs()
			b.ResetTimer()
			report, err := Run(b.Context(), o, prompts, func(r results.Record) error {
				if r.Failure != nil {
					return r.Failure
				}
				if len(r.ChunkS) != bm.tokens {
					return fmt.Errorf("request %d: %d chunks, want %d", r.Index, len(r.ChunkS), bm.tokens)
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/report.DurationS, "requests/s")
			b.ReportMetric(float64(b.N*bm.tokens)/report.DurationS, "events/s")
		})
	}
}
