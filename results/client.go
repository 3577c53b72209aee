package results

// Calibration is what the client was measured to cost and to see on a machine,
// against a feeder on loopback whose every write time is known.
type Calibration struct {
	MeasuredAt string `json:"measured_at"` // RFC 3339
	CPU        string `json:"cpu"`         // model, as the system names it
	Cores      int    `json:"cores"`
	// answers of one token by bench's own sockets, 64 in flight, feeder on the same cores
	RequestsPerS float64              `json:"requests_per_s"`
	Requests     []CalibratedRequests `json:"requests,omitempty"` // the same for each reader
	Drives       []CalibratedDrive    `json:"drives"`
}

// CalibratedRequests is one reader that takes in answers of one token, 64 in flight, each
// on a connection of its own.
type CalibratedRequests struct {
	Reader         string  `json:"reader"` // as CalibratedDrive's
	RequestsPerS   float64 `json:"requests_per_s"`
	CPUPerRequestS float64 `json:"cpu_per_request_s"` // user and system time of the reading process
}

// CalibratedDrive is one reader at one number of streams.
type CalibratedDrive struct {
	// "raw": the least that any client does; "https": net/http over TLS; else ClientReport.Transport
	Reader       string  `json:"reader"`
	Streams      int     `json:"streams"`
	TokenGapS    float64 `json:"token_gap_s"`     // between the tokens of a stream
	EventsPerS   float64 `json:"events_per_s"`    // over all streams while paced
	CPUPerEventS float64 `json:"cpu_per_event_s"` // user and system time of the reading process
	// median from the start of all streams at once; the feeder waits 0.1 s
	TTFTS float64 `json:"ttft_s"`
	// median from the send of each request, as ClientReport's clients report it; 0: not known
	RequestTTFTS float64 `json:"request_ttft_s,omitempty"`
	ITLP50S      float64 `json:"itl_p50_s"`
	ITLP99S      float64 `json:"itl_p99_s"`
	// by the feeder's own times: its waits and gaps as they were, late ones included; 0: not known
	TrueTTFTS   float64 `json:"true_ttft_s,omitempty"`
	TrueITLP50S float64 `json:"true_itl_p50_s,omitempty"`
	TrueITLP99S float64 `json:"true_itl_p99_s,omitempty"`
	// how far the client can have moved its median TTFT and its median and p99 ITL at most; null: it does not know
	TTFTAtMostS   *float64 `json:"ttft_at_most_s,omitempty"`
	ITLP50AtMostS *float64 `json:"itl_p50_at_most_s,omitempty"`
	ITLP99AtMostS *float64 `json:"itl_p99_at_most_s,omitempty"`
	StampP50S     float64  `json:"stamp_p50_s"` // stamp minus the feeder's write time
	StampP99S     float64  `json:"stamp_p99_s"`
	StampMaxS     float64  `json:"stamp_max_s"`
	LagP99S       *float64 `json:"lag_p99_s"`     // as ClientReport.LagP99S; null without kernel stamps
	UnpacedPerS   float64  `json:"unpaced_per_s"` // events per second when the feeder writes as fast as it can
	// user and system time of the reading process for each of them; 0: not known
	UnpacedCPUPerEventS float64 `json:"unpaced_cpu_per_event_s,omitempty"`
	MemoryBytes         int64   `json:"memory_bytes"` // of the reading process at the most, paced
}

// AgentReport is what is known of a load agent after a pass. The times of its
// records are on the coordinator's clock, as far as OffsetBoundS says.
type AgentReport struct {
	Name           string `json:"name"` // as it was asked for
	Host           string `json:"host"` // as it calls itself
	Requests       int    `json:"requests"`
	MaxConcurrency int    `json:"max_concurrency,omitempty"` // its part of the cap; 0: no cap
	// its clock, which counts from its start, against the coordinator's, before the pass
	OffsetS float64 `json:"offset_s"`
	// its clock was never farther off than that from where it was taken to be
	OffsetBoundS float64  `json:"offset_bound_s"`
	DriftS       *float64 `json:"drift_s"` // change of the offset over the pass; null: not known
	CPUSeconds   *float64 `json:"cpu_s"`
	CPUs         int      `json:"cpus,omitempty"` // cores it may use; 0: unknown
	GCPauseS     *float64 `json:"gc_pause_s"`
	LateP99S     *float64 `json:"late_p99_s"`
	LagP99S      *float64 `json:"lag_p99_s"`
	// as ClientReport has them
	StarvedMaxS  *float64 `json:"starved_max_s,omitempty"`
	StealS       *float64 `json:"steal_s,omitempty"`
	CPUPressureS *float64 `json:"cpu_pressure_s,omitempty"`

	Telemetry   *NodeTelemetry `json:"telemetry,omitempty"` // of its host during the pass
	Calibration *Calibration   `json:"calibration"`         // of its host; null: "bench calibrate" was not run there
}

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
