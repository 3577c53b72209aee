package results

// Generation names a generation of vLLM's serving benchmark client, whose
// reading of a run can be beside ours.
type Generation string

// The generations. They differ in which chunk counts as the first token, in
// when a request ends, in where token counts come from, and in how they cut a
// stream into events.
const (
	VLLM     Generation = "vllm"         // autumn 2026
	VLLM2605 Generation = "vllm-2026-05" // May 2026: a late usage event of a chat extends the latency
	VLLM010  Generation = "vllm-0.10"    // August 2025: streams are read by lines, and no peaks
	VLLM06   Generation = "vllm-0.6"     // December 2024: no usage, latency until [DONE]
)

// Compat are the readings of vLLM's clients beside the headline.
type Compat map[Generation]CompatReading

// CompatReading is a run as one generation of vLLM's client would have
// computed it, faults included, and why that differs from the headline.
type CompatReading struct {
	CompatFigures

	Differences []Difference `json:"differences"` // in a fixed order
}

// CompatFigures are vLLM's figures. Samples without a value have figures of 0,
// as there; null is only what the records cannot tell (see Unknown).
type CompatFigures struct {
	Completed int     `json:"completed"`
	Failed    int     `json:"failed"`
	DurationS float64 `json:"duration_s"`

	TotalInputTokens  *int64 `json:"total_input_tokens"`
	TotalOutputTokens *int64 `json:"total_output_tokens"`

	RequestThroughput    *float64 `json:"request_throughput"`
	RequestGoodput       *float64 `json:"request_goodput"` // null: no goals
	OutputThroughput     *float64 `json:"output_throughput"`
	TotalTokenThroughput *float64 `json:"total_token_throughput"`

	// The two peaks are vLLM's bucket counts; null for generations without.
	MaxOutputTokensPerS   *float64 `json:"max_output_tokens_per_s"`
	MaxConcurrentRequests *int     `json:"max_concurrent_requests"`

	TTFT Dist `json:"ttft_s"`
	TPOT Dist `json:"tpot_s"`
	ITL  Dist `json:"itl_s"` // gaps between chunks, however many tokens they carry
	E2EL Dist `json:"e2el_s"`

	Unknown []string `json:"unknown,omitempty"` // why figures are null, in words
}

// Over puts the reading into the figures of a run in place of the headline's.
func (c CompatFigures) Over(f Figures) Figures {
	f.Completed, f.Failed, f.DurationS = c.Completed, c.Failed, c.DurationS
	f.TotalInputTokens, f.TotalOutputTokens = c.TotalInputTokens, c.TotalOutputTokens
	f.RequestThroughput, f.RequestGoodput = c.RequestThroughput, c.RequestGoodput
	f.OutputThroughput, f.TotalTokenThroughput = c.OutputThroughput, c.TotalTokenThroughput
	f.MaxOutputTokensPerS = c.MaxOutputTokensPerS
	f.TTFT, f.TPOT, f.ITL, f.E2EL = c.TTFT, c.TPOT, c.ITL, c.E2EL
	f.ICL = f.ITL
	return f
}

// Difference is one reason why two readings of a run differ.
type Difference struct {
	Code   DifferenceCode `json:"code"`
	Count  int            `json:"count"`  // requests it concerns; for the peaks 1
	Effect string         `json:"effect"` // what it does to the figures, in words
}

// DifferenceCode names a reason; part of the format on disk.
type DifferenceCode string

// The reasons known.
const (
	DiffRoleFirst  DifferenceCode = "role-first-chunk"  // a role-only chunk is taken as the first token
	DiffEmptyFirst DifferenceCode = "empty-first-chunk" // a chunk without text is taken as the first token
	DiffEmptyGaps  DifferenceCode = "empty-chunk-gaps"  // further chunks without text give ITL samples
	// a chunk without text after the last token extends E2EL
	DiffLongerEnd     DifferenceCode = "empty-last-chunk"
	DiffReasoning     DifferenceCode = "reasoning-not-counted" // chunks of reasoning and tool calls are not tokens
	DiffInBandSuccess DifferenceCode = "in-band-error-success" // an error inside the stream is taken as success
	DiffTruncated     DifferenceCode = "truncated-success"     // a stream cut in order is taken as success
	DiffEmptySuccess  DifferenceCode = "empty-answer-success"  // an answer without a token is taken as success
	DiffOtherSuccess  DifferenceCode = "other-success"         // another failure is taken as success
	DiffUsageFails    DifferenceCode = "usage-event-failure"   // the usage event makes the request fail
	DiffStreamLost    DifferenceCode = "stream-lost"           // its parser lost events, or failed at them
	// its parser takes events at other reads than they end in
	DiffEventTimes   DifferenceCode = "event-times"
	DiffOtherFailure DifferenceCode = "other-failure" // a success is taken as failure for another reason
	// usage beside choices is ignored; the text is tokenized again
	DiffUsageIgnored DifferenceCode = "usage-ignored"
	// the answer's length is that of its text tokenized again
	DiffRetokenized    DifferenceCode = "retokenized"
	DiffLocalInput     DifferenceCode = "local-input-count"     // the prompt's length is the client's own count
	DiffDoneLatency    DifferenceCode = "latency-until-done"    // E2EL ends with [DONE], not with the last token
	DiffUsageLatency   DifferenceCode = "latency-until-usage"   // E2EL ends with the usage event
	DiffPeakRequests   DifferenceCode = "peak-requests-buckets" // every request that touches a second counts in it
	DiffPeakTokens     DifferenceCode = "peak-tokens-chunks"    // a chunk counts as one token in the peak
	DiffNoSampleIsZero DifferenceCode = "no-first-token-zero"   // successes without a token have a TTFT of 0
)

// ClientReading is what a generation's parser makes of one stream where that
// is not what the stream says: of the events it yields, when, and whether it
// fails at one.
type ClientReading struct {
	ChunkS       []float64 `json:"chunk_s"`
	ChunkKinds   string    `json:"chunk_kinds"`
	DoneS        *float64  `json:"done_s"`
	InputTokens  *int      `json:"input_tokens"`  // of a usage event without choices; null: none was yielded
	OutputTokens *int      `json:"output_tokens"` // the same
	TextDiffers  bool      `json:"text_differs"`  // the text is not that of the record
	// the answer's text for this client, without reasoning; "": texts are not kept
	Text  string `json:"text,omitempty"`
	Error string `json:"error"` // why the request fails while reading; "": it does not
}
