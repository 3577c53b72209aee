package launchers

import (
	"context"
	"errors"
	"maps"
	"net/http"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/results"
)

// drafting is what recipe and log tell of speculative decoding; nil: nothing.
func (s *Server) drafting() *results.Drafting {
	drafts, tokens, _ := engines.Drafts(s.kind, s.spec.Args)
	d := &results.Drafting{}
	if s.log != nil {
		var told int
		if d.LogLines, told = s.log.DraftLines(); told > 0 {
			tokens = told
		}
	}
	if !drafts && d.LogLines == nil {
		return nil
	}
	if tokens > 0 {
		d.Tokens = &tokens
	}
	d.LogLines = s.redact.Texts(d.LogLines)
	return d
}

// counted adds what the log counts to counters.
func (s *Server) counted(counters map[string]float64) map[string]float64 {
	if s.log == nil {
		return counters
	}
	for name, value := range s.log.Drafts() {
		if counters == nil {
			counters = map[string]float64{}
		}
		counters[name] = value
	}
	return counters
}

// switchedOff reports whether a failed reading of metrics says that the server
// has none.
func switchedOff(err error) bool {
	failure, ok := errors.AsType[*results.Failure](err)
	return ok && (failure.HTTPStatus == http.StatusNotFound || failure.HTTPStatus == http.StatusNotImplemented)
}

// Metrics reads the server's gauges and counters, under our names. What the
// engine does not show is absent; all is where the server has no metrics.
func (s *Server) Metrics(ctx context.Context) (map[string]float64, error) {
	counters, gauges, err := s.readMetrics(ctx)
	switch {
	case switchedOff(err):
		return map[string]float64{}, nil
	case err != nil:
		return nil, err
	}
	maps.Copy(gauges, counters)
	return gauges, nil
}

// readMetrics reads the metrics page once.
func (s *Server) readMetrics(ctx context.Context) (counters, gauges map[string]float64, err error) {
	if s.kind.MetricsPath == "" || len(s.kind.Counters)+len(s.kind.Gauges) == 0 {
		return map[string]float64{}, map[string]float64{}, nil
	}
	answer := s.probe.get(ctx, s.kind.MetricsPath)
	if answer.err != nil || answer.status != http.StatusOK {
		return nil, nil, answer.failure()
	}
	counters, gauges = s.kind.Translate(string(answer.body))
	return counters, gauges, nil
}

// Counters reads the server's own counters, under our names, and what its log
// counts (see logCounted). It is empty for a kind that has none.
func (s *Server) Counters(ctx context.Context) (map[string]float64, error) {
	counters, _, err := s.readMetrics(ctx)
	counters = s.counted(counters)
	if err != nil && (len(counters) == 0 || !switchedOff(err)) {
		return nil, err
	}
	return counters, nil
}
