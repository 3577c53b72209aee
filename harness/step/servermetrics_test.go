package step

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// tellingServer reports prepared metrics, one map per look, the last for ever.
type tellingServer struct {
	Server
	replica int
	takes   time.Duration
	mu      sync.Mutex
	looks   int
	told    []map[string]float64 // nil: an error
	err     error
}

func (s *tellingServer) Info() results.Server { return results.Server{Replica: s.replica} }

func (s *tellingServer) Abilities() Abilities { return Abilities{Metrics: s.metrics} }

func (s *tellingServer) metrics(ctx context.Context) (map[string]float64, error) {
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	values := s.told[min(s.looks, len(s.told)-1)]
	s.looks++
	if values == nil {
		return nil, s.err
	}
	return values, nil
}

func TestServerMetrics(t *testing.T) {
	dir := t.TempDir()
	busy := &tellingServer{err: errors.New("no answer"), told: []map[string]float64{
		{scrape.Running: 4, scrape.KVUse: 0.5, scrape.PreemptionsTotal: 1, scrape.OutputTokensTotal: 10},
		nil,
		{scrape.Running: 8, scrape.KVUse: 0.75, scrape.PreemptionsTotal: 3, scrape.OutputTokensTotal: 40},
		{scrape.Running: 0, scrape.KVUse: 0, scrape.PreemptionsTotal: 4, scrape.OutputTokensTotal: 20},
	}}
	none := &tellingServer{replica: 1, told: []map[string]float64{{}}}
	var result results.Result
	synctest.Test(t, func(t *testing.T) {
		observer := NewServerMetrics([]Server{busy, none}, dir)
		observer.Begin(t.Context(), time.Now())
		time.Sleep(2500 * time.Millisecond)
		if err := observer.End(&result); err != nil {
			t.Fatal(err)
		}
	})
	want := []results.ServerMetrics{{
		Samples: 3, Missed: 1, Preemptions: new(3.0), WentBack: []string{scrape.OutputTokensTotal},
		Gauges: map[string]results.GaugeFigures{
			scrape.Running: {Min: 0, Mean: 4, Max: 8}, scrape.KVUse: {Min: 0, Mean: 1.25 / 3, Max: 0.75},
		},
	}}
	if diff := cmp.Diff(want, result.ServerMetrics); diff != "" {
		t.Errorf("server metrics (-want +got):\n%s", diff)
	}
	var at []float64
	for sample, err := range store.ReadSamples[results.ServerSample](dir, results.ServerMetricsName) {
		if err != nil || (sample.Values == nil) != (sample.Error != "") {
			t.Errorf("sample %+v, %v, want values or an error", sample, err)
		}
		at = append(at, sample.AtS)
	}
	if want := []float64{0, 1, 2, 2.5}; !slices.Equal(at, want) {
		t.Errorf("samples at %v s, want %v", at, want)
	}
}

// A server that answers late or never is not asked more often than it answers,
// and does not hold up the end for long.
func TestServerMetricsOfSlowServer(t *testing.T) {
	for _, c := range []struct {
		takes         time.Duration
		looks, missed int
	}{{1500 * time.Millisecond, 7, 0}, {time.Hour, 0, 6}} {
		synctest.Test(t, func(t *testing.T) {
			server := &tellingServer{takes: c.takes, told: []map[string]float64{{scrape.Running: 1}}}
			observer := NewServerMetrics([]Server{server}, t.TempDir())
			observer.Begin(t.Context(), time.Now())
			time.Sleep(10 * time.Second)
			began := time.Now()
			var result results.Result
			if err := observer.End(&result); err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(began); waited > 2*metricsLimit {
				t.Errorf("%v: End took %v, want at most %v", c.takes, waited, 2*metricsLimit)
			}
			if server.looks != c.looks || result.ServerMetrics[0].Missed != c.missed {
				t.Errorf("%v: %d answers and %d missed, want %d and %d", c.takes, server.looks,
					result.ServerMetrics[0].Missed, c.looks, c.missed)
			}
		})
	}
}

// A pass that is cut short ends the looks at once.
func TestServerMetricsOfInterruptedPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		server := &tellingServer{takes: time.Hour, told: []map[string]float64{{}}}
		observer := NewServerMetrics([]Server{server}, t.TempDir())
		observer.Begin(ctx, time.Now())
		time.Sleep(time.Second)
		cancel()
		began := time.Now()
		if err := observer.End(&results.Result{}); err != nil || time.Since(began) > 0 {
			t.Errorf("End() = %v after %v, want nil at once", err, time.Since(began))
		}
	})
}

// frontServer is a router that passes questions for metrics on.
type frontServer struct{ tellingServer }

func (*frontServer) Info() results.Server { return results.Server{Launcher: "command"} }

func (s *frontServer) Abilities() Abilities { return Abilities{Metrics: s.metrics} }

// partServer is one of the servers behind it.
type partServer struct{ tellingServer }

func (*partServer) Info() results.Server {
	return results.Server{Launcher: "llamacpp", Inner: true, Replica: 1}
}

func (s *partServer) Abilities() Abilities { return Abilities{Metrics: s.metrics} }

// The metrics of one server behind a proxy and then of another look like a server that
// was restarted: a proxy is not asked.
func TestMetricsOfAProxyAreNotItsOwn(t *testing.T) {
	told := []map[string]float64{{scrape.OutputTokensTotal: 10}}
	proxy, part := &frontServer{tellingServer{told: told}}, &partServer{tellingServer{told: told}}
	synctest.Test(t, func(t *testing.T) {
		m := NewServerMetrics([]Server{part, proxy}, t.TempDir())
		m.Begin(t.Context(), time.Now())
		time.Sleep(2 * metricsPeriod)
		var result results.Result
		if err := m.End(&result); err != nil {
			t.Error(err)
		}
	})
	if part.looks == 0 || proxy.looks > 0 {
		t.Errorf("the part was asked %d times, the proxy %d times; want the part alone", part.looks, proxy.looks)
	}
}
