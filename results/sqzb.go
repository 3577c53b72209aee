package results

// SQZB are the figures of method sqzb: two passes with the same prompts, each
// on a server of its own, the second asked for one token an answer. Each names
// the pass that it comes from.
type SQZB struct {
	InputTokens  *int64 `json:"input_tokens"`  // pass 1
	OutputTokens *int64 `json:"output_tokens"` // pass 1

	E2ELatencyS           *float64 `json:"e2e_latency_s"`           // pass 1: from the first send to the last answer
	SummarizationLatencyS *float64 `json:"summarization_latency_s"` // pass 2: the same
	// the difference; null where not positive, see Undefined
	GenerationLatencyS *float64 `json:"generation_latency_s"`

	SummarizationThroughput *float64 `json:"summarization_throughput"` // input tokens / s of pass 2
	JPerInputToken          *float64 `json:"j_per_input_token"`        // energy / input tokens of pass 2
	E2EThroughput           *float64 `json:"e2e_throughput"`           // output tokens / s of pass 1
	GenerationThroughput    *float64 `json:"generation_throughput"`    // output tokens / s of the difference

	TTFTMeanS     *float64 `json:"ttft_mean_s"`      // pass 1, waiting in the server's queue included
	QueueMeanS    *float64 `json:"queue_mean_s"`     // pass 1, by the server's own counters; null where it has none
	TTFTUnqueuedS *float64 `json:"ttft_unqueued_s"`  // their difference
	TPOTMeanS     *float64 `json:"tpot_mean_s"`      // pass 1, by vLLM's rule: over n-1 tokens
	TPOTByTokensS *float64 `json:"tpot_by_tokens_s"` // pass 1, by the method's own rule: over all n tokens
	// tokens of pass 1 that the prefill made: one an answer. Generation throughput counts them
	FirstTokens    int      `json:"first_tokens"`
	CachedTokens   *float64 `json:"cached_tokens"`     // pass 2: prompt tokens that a prefix cache saved; null: unknown
	CachedInPass1  *float64 `json:"cached_in_pass_1"`  // of pass 1
	Undefined      string   `json:"undefined"`         // why the figures of the generation are null; "": they are not
	OneTokenPass   *Figures `json:"one_token_pass"`    // pass 2
	OneTokenServer []Server `json:"one_token_servers"` // that answered in pass 2

	OneTokenClient        *ClientReport   `json:"one_token_client"`         // pass 2
	OneTokenCache         *CacheState     `json:"one_token_cache"`          // pass 2
	OneTokenTelemetry     *Telemetry      `json:"one_token_telemetry"`      // pass 2
	OneTokenServerMetrics []ServerMetrics `json:"one_token_server_metrics"` // pass 2
}
