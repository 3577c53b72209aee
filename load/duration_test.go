package load

import (
	"context"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

func TestDuration(t *testing.T) {
	tests := []struct {
		name     string
		o        Options
		n        int
		want     []float64 // send times; each request takes 1 s
		duration float64
		canceled int
		total    int // of the progress reported
	}{
		{"closed loop, repeated", Options{
			Settings: spec.Settings{Duration: 2500 * time.Millisecond, MaxConcurrency: 2},
			Repeat:   true,
		}, 1, []float64{0, 0, 1, 1, 2, 2}, 3, 0, 0},
		{"none starts at its very end", Options{
			Settings: spec.Settings{Duration: 2 * time.Second, MaxConcurrency: 1},
			Repeat:   true,
		}, 3, []float64{0, 1}, 2, 0, 0},
		{
			"prompts run out first",
			Options{Settings: spec.Settings{Duration: time.Hour, MaxConcurrency: 1}},
			2,
			[]float64{0, 1},
			2, 0, 2,
		},
		{"arrivals after it are not awaited", Options{
			Settings: spec.Settings{Duration: 2 * time.Second},
			Arrivals: []float64{0.5, 1.5, 2, 100},
		}, 4, []float64{0.5, 1.5}, 2.5, 0, 4},
		{
			"arrivals decide how often prompts are repeated",
			Options{Arrivals: []float64{0, 0.25, 3}, Repeat: true},
			2,
			[]float64{0, 0.25, 3},
			4, 0, 3,
		},
		{"a queue at the cap is left", Options{Settings: spec.Settings{
			Duration:       1500 * time.Millisecond,
			MaxConcurrency: 1,
		}, Arrivals: []float64{0, 0, 0, 0}}, 4, []float64{0, 1}, 2, 0, 4},
		{
			"drained in time",
			Options{Settings: spec.Settings{
				Duration: 1500 * time.Millisecond,
				Timeouts: spec.Timeouts{Drain: 600 * time.Millisecond}, MaxConcurrency: 1,
			}, Repeat: true},
			1,
			[]float64{0, 1},
			2, 0, 0,
		},
		{
			"drain limit",
			Options{Settings: spec.Settings{
				Duration: 1500 * time.Millisecond,
				Timeouts: spec.Timeouts{Drain: 250 * time.Millisecond}, MaxConcurrency: 1,
			}, Repeat: true},
			1,
			[]float64{0, 1},
			1.75, 1, 0,
		},
		{"no prompts", Options{Settings: spec.Settings{Duration: time.Second}}, 0, nil, 0, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &pipeServer{answer: steady(400*time.Millisecond, 600*time.Millisecond)}
				total := -1
				tt.o.Progress = func(p Progress) { total = p.Total }
				records, report, err := runPipe(t.Context(), s, tt.o, tt.n)
				if err != nil {
					t.Fatal(err)
				}
				if got := sentTimes(records); !gocmp.Equal(got, tt.want) || report.DurationS != tt.duration ||
					report.Interrupted != "" || total != tt.total {
					t.Errorf("sent at %v in %v s, interrupted %q, total %d, want %v in %v s, total %d", got,
						report.DurationS, report.Interrupted, total, tt.want, tt.duration, tt.total)
				}
				canceled := 0
				for i, r := range records {
					if r.Index != i {
						t.Errorf("record %d has index %d", i, r.Index)
					}
					if r.Failure != nil {
						canceled++
						if r.Failure.Class != results.FailCanceled || !strings.Contains(r.Failure.Message,
							"drain limit") {
							t.Errorf("request %d: %v", i, r.Failure)
						}
					}
				}
				if canceled != tt.canceled {
					t.Errorf("%d canceled, want %d", canceled, tt.canceled)
				}
				s.wg.Wait()
			})
		})
	}
}

// TestDurationInterrupted: an end from outside is distinguished from the duration's.
func TestDurationInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		s := &pipeServer{answer: steady(400*time.Millisecond, 600*time.Millisecond)}
		records, report, err := runPipe(ctx, s, Options{Settings: spec.Settings{
			Duration: time.Minute,
			Timeouts: spec.Timeouts{Drain: time.Minute}, MaxConcurrency: 1,
		}, Repeat: true}, 1)
		if err != nil || len(records) != 2 || report.Interrupted == "" || records[1].Failure == nil {
			t.Errorf("%d records, %v, interrupted %q", len(records), err, report.Interrupted)
		}
		s.wg.Wait()
	})
}

func TestScheduleRefuses(t *testing.T) {
	tests := []struct {
		name  string
		o     Options
		n     int
		words string
	}{
		{"no end", Options{Repeat: true, Settings: spec.Settings{MaxConcurrency: 1}}, 1, "repeated without end"},
		{"no cap", Options{Repeat: true, Settings: spec.Settings{Duration: time.Second}}, 1, "repeated without end"},
		{
			"nothing to repeat",
			Options{Repeat: true, Settings: spec.Settings{Duration: time.Second, MaxConcurrency: 1}},
			0, "no prompts",
		},
		{"bad times", Options{Repeat: true, Arrivals: []float64{1, 0}}, 1, "time 1 is 0"},
		{"not a number", Options{Repeat: true, Arrivals: []float64{math.NaN()}}, 3, "time 0 is NaN"},
		{"too few times", Options{Arrivals: []float64{1}}, 2, "1 times for 2 prompts"},
		{"bodies unknown", Options{Settings: spec.Settings{Compat: "vllm-9"}}, 1, `choose bodies: got "vllm-9"`},
		{
			"bodies not streamed",
			Options{Settings: spec.Settings{Compat: spec.CompatVLLM, NoStream: true}},
			1,
			"always streams",
		},
		{
			"bodies of another API",
			Options{Settings: spec.Settings{Compat: spec.CompatVLLM}, Target: Target{API: "tgi"}},
			1, "no tgi API",
		},
		{"parameter unknown", Options{
			Settings: spec.Settings{Sampling: spec.Sampling{MinP: new(0.1)}},
			Target:   Target{API: "tgi"},
		}, 1, "has no min_p"},
	}
	for _, tt := range tests {
		tt.o.Target.BaseURLs = []string{"http://127.0.0.1:1"}
		if tt.o.Target.API == "" {
			tt.o.Target.API = "completions"
		}
		_, err := Run(t.Context(), tt.o, manyPrompts(tt.n), func(results.Record) error { return nil })
		if err == nil || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("%s: Run error = %v, want one with %q", tt.name, err, tt.words)
		}
	}
}

// TestWholeAnswerTimes: an answer that is not streamed is one chunk, stamped
// when its last bytes came; the limits on streams do not apply to it.
func TestWholeAnswerTimes(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 74\r\n\r\n"
	const half, rest = `{"choices":[{"text":" a b","finish_reason":"stop"}]`, `,"usage":{"p":1}}      `
	synctest.Test(t, func(t *testing.T) {
		s := &pipeServer{answer: func(w io.Writer, _ *http.Request, _ int) bool {
			return script{{3 * time.Second, head + half}, {2 * time.Second, rest}}.play(w)
		}}
		o := Options{Settings: spec.Settings{
			NoStream: true, KeepText: true,
			Timeouts: spec.Timeouts{FirstToken: time.Second, Stall: time.Second, Total: time.Minute},
		}}
		records, _, err := runPipe(t.Context(), s, o, 1)
		if err != nil {
			t.Fatal(err)
		}
		r := records[0]
		if r.Failure != nil || *r.HeaderS != 3 || r.EndS != 5 || !gocmp.Equal(r.ChunkS, []float64{5}) ||
			r.ChunkKinds != "w" || r.Text != " a b" || r.FinishReason != "stop" {
			t.Errorf("record %+v, failure %v", r, r.Failure)
		}
		s.wg.Wait()
	})
}
