package step

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

const (
	metricsPeriod = time.Second            // from one look to the next; longer where a server answers late
	metricsPause  = 250 * time.Millisecond // from an answer to the next look, at least
	metricsLimit  = 2 * time.Second        // of one look
)

// metricsReader is the ability to tell gauges and counters.
type metricsReader = func(ctx context.Context) (map[string]float64, error)

// serverMetrics is the Observer of the servers' own metrics: it writes what
// they say once a second into server-metrics.jsonl of a step, and sums it up.
type serverMetrics struct {
	servers []Server
	dir     string       // of the step
	Live    *status.Live // gets each sample; nil: nothing does

	stop     chan struct{} // closed by End
	watching sync.WaitGroup

	mu   sync.Mutex // guards what follows
	file *store.SampleWriter
	err  error // of the record keeping
	sums []metricSums
}

// metricSums are what is kept of one server.
type metricSums struct {
	seen    results.ServerMetrics
	total   map[string]float64 // sums of gauges, for their means
	readout map[string]int     // readings of each gauge
	first   map[string]float64
	last    map[string]float64
}

// NewServerMetrics returns the observer of these servers' metrics, which writes into the step's folder dir.
func NewServerMetrics(servers []Server, dir string) *serverMetrics {
	return &serverMetrics{servers: servers, dir: dir, stop: make(chan struct{}), sums: make([]metricSums, len(servers))}
}

// Begin starts to look. It costs the pass no time.
func (m *serverMetrics) Begin(ctx context.Context, zero time.Time) {
	for i, s := range m.servers {
		if read := s.Abilities().Metrics; read != nil && !passesOn(m.servers, s) {
			m.watching.Go(func() { m.watch(ctx, i, read, zero) })
		}
	}
}

// watch looks at one server until the pass has ended, and once more then.
func (m *serverMetrics) watch(ctx context.Context, i int, read metricsReader, zero time.Time) {
	passing, free := sleep.UnlessClosed(ctx, m.stop)
	defer free()
	for began := time.Now(); m.look(ctx, i, read, zero); began = time.Now() {
		if !sleep.For(passing, max(metricsPeriod-time.Since(began), metricsPause)) {
			m.look(ctx, i, read, zero)
			return
		}
	}
}

// look reads the metrics once and reports whether it is worth to do it again.
func (m *serverMetrics) look(ctx context.Context, i int, read metricsReader, zero time.Time) bool {
	limited, cancel := context.WithTimeout(ctx, metricsLimit)
	defer cancel()

	sample := results.ServerSample{AtS: time.Since(zero).Seconds(), Replica: m.servers[i].Info().Replica}
	values, err := read(limited)
	switch {
	case ctx.Err() != nil:
		return false
	case err == nil && len(values) == 0:
		return false // it has none
	case err != nil:
		sample.Error = err.Error()
	default:
		sample.Values = values
	}

	m.Live.Metrics(sample)
	m.mu.Lock()
	defer m.mu.Unlock()

	m.sums[i].add(sample)
	if m.file == nil && m.err == nil {
		m.file, m.err = store.NewSampleWriter(m.dir, results.ServerMetricsName, 0)
	}
	if m.err == nil {
		m.err = m.file.Write(sample)
	}

	return true
}

func (s *metricSums) add(sample results.ServerSample) {
	s.seen.Replica = sample.Replica
	if sample.Values == nil {
		s.seen.Missed++
		return
	}
	if s.first == nil {
		s.first, s.total, s.readout = sample.Values, map[string]float64{}, map[string]int{}
		s.seen.Gauges = map[string]results.GaugeFigures{}
	}

	s.seen.Samples++
	s.seen.WentBack = append(s.seen.WentBack, scrape.CountersWentBack(s.last, sample.Values)...)
	slices.Sort(s.seen.WentBack)
	s.seen.WentBack = slices.Compact(s.seen.WentBack)
	s.last = sample.Values
	for name, value := range sample.Values {
		if !scrape.IsGauge(name) {
			continue
		}
		figures, known := s.seen.Gauges[name]
		if !known {
			figures = results.GaugeFigures{Min: value, Max: value}
		}
		figures.Min, figures.Max = min(figures.Min, value), max(figures.Max, value)
		s.total[name] += value
		s.readout[name]++
		figures.Mean = s.total[name] / float64(s.readout[name])
		s.seen.Gauges[name] = figures
	}
}

// End stops looking and adds the sums of each server to the result.
func (m *serverMetrics) End(result *results.Result) error {
	close(m.stop)
	m.watching.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()

	for _, s := range m.sums {
		if s.seen.Samples+s.seen.Missed == 0 {
			continue
		}
		figures := s.seen
		figures.Gauges = maps.Clone(figures.Gauges)
		if before, ok := s.first[scrape.PreemptionsTotal]; ok {
			after := s.last[scrape.PreemptionsTotal] - before
			figures.Preemptions = &after
		}
		result.ServerMetrics = append(result.ServerMetrics, figures)
	}

	if m.file != nil {
		m.err = errors.Join(m.err, m.file.Close())
	}

	return m.err
}
