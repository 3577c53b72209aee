package results

// Doubtful reports whether the figures were measured in another state of the
// prefix cache than the one asked for: the counters say so, or nothing could be
// done and nothing tells.
func (c CacheState) Doubtful() bool {
	if c.Verified != nil {
		return !*c.Verified
	}
	return c.Asked == "cold" && len(c.How) == 0
}
