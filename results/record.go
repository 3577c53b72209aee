package results

// Record is what the client saw of one request. All times are seconds since
// the pass began, on the monotonic clock, stamped at the read and before any
// parsing.
type Record struct {
	Index     int    `json:"index"`      // position in the prompt list
	RequestID string `json:"request_id"` // as sent in X-Request-Id
	Replica   int    `json:"replica"`    // which server of the variant took it, from 0

	Agent string `json:"agent,omitempty"` // which load agent sent it; "": the client was alone

	Conversation int `json:"conversation,omitempty"` // of a multi-turn workload, from 1; 0: none
	Turn         int `json:"turn,omitempty"`         // within the conversation, from 1

	Probe bool `json:"probe,omitempty"` // sent beside the load: it counts in none of the load's figures

	Class   string `json:"class,omitempty"`   // of a load that mixes several kinds of request; "": it does not
	Adapter string `json:"adapter,omitempty"` // LoRA adapter that it asked for; "": the model of the load

	IntendedS float64  `json:"intended_s"` // when the arrival process wanted it sent
	SentS     *float64 `json:"sent_s"`     // just before the request was written; null: never sent
	// the kernel had the request's last byte, connecting included; null: not known, as of older versions. Then
	// nothing is known of chunk_late_s either
	WrittenS *float64 `json:"written_s,omitempty"`
	HeaderS  *float64 `json:"header_s"` // response header received; null: none came
	DoneS    *float64 `json:"done_s"`   // the [DONE] event; null: none came
	EndS     float64  `json:"end_s"`    // end of the stream, or the moment of failure

	// ChunkS and ChunkKinds run in parallel: one entry for each data event of
	// the stream, in order of arrival.
	ChunkS     []float64 `json:"chunk_s"`
	ChunkKinds string    `json:"chunk_kinds"` // one ChunkKind byte per chunk
	// how much earlier than chunk_s each may have arrived: chunks that were read together share the stamp of the
	// last, and without the kernel's stamps the moment of the read stands for it. Left out: no chunk
	ChunkLateS []float64 `json:"chunk_late_s,omitempty"`

	AskedOutputTokens  int        `json:"asked_output_tokens"` // max_tokens sent; 0: none sent
	Images             int        `json:"images,omitempty"`    // in the prompt; turns after the first have none
	AudioS             float64    `json:"audio_s,omitempty"`   // length of the audio sent
	LocalInputTokens   *int       `json:"local_input_tokens"`  // the prompt's length as the dataset knows it
	InputTokens        *int       `json:"input_tokens"`        // as the server counted; null: it did not say
	OutputTokens       *int       `json:"output_tokens"`
	OutputTokensSource TokenCount `json:"output_tokens_source"`
	// the answer's text through the run's own tokenizer; null: not counted
	TextTokens   *int `json:"text_tokens"`
	CachedTokens *int `json:"cached_tokens"` // prompt tokens served from the prefix cache
	// guessed for this answer by speculative decoding; null: it did not say
	DraftTokens    *int   `json:"draft_tokens,omitempty"`
	AcceptedTokens *int   `json:"accepted_tokens,omitempty"` // of those
	Drafts         *int   `json:"drafts,omitempty"`          // steps that checked a draft
	FinishReason   string `json:"finish_reason"`             // as the server said; "" if it did not
	Text           string `json:"text,omitempty"`
	// the text without reasoning, and its length as of text_tokens; null: Text has no reasoning
	Content       *string `json:"content,omitempty"`
	ContentTokens *int    `json:"content_tokens,omitempty"`
	TextSHA256    string  `json:"text_sha256"` // of the whole answer, hex

	ToolCalls *ToolCalls `json:"tool_calls,omitempty"` // null: the request offered no tools, or failed

	// two hex digits of a hash of the answer's text up to each of TrailBytes that it reaches; left out: temperature
	// is not 0
	TextTrail string `json:"text_trail,omitempty"`

	Failure *Failure `json:"failure"` // null: the request succeeded

	// VLLMReading holds, for the generations of vLLM's client whose parser would
	// have read this stream differently, what it would have read.
	VLLMReading map[Generation]ClientReading `json:"vllm_reading,omitempty"`
}

// ToolCalls are those of one answer to a request that offered tools.
type ToolCalls struct {
	N       int        `json:"n"`                 // 0: the answer calls no tool
	Invalid int        `json:"invalid"`           // calls of no such tool, or with arguments against its schema
	Problem string     `json:"problem,omitempty"` // of the first invalid one
	Calls   []ToolCall `json:"calls,omitempty"`   // with keep-text
}

// ToolCall is a call as the model wrote it.
type ToolCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// ChunkKind classifies one data event of a stream by what it carried.
type ChunkKind byte

// The kinds of chunk. Which of them count as tokens is a question of the
// reading (metrics), not of the record.
const (
	ChunkText      ChunkKind = 't' // non-empty text or delta.content
	ChunkReasoning ChunkKind = 'k' // only reasoning content
	ChunkTool      ChunkKind = 'c' // only tool-call content
	ChunkWhole     ChunkKind = 'w' // a whole answer, not streamed: it says when the last token came, not when the first
	ChunkEmpty     ChunkKind = 'e' // a choice with empty or no text (special token, progress)
	ChunkRole      ChunkKind = 'r' // role only, no content
	ChunkFinish    ChunkKind = 'f' // empty text and a finish reason
	ChunkUsage     ChunkKind = 'u' // choices missing or empty: the usage event
	ChunkError     ChunkKind = 'x' // an error object inside the stream
	ChunkOther     ChunkKind = 'o' // anything else, unparsable data included
)

// TokenCount says where a count of output tokens came from, best first.
type TokenCount string

// The sources of output token counts.
const (
	CountUsage    TokenCount = "usage"    // the server's usage object
	CountTimings  TokenCount = "timings"  // llama-server's timings object
	CountTokenize TokenCount = "tokenize" // the answer's text through the server's tokenize endpoint
	CountChunks   TokenCount = "chunks"   // number of chunks with content: a lower bound
	CountNumbers  TokenCount = "numbers"  // the answer has numbers, no tokens: embeddings, scores
	CountNone     TokenCount = "none"
)

// ClientReport is what the load client says about itself after a pass.
type ClientReport struct {
	DurationS     float64  `json:"duration_s"` // first schedule step until the last request ended
	StartTime     string   `json:"start_time"` // wall clock of second 0, RFC 3339 with nanoseconds; a label only
	CPUSeconds    *float64 `json:"cpu_s"`      // user and system time of this process during the pass
	LateP50S      *float64 `json:"late_p50_s"` // intended send to actual send where no cap held it back
	LateP99S      *float64 `json:"late_p99_s"`
	LateMaxS      *float64 `json:"late_max_s"`
	PeakInFlight  int      `json:"peak_in_flight"` // exact, by counting
	Interrupted   string   `json:"interrupted"`    // why the pass ended early; "": it did not
	CPUs          int      `json:"cpus,omitempty"` // cores the client may use; 0: unknown
	ConnectionsNo int      `json:"connections"`    // TCP connections opened
	Transport     string   `json:"transport"`      // "sockets": our own; "net/http"
	Stamps        string   `json:"stamps"`         // where chunk times come from: "kernel" or "user"
	// kernel's arrival of bytes to our reading them; null without kernel stamps
	LagP50S *float64 `json:"lag_p50_s"`
	LagP99S *float64 `json:"lag_p99_s"`
	LagMaxS *float64 `json:"lag_max_s"`
	// token chunks with the arrival of an earlier one of their stream: sent together, or read late together
	SharedReads int64 `json:"shared_reads,omitempty"`
	// largest step of the wall clock against the monotonic one during the pass
	ClockStepS *float64 `json:"clock_step_s"`
	// for how long a thread that reads was ready to run and had no core: between two looks, 10 ms or one wait
	// apart, and in all, of the thread that waited most; null: not known
	StarvedMaxS *float64 `json:"starved_max_s,omitempty"`
	StarvedS    *float64 `json:"starved_s,omitempty"`
	// CPUs and nice value asked for the threads that read, left out: none; why they have not got them, "": they have
	PinnedCPUs   string `json:"pinned_cpus,omitempty"`
	Nice         int    `json:"nice,omitempty"`
	PlaceRefused string `json:"place_refused,omitempty"`
	// of the whole machine during the pass; null: it does not tell
	StealS       *float64 `json:"steal_s,omitempty"`        // taken by the hypervisor, sum over CPUs
	CPUPressureS *float64 `json:"cpu_pressure_s,omitempty"` // in which some task waited for a core
	GCPauseS     *float64 `json:"gc_pause_s"`               // sum of stop-the-world pauses during the pass

	Agents []AgentReport `json:"agents,omitempty"` // none: the client ran in bench itself

	// of this machine, as "bench calibrate" stored it; none where agents sent
	Calibration *Calibration `json:"calibration,omitempty"`
}
