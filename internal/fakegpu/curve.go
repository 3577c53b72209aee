package fakegpu

import "time"

// Point is a moment of a Curve.
type Point struct {
	At     time.Duration
	PowerW float64
}

// Curve is power over time: straight lines between points that are in the
// order of time; constant before the first and after the last.
type Curve []Point

// PowerW is the power at a moment.
func (c Curve) PowerW(at time.Duration) float64 {
	if len(c) == 0 {
		return 0
	}
	if at <= c[0].At {
		return c[0].PowerW
	}
	for i, p := range c[1:] {
		if before := c[i]; at < p.At {
			return before.PowerW + (p.PowerW-before.PowerW)*float64(at-before.At)/float64(p.At-before.At)
		}
	}
	return c[len(c)-1].PowerW
}

// EnergyJ is the true energy from one moment to a later one.
func (c Curve) EnergyJ(from, to time.Duration) float64 {
	moments := []time.Duration{from}
	for _, p := range c {
		if p.At > from && p.At < to {
			moments = append(moments, p.At)
		}
	}
	moments = append(moments, to)
	var joules float64
	for i, end := range moments[1:] {
		begin := moments[i]
		// Two points at one moment make a jump: take the line's own ends.
		joules += c.between(begin, end) * (end - begin).Seconds()
	}
	return joules
}

// between is the mean power of a span in which no point lies: that of its
// middle, as the power is a straight line there.
func (c Curve) between(begin, end time.Duration) float64 {
	return c.PowerW(begin + (end-begin)/2)
}
