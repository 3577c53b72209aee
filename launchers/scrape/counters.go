package scrape

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// series are the samples of one metric over its label sets.
type series struct {
	sum, max float64
	n        int
	at       map[int]float64 // sums by the label "position", where there is one
}

// parseSeries reads Prometheus text. It takes what it can read and skips the
// rest: one odd line must not cost the figures of others. NaN and infinite
// samples are skipped; histograms appear as NAME_sum, NAME_count and a
// meaningless NAME_bucket.
func parseSeries(text string) map[string]series {
	all := make(map[string]series)
	for line := range strings.Lines(text) {
		name, labels, value, ok := parseSample(strings.TrimSpace(line))
		if !ok {
			continue
		}
		s := all[name]
		if s.n == 0 || value > s.max {
			s.max = value
		}
		s.sum += value
		s.n++
		if position, ok := position(labels); ok {
			if s.at == nil {
				s.at = make(map[int]float64)
			}
			s.at[position] += value
		}
		all[name] = s
	}

	return all
}

// MaxPosition is more than any engine drafts at once.
const MaxPosition = 64

var positionLabel = regexp.MustCompile(`[{,]\s*position="(\d{1,3})"`)

// position is the number in the label "position".
func position(labels string) (int, bool) {
	groups := positionLabel.FindStringSubmatch(labels)
	if groups == nil {
		return 0, false
	}
	n, err := strconv.Atoi(groups[1])
	return n, err == nil && n < MaxPosition
}

// parseSample reads `name{labels} value [timestamp]`.
func parseSample(line string) (name, labels string, value float64, ok bool) {
	if line == "" || line[0] == '#' {
		return "", "", 0, false
	}

	end := strings.IndexAny(line, "{ \t")
	if end <= 0 {
		return "", "", 0, false
	}

	name, rest := line[:end], line[end:]
	if rest[0] == '{' {
		length := labelsLength(rest)
		if length == 0 {
			return "", "", 0, false
		}
		labels, rest = rest[:length], rest[length:]
	}

	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return "", "", 0, false
	}

	value, err := strconv.ParseFloat(fields[0], 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return "", "", 0, false
	}

	return name, labels, value, true
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
			if value, ok := total(metrics, name); ok {
				picked[ours] = value
				break
			}
		}
	}
	return picked
}

// total is the sum of metrics joined by "+"; unknown if one is missing, or the
// one behind "?".
func total(metrics map[string]float64, names string) (sum float64, known bool) {
	names, needed, _ := strings.Cut(names, "?")
	if _, shown := metrics[needed]; needed != "" && !shown {
		return 0, false
	}
	for name := range strings.SplitSeq(names, "+") {
		value, ok := metrics[name]
		if !ok {
			return 0, false
		}
		sum += value
	}
	return sum, true
}

// CountersWentBack names the counters that fell between two readings of one
// server: it is then another server, or it began to count again. Sums of seconds
// do not count: engines round them, and take times from clocks that step.
func CountersWentBack(before, after map[string]float64) []string {
	var fell []string
	for name, value := range after {
		if was, ok := before[name]; ok && value < was && !IsGauge(name) && name != QueueSecondsTotal {
			fell = append(fell, name)
		}
	}
	slices.Sort(fell)
	return fell
}
