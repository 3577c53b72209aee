package launchers

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// parseMetrics reads Prometheus text and sums each metric over its label sets,
// so that a server with several engines counts as one. It takes what it can
// read and skips the rest: one odd line must not cost the figures of others.
// NaN and infinite samples are skipped; histograms appear as NAME_sum,
// NAME_count and a meaningless sum of buckets.
func parseMetrics(text string) map[string]float64 {
	sums := make(map[string]float64)
	for line := range strings.Lines(text) {
		name, value, ok := parseSample(strings.TrimSpace(line))
		if ok {
			sums[name] += value
		}
	}
	return sums
}

// parseSample reads `name{labels} value [timestamp]`.
func parseSample(line string) (name string, value float64, ok bool) {
	if line == "" || line[0] == '#' {
		return "", 0, false
	}
	end := strings.IndexAny(line, "{ \t")
	if end <= 0 {
		return "", 0, false
	}
	name, rest := line[:end], line[end:]
	if rest[0] == '{' {
		length := labelsLength(rest)
		if length == 0 {
			return "", 0, false
		}
		rest = rest[length:]
	}
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return "", 0, false
	}
	value, err := strconv.ParseFloat(fields[0], 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return "", 0, false
	}
	return name, value, true
}

// labelsLength is the length of a {...} at the beginning of text, 0 if it does
// not end. Values are quoted and may hold braces and escaped quotes.
func labelsLength(text string) int {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == '}' && !quoted:
			return i + 1
		}
	}
	return 0
}

// pickCounters translates an engine's metrics into our names. A counter that
// the engine does not show is absent: not shown is not zero.
func pickCounters(metrics map[string]float64, names map[string][]string) map[string]float64 {
	picked := make(map[string]float64)
	for ours, theirs := range names {
		for _, name := range theirs {
			if value, ok := metrics[name]; ok {
				picked[ours] = value
				break
			}
		}
	}
	return picked
}

// Counters reads the server's own counters, under our names. It is empty for a
// kind that has none.
func (s *Server) Counters(ctx context.Context) (map[string]float64, error) {
	if s.kind.MetricsPath == "" || len(s.kind.Counters) == 0 {
		return map[string]float64{}, nil
	}
	answer := s.probe.get(ctx, s.kind.MetricsPath)
	if answer.status != http.StatusOK {
		return nil, answer.failure()
	}
	return pickCounters(parseMetrics(string(answer.body)), s.kind.Counters), nil
}
