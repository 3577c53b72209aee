package telemetry

import (
	"fmt"
	"math"
	"slices"
)

// A counter that disagrees with the readings by more than these factors counts
// something else, in other units, or another GPU.
const (
	counterAtLeast = 0.5
	counterAtMost  = 2.0
)

// power is where the power of a device is found.
type power struct {
	track       *track // with the readings
	kind        string
	countedWith string // id of the earlier device that has it already; "": this one has it
	shared      bool   // it is that of a socket of several devices
}

// powersOf finds the power of each device. Partitions of a socket either all
// repeat its power, or only one of them has it: it is counted once.
func powersOf(in *collected, w Watched) []power {
	powers := make([]power, len(w.Devices))
	taken := map[string]string{} // id with the readings -> device that has them
	for i, d := range w.Devices {
		from := d.ID
		if at := slices.IndexFunc(d.Socket, func(id string) bool {
			return len(in.track(id).known(powerW).at) > 0
		}); at >= 0 {
			from = d.Socket[at]
		}
		powers[i] = power{
			track: in.track(from), kind: in.track(from).kind, countedWith: taken[from],
			shared: len(d.Socket) > 1,
		}
		if taken[from] == "" {
			taken[from] = d.ID
		}
	}
	return powers
}

// uncovered says why a curve does not cover a span; "" if it does.
func (c curve) uncovered(s span, what string, limit float64) string {
	switch {
	case len(c.at) == 0:
		return "no reading of " + what
	case c.at[0] > s.first:
		return fmt.Sprintf("no reading of %s before second %.2f", what, c.at[0])
	case c.at[len(c.at)-1] < s.last:
		return fmt.Sprintf("no reading of %s after second %.2f", what, c.at[len(c.at)-1])
	}
	if gap := c.widest(s); gap > limit {
		return fmt.Sprintf("%.1f s without a reading of %s, of which %.3g s are the most", gap, what, limit)
	}
	return ""
}

// widest is the longest time between two readings of which at least a part
// lies inside the span.
func (c curve) widest(s span) float64 {
	widest := 0.0
	for i := 1; i < len(c.at); i++ {
		if c.at[i] > s.first && c.at[i-1] < s.last {
			widest = max(widest, c.at[i]-c.at[i-1])
		}
	}
	return widest
}

// integral is the area under the straight lines between readings; at the edges
// the lines are cut. The curve must cover the span.
func (c curve) integral(s span) float64 {
	at, value := s.first, c.valueAt(s.first)
	area := 0.0
	for i := range c.at {
		if c.at[i] > s.first && c.at[i] < s.last {
			area += (c.at[i] - at) * (value + c.value[i]) / 2
			at, value = c.at[i], c.value[i]
		}
	}
	return area + (s.last-at)*(value+c.valueAt(s.last))/2
}

// counted is the energy of a span by a counter that only grows, read between
// its readings on straight lines. It is null where there is no such counter or
// it cannot be trusted; why then says why a counter that is there is not.
func (c curve) counted(s span, limit float64) (joules *float64, why string) {
	if len(c.at) == 0 {
		return nil, ""
	}
	if why := c.uncovered(s, "it", math.Inf(1)); why != "" {
		return nil, why
	}

	for i := 1; i < len(c.at); i++ {
		if c.at[i] <= s.first || c.at[i-1] >= s.last {
			continue
		}
		if c.value[i] < c.value[i-1] {
			return nil, fmt.Sprintf("it went back from %.1f J to %.1f J at second %.2f", c.value[i-1], c.value[i],
				c.at[i])
		}
		around := c.at[i-1] < s.first || c.at[i] > s.last
		if gap := c.at[i] - c.at[i-1]; around && gap > limit {
			return nil, fmt.Sprintf("%.1f s without a reading of it around an edge", gap)
		}
	}

	moved := c.valueAt(s.last) - c.valueAt(s.first)
	if moved <= 0 {
		return nil, "it did not move"
	}

	return &moved, ""
}

// contradiction says why a counter cannot be that of the power that was read; "" if
// it can.
func contradiction(counter, trapezoid float64) string {
	if ratio := counter / trapezoid; ratio < counterAtLeast || ratio > counterAtMost {
		return fmt.Sprintf("it says %.1f J where the readings of power give %.1f J", counter, trapezoid)
	}
	return ""
}

// added is the sum of curves at all of their times inside a span, each between
// its readings on straight lines. All must cover the span.
func added(curves []curve, s span) []float64 {
	var times []float64
	for _, c := range curves {
		times = append(times, curve{c.at, c.at}.within(s)...)
	}
	slices.Sort(times)
	times = slices.Compact(times)
	sums := make([]float64, len(times))
	for _, c := range curves {
		for i, at := range times {
			sums[i] += c.valueAt(at)
		}
	}
	return sums
}
