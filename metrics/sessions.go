package metrics

import (
	"maps"
	"slices"

	"github.com/benchrig/bench/results"
)

// sessionsOf computes figures by session and by turn, over conversations of
// several requests. sizes are the requests that each prompt of the list makes,
// of which conversations go round and round; nil: not known, and then no
// session counts as complete. Null where there are no conversations.
func sessionsOf(all []Observation, sizes []int, percentiles []float64) *results.Sessions {
	sessions := map[int][]Observation{}
	turns := map[int][]Observation{} // by the first turn of their class
	for _, o := range all {
		if o.Conversation == 0 {
			continue
		}
		sessions[o.Conversation] = append(sessions[o.Conversation], o)
		class := turnClass(o.Turn)
		turns[class] = append(turns[class], o)
	}
	if len(sessions) == 0 {
		return nil
	}

	out := &results.Sessions{N: len(sessions)}
	var durations []float64
	for number, list := range sessions {
		if d, ok := sessionDuration(number, list, sizes); ok {
			durations = append(durations, d)
		}
	}
	slices.Sort(durations) // a map has no order, and sums depend on it
	out.Complete, out.Duration = len(durations), Describe(durations, percentiles)

	for _, class := range slices.Sorted(maps.Keys(turns)) {
		out.Turns = append(out.Turns, turnFigures(turns[class], percentiles))
	}

	return out
}

// turnClass is the first turn of the class that a turn belongs to: up to 8 by
// themselves, then 9 to 16, 17 to 32 and so on.
func turnClass(turn int) int {
	const single = 8
	if turn <= single {
		return turn
	}
	first := single + 1
	for width := single; turn >= first+width; width *= 2 {
		first += width
	}
	return first
}

// sessionDuration is the time from the first request's sending to the last
// answer's end, in seconds, of a session that is complete.
func sessionDuration(number int, list []Observation, sizes []int) (float64, bool) {
	if len(sizes) == 0 || len(list) != sizes[(number-1)%len(sizes)] {
		return 0, false
	}
	first, last := 0.0, 0.0
	for i, o := range list {
		if !o.OK() || o.SentS == nil {
			return 0, false
		}
		if i == 0 || *o.SentS < first {
			first = *o.SentS
		}
		last = max(last, o.EndS)
	}
	return last - first, true
}

// turnFigures are those of the requests that are turns of one class.
func turnFigures(list []Observation, percentiles []float64) results.TurnFigures {
	f := results.TurnFigures{From: list[0].Turn, To: list[0].Turn}
	var good []Observation
	var ttft, e2el []float64
	for _, o := range list {
		f.From, f.To = min(f.From, o.Turn), max(f.To, o.Turn)
		if !o.OK() {
			f.Failed++
			continue
		}
		good = append(good, o)
		ttft, e2el = AppendKnown(ttft, o.TTFT()), AppendKnown(e2el, o.E2EL())
	}

	f.N = len(good)
	f.TTFT, f.E2EL = Describe(ttft, percentiles), Describe(e2el, percentiles)
	if f.N == 0 {
		return f
	}

	input := sumKnown(good, func(o Observation) *int { return inputTokens(o.Record) })
	cached := sumKnown(good, func(o Observation) *int { return o.CachedTokens })
	if input != nil {
		f.InputTokensMean = new(float64(*input) / float64(f.N))
	}
	if cached != nil && input != nil && *input > 0 {
		f.CachedShare = new(float64(*cached) / float64(*input))
	}

	return f
}
