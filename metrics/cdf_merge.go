package metrics

// Merge adds all values of another sketch.
func (s *Sketch) Merge(other *Sketch) {
	if other.n == 0 {
		return
	}
	if s.n == 0 {
		s.low, s.high = other.low, other.high
		s.below, s.above = map[int]int{}, map[int]int{}
	}
	s.n += other.n
	s.low, s.high = min(s.low, other.low), max(s.high, other.high)
	s.zero += other.zero
	for i, count := range other.below {
		s.below[i] += count
	}
	for i, count := range other.above {
		s.above[i] += count
	}
}
