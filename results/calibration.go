package results

// Calibration is what the client was measured to cost and to see on a machine,
// against a feeder on loopback whose every write time is known.
type Calibration struct {
	MeasuredAt string `json:"measured_at"` // RFC 3339
	CPU        string `json:"cpu"`         // model, as the system names it
	Cores      int    `json:"cores"`
	// answers of one token, 64 in flight, feeder on the same cores
	RequestsPerS float64           `json:"requests_per_s"`
	Drives       []CalibratedDrive `json:"drives"`
}

// CalibratedDrive is one reader at one number of streams.
type CalibratedDrive struct {
	Reader       string  `json:"reader"` // "raw": the least that any client does; else ClientReport.Transport
	Streams      int     `json:"streams"`
	TokenGapS    float64 `json:"token_gap_s"`     // between the tokens of a stream
	EventsPerS   float64 `json:"events_per_s"`    // over all streams while paced
	CPUPerEventS float64 `json:"cpu_per_event_s"` // user and system time of the reading process
	// median from the start of all streams at once; the feeder waits 0.1 s
	TTFTS   float64 `json:"ttft_s"`
	ITLP50S float64 `json:"itl_p50_s"`
	ITLP99S float64 `json:"itl_p99_s"`
	// by the feeder's own times: its waits and gaps as they were, late ones included; 0: not known
	TrueTTFTS   float64 `json:"true_ttft_s,omitempty"`
	TrueITLP50S float64 `json:"true_itl_p50_s,omitempty"`
	TrueITLP99S float64 `json:"true_itl_p99_s,omitempty"`
	// how far the client can have moved its median TTFT and p99 ITL at most; null: it does not know
	TTFTAtMostS   *float64 `json:"ttft_at_most_s,omitempty"`
	ITLP99AtMostS *float64 `json:"itl_p99_at_most_s,omitempty"`
	StampP50S     float64  `json:"stamp_p50_s"` // stamp minus the feeder's write time
	StampP99S     float64  `json:"stamp_p99_s"`
	StampMaxS     float64  `json:"stamp_max_s"`
	LagP99S       *float64 `json:"lag_p99_s"`     // as ClientReport.LagP99S; null without kernel stamps
	UnpacedPerS   float64  `json:"unpaced_per_s"` // events per second when the feeder writes as fast as it can
	MemoryBytes   int64    `json:"memory_bytes"`  // of the reading process at the most, paced
}
