package curves

// Merge adds all values of another sketch.
func (s *Sketch) Merge(other *Sketch) {
	if other.n == 0 {
		return
	}
	if s.n == 0 {
		s.low, s.high = other.low, other.high
	}
	s.n += other.n
	s.low, s.high = min(s.low, other.low), max(s.high, other.high)
	s.zero += other.zero
	s.below.merge(other.below)
	s.above.merge(other.above)
}

func (r *ranges) merge(other ranges) {
	for i, count := range other.counts {
		if count > 0 {
			r.add(other.first+i, count)
		}
	}
}
