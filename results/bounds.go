package results

// ClientBound is how far the load client can have moved the figures of a pass at
// most, in seconds, by what it knows of itself: requests that were written later
// than they were counted from, connecting included; chunks that were read
// together or without the kernel's stamp; requests that were sent late. The
// network and the server's machine are not in it.
type ClientBound struct {
	TTFT DistBound `json:"ttft_s"`
	TPOT DistBound `json:"tpot_s"`
	ITL  DistBound `json:"itl_s"`
	ICL  DistBound `json:"icl_s"`
	E2EL DistBound `json:"e2el_s"`

	TTFTFromIntended DistBound `json:"ttft_from_intended_s"`
	E2ELFromIntended DistBound `json:"e2el_from_intended_s"`

	// share by which rates can be too low because requests were sent later than they could have been; null: not known
	ThroughputShare *float64 `json:"throughput_share"`
	// mean of that lateness for each request, s
	TurnaroundS *float64 `json:"turnaround_s"`
}

// DistBound are the bounds of the figures of a Dist.
type DistBound struct {
	Mean        FigureBound       `json:"mean"`
	Median      FigureBound       `json:"median"`
	Percentiles []PercentileBound `json:"percentiles"`
}

// PercentileBound is the bound of a percentile.
type PercentileBound struct {
	P float64 `json:"p"` // 99 for p99
	FigureBound
}

// FigureBound is how far the client can have moved a figure, beside how far the
// figure would move by itself if the same pass were made again.
type FigureBound struct {
	AtMostS *float64 `json:"at_most_s"` // null: the figure is
	// half of the figure's own 95 % interval by the spread of its samples; null: too few samples
	IntervalS *float64 `json:"interval_s"`
	Added     bool     `json:"added,omitempty"` // the client can only have made it longer
}

// BoundConfidence is the confidence of every UpperBound.
const BoundConfidence = 0.95

// UpperBound is what a pass can say of the true percentile of a latency, whatever
// its distribution, if requests do not depend on each other: the estimate of
// MLPerf's early stopping.
type UpperBound struct {
	Latency string  `json:"latency"` // "ttft", "tpot", "itl", "e2el"
	P       float64 `json:"p"`       // 99 for p99
	// the true percentile is at most this, with BoundConfidence; null: the samples are too few to say
	AtMostS *float64 `json:"at_most_s"`
	// requests that are needed beyond those of the pass until at_most_s is known; 0: it is
	MoreRequests int `json:"more_requests"`
}
