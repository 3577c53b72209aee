package endpoint

import (
	"context"
	"errors"
	"maps"
	"net/http"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/results"
)

// Drafting is what recipe and log say about speculative decoding; nil: nothing.
func (e *Endpoint) Drafting() *results.Drafting {
	drafts, tokens, _ := engines.Drafts(e.kind, e.spec.Args)
	d := &results.Drafting{}
	if e.log != nil {
		var answer int
		if d.LogLines, answer = e.log.DraftLines(); answer > 0 {
			tokens = answer
		}
	}

	if !drafts && d.LogLines == nil {
		return nil
	}
	if tokens > 0 {
		d.Tokens = &tokens
	}

	d.LogLines = e.redact.Texts(d.LogLines)
	return d
}

// counted adds what the log counts to counters.
func (e *Endpoint) counted(counters map[string]float64) map[string]float64 {
	if e.log == nil {
		return counters
	}
	for name, value := range e.log.Drafts() {
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
func (e *Endpoint) Metrics(ctx context.Context) (map[string]float64, error) {
	counters, gauges, err := e.readMetrics(ctx)
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
func (e *Endpoint) readMetrics(ctx context.Context) (counters, gauges map[string]float64, err error) {
	if e.kind.MetricsPath == "" || len(e.kind.Counters)+len(e.kind.Gauges) == 0 {
		return map[string]float64{}, map[string]float64{}, nil
	}
	answer := e.probe.get(ctx, e.ofModel(e.kind.MetricsPath))
	if answer.Err != nil || answer.Status != http.StatusOK {
		return nil, nil, answer.Failure()
	}
	counters, gauges = e.kind.Translate(string(answer.Body))
	return counters, gauges, nil
}

// Counters reads the server's own counters, under our names, and what its log
// counts (see counted). It is empty for a kind that has none.
func (e *Endpoint) Counters(ctx context.Context) (map[string]float64, error) {
	counters, _, err := e.readMetrics(ctx)
	counters = e.counted(counters)
	if err != nil && (len(counters) == 0 || !switchedOff(err)) {
		return nil, err
	}
	return counters, nil
}
