package load

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

func byIndex(records []results.Record) []results.Record {
	slices.SortFunc(records, func(a, b results.Record) int { return cmp.Compare(a.Index, b.Index) })
	return records
}

func sentTimes(records []results.Record) []float64 {
	var at []float64
	for _, r := range byIndex(records) {
		at = append(at, *r.SentS)
	}
	return at
}

func TestSchedules(t *testing.T) {
	tests := []struct {
		name     string
		arrivals []float64
		cap, n   int
		want     []float64 // send times; each request takes 1 s
		duration float64
		peak     int
		late     float64 // largest lateness that is the client's own
		conns    int
	}{
		{"closed loop", nil, 2, 6, []float64{0, 0, 1, 1, 2, 2}, 3, 2, 0, 2},
		{"all at once", nil, 0, 4, []float64{0, 0, 0, 0}, 1, 4, 0, 4},
		{"open loop", []float64{0.25, 0.5, 2, 2}, 0, 4, []float64{0.25, 0.5, 2, 2}, 3, 2, 0, 2},
		{"open loop under a cap", []float64{0.5, 0.75, 1, 4}, 1, 4, []float64{0.5, 1.5, 2.5, 4}, 5, 1, 0, 1},
		{"cap wider than the list", nil, 9, 2, []float64{0, 0}, 1, 2, 0, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &pipeServer{answer: steady(400*time.Millisecond, 600*time.Millisecond)}
				records, report, err := runPipe(t.Context(), s, Options{
					Arrivals: tt.arrivals,
					Settings: spec.Settings{MaxConcurrency: tt.cap, ReuseConnections: true},
				}, tt.n)
				if err != nil {
					t.Fatal(err)
				}
				if got := sentTimes(records); !gocmp.Equal(got, tt.want) {
					t.Errorf("sent at %v, want %v", got, tt.want)
				}
				for i, r := range records {
					intended := 0.0
					if tt.arrivals != nil {
						intended = tt.arrivals[i]
					}
					if r.IntendedS != intended || r.Failure != nil || r.EndS != *r.SentS+1 ||
						*r.HeaderS != *r.SentS+0.4 {
						t.Errorf("request %d: intended %v, header %v, end %v, failure %v", i, r.IntendedS, *r.HeaderS,
							r.EndS, r.Failure)
					}
					if want := []float64{*r.SentS + 0.4, *r.SentS + 1, *r.SentS + 1}; !gocmp.Equal(r.ChunkS, want) ||
						r.ChunkKinds != "ttf" {
						t.Errorf("request %d: chunks at %v of kinds %q, want %v ttf", i, r.ChunkS, r.ChunkKinds, want)
					}
				}
				if report.DurationS != tt.duration || report.PeakInFlight != tt.peak ||
					report.ConnectionsNo != tt.conns {
					t.Errorf("report: duration %v, peak %d, %d connections, want %v, %d, %d", report.DurationS,
						report.PeakInFlight, report.ConnectionsNo, tt.duration, tt.peak, tt.conns)
				}
				if report.LateMaxS == nil || *report.LateMaxS != tt.late || *report.LateP50S != tt.late ||
					*report.LateP99S != tt.late {
					t.Errorf("report: lateness %v, want %v", report.LateMaxS, tt.late)
				}
				if report.Interrupted != "" || report.CPUSeconds == nil || report.GCPauseS == nil {
					t.Errorf("report: %+v", report)
				}
			})
		})
	}
}

// TestIdleConnectionsAreDropped: a request after a pause longer than the idle
// limit goes out on a new connection.
func TestIdleConnectionsAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &pipeServer{answer: steady(0, 0)}
		_, report, err := runPipe(t.Context(), s, Options{
			Arrivals: []float64{0, 2, 5.5},
			Settings: spec.Settings{ReuseConnections: true},
		}, 3)
		if err != nil || report.ConnectionsNo != 2 {
			t.Errorf("%d connections, error %v, want 2: the pause of 3.5 s is too long for one",
				report.ConnectionsNo, err)
		}
	})
}

// TestConnectionsAreFresh: unless asked otherwise no request shares a
// connection with one before.
func TestConnectionsAreFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &pipeServer{answer: steady(0, 0)}
		_, report, err := runPipe(t.Context(), s, Options{Settings: spec.Settings{MaxConcurrency: 1}}, 3)
		if err != nil || report.ConnectionsNo != 3 {
			t.Errorf("%d connections for 3 requests, error %v, want 3", report.ConnectionsNo, err)
		}
	})
}

// TestReplicas: the next request goes where the fewest are in flight.
func TestReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &pipeServer{answer: func(w io.Writer, r *http.Request, n int) bool {
			took := map[string]time.Duration{"a": 5 * time.Second, "b": time.Second, "c": 2 * time.Second}[r.Host]
			return steady(took, 0)(w, r, n)
		}}
		o := Options{Target: Target{BaseURLs: []string{"http://a", "http://b", "http://c"}}, Arrivals: []float64{
			0, 0.1,
			0.2, 1.5, 1.6, 1.7, 2.5,
		}}
		records, _, err := runPipe(t.Context(), s, o, 7)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, r := range byIndex(records) {
			got = append(got, r.Replica)
		}
		// b is free at 1.5, then all have one, c is free at 2.2, b has one again at 2.5
		if want := []int{0, 1, 2, 1, 0, 1, 2}; !gocmp.Equal(got, want) {
			t.Errorf("replicas %v, want %v", got, want)
		}
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(1500*time.Millisecond, func() { cancel(errors.New("server died")) })
		s := &pipeServer{answer: steady(400*time.Millisecond, 600*time.Millisecond)}
		defer s.wg.Wait()
		start := time.Now()
		records, report, err := runPipe(ctx, s, Options{Settings: spec.Settings{MaxConcurrency: 2}}, 9)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 1500*time.Millisecond {
			t.Errorf("Run returned after %v, want 1.5s", took)
		}
		if report.Interrupted != "server died" || len(records) != 4 {
			t.Errorf("interrupted %q with %d records, want server died and 4: the rest was never sent",
				report.Interrupted, len(records))
		}
		for _, r := range byIndex(records)[2:] {
			if r.Failure == nil || r.Failure.Class != results.FailCanceled ||
				r.Failure.Message != "ended by bench: server died" || r.ChunkKinds != "t" || r.EndS != 1.5 {
				t.Errorf("request %d: failure %v, kinds %q, end %v", r.Index, r.Failure, r.ChunkKinds, r.EndS)
			}
		}
	})
}

// TestCancelBeforeStart: nothing is sent and nothing is recorded.
func TestCancelBeforeStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		records, report, err := runPipe(ctx, &pipeServer{answer: steady(0, 0)}, Options{}, 3)
		if len(records) != 0 || err != nil || report.Interrupted != "context canceled" || report.PeakInFlight != 0 {
			t.Errorf("got %d records, error %v, report %+v", len(records), err, report)
		}
	})
}

// TestCancelAfterEnd: a pass that was complete is not called interrupted.
func TestCancelAfterEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		o := Options{Progress: func(p Progress) {
			if p.Completed == 2 {
				cancel()
			}
		}}
		records, report, err := runPipe(ctx, &pipeServer{answer: steady(0, time.Millisecond)}, o, 2)
		if len(records) != 2 || err != nil || report.Interrupted != "" {
			t.Errorf("got %d records, error %v, interrupted %q", len(records), err, report.Interrupted)
		}
	})
}

func TestEmitErrorEndsPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		calls := 0
		o := Options{
			Target:   Target{BaseURLs: []string{"http://one"}, API: "completions"},
			Settings: spec.Settings{MaxConcurrency: 2},
		}
		s := &pipeServer{answer: steady(time.Second, 0)}
		defer s.wg.Wait()
		start := time.Now()
		report, err := run(t.Context(), o, manyPrompts(20), func(results.Record) error { calls++; return full }, s.dial)
		if !errors.Is(err, full) || calls != 1 || report.Interrupted == "" {
			t.Errorf("error %v after %d calls, interrupted %q, want disk full after 1", err, calls, report.Interrupted)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("Run went on for %v", took)
		}
	})
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []Progress
		o := Options{
			Settings: spec.Settings{MaxConcurrency: 1}, ProgressPeriod: 1500 * time.Millisecond,
			Progress: func(p Progress) { seen = append(seen, p) },
		}
		if _, _, err := runPipe(t.Context(), &pipeServer{answer: steady(500*time.Millisecond, 500*time.Millisecond)}, o,
			2); err != nil {
			t.Fatal(err)
		}
		half := Progress{
			Sent: 2, Completed: 1, InFlight: 1, Total: 2, OutputChunks: 4,
			Elapsed: 1500 * time.Millisecond,
		}
		end := Progress{Sent: 2, Completed: 2, Total: 2, OutputChunks: 6, Elapsed: 2 * time.Second}
		if len(seen) != 2 || seen[1] != end || seen[0].Sent != half.Sent || seen[0].Completed != half.Completed ||
			seen[0].Elapsed != half.Elapsed {
			t.Errorf("progress %+v, want %+v and %+v", seen, half, end)
		}
	})
}

// TestCountTokens: answers without any count are counted after the pass.
func TestCountTokens(t *testing.T) {
	bare := script{{0, streamHeader + loadtest.Event(loadtest.Token) + loadtest.Event(loadtest.Token) +
		loadtest.Event(`{"choices":[{"text":"","finish_reason":"stop"}]}`) + loadtest.EndFrame}}
	synctest.Test(t, func(t *testing.T) {
		s := &pipeServer{answer: func(w io.Writer, r *http.Request, n int) bool {
			if n == 0 {
				return steady(0, 0)(w, r, n)
			}
			time.Sleep(time.Second)
			return bare.play(w)
		}}
		ended := 0
		o := Options{Settings: spec.Settings{MaxConcurrency: 1}, Progress: func(p Progress) { ended = p.Completed }}
		first := true
		o.CountTokens = func(_ context.Context, text string) (int, error) {
			if ended != 3 || text != " a a" {
				t.Errorf("asked to count %q after %d requests", text, ended)
			}
			if !first {
				return 0, errors.New("no route")
			}
			first = false
			return 7, nil
		}
		records, _, err := runPipe(t.Context(), s, o, 3)
		if err != nil || len(records) != 3 {
			t.Fatalf("%d records, %v", len(records), err)
		}
		want := []struct {
			n      int
			source results.TokenCount
		}{{2, results.CountUsage}, {7, results.CountTokenize}, {2, results.CountChunks}}
		for i, r := range byIndex(records) {
			if *r.OutputTokens != want[i].n || r.OutputTokensSource != want[i].source || r.Text != "" ||
				r.TextSHA256 == "" {
				t.Errorf("request %d: %d tokens by %s, text %q, want %v", i, *r.OutputTokens, r.OutputTokensSource,
					r.Text, want[i])
			}
		}
	})
}
