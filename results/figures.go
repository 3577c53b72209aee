package results

// OutputLengths compares the lengths of answers with those asked for, over
// successful answers of which both are known.
type OutputLengths struct {
	N            int     `json:"n"`
	AskedMean    float64 `json:"asked_mean"` // tokens
	ReceivedMean float64 `json:"received_mean"`
	Share        float64 `json:"share"`           // received / asked
	EarlyEOS     float64 `json:"early_eos_share"` // of answers that ended by themselves, shorter than asked
}

// Series counts whole seconds of the pass, the first from its start.
type Series struct {
	Requests         []int     `json:"requests"`      // successful requests that got their last token in it
	OutputTokens     []float64 `json:"output_tokens"` // tokens that arrived in it; null: the length of one is unknown
	PeakRequests     int       `json:"peak_requests"`
	PeakOutputTokens *float64  `json:"peak_output_tokens"`
}

// Sessions are figures of conversations and sessions: of each as a whole, and of
// their requests by turn.
type Sessions struct {
	N        int           `json:"n"`          // that had a request sent
	Complete int           `json:"complete"`   // all of whose requests were sent and succeeded
	Duration Dist          `json:"duration_s"` // of those: first request sent to the end of the last answer
	Turns    []TurnFigures `json:"turns"`
}

// TurnFigures are those of turns From to To, both included: each of the first
// eight by itself, then 9 to 16, 17 to 32 and so on.
type TurnFigures struct {
	From   int  `json:"from"`
	To     int  `json:"to"`
	N      int  `json:"n"` // successful requests
	Failed int  `json:"failed"`
	TTFT   Dist `json:"ttft_s"`
	E2EL   Dist `json:"e2el_s"`
	// tokens, with all that was said before; null: unknown for at least one
	InputTokensMean *float64 `json:"input_tokens_mean"`
	// prompt tokens from the server's prefix cache / prompt tokens; null: unknown for at least one
	CachedShare *float64 `json:"cached_share"`
}

// PartBy says what the parts of a pass are.
type PartBy string

// The kinds of parts.
const (
	ByClass   PartBy = "class"   // requests of one class of a load that mixes several
	ByAdapter PartBy = "adapter" // requests for one LoRA adapter
	ByStage   PartBy = "stage"   // requests of one stage of the load
	ByProbe   PartBy = "probe"   // probes beside the load: its own figures do not count them
)

// PartFigures are the figures of some requests of a pass, over the window of the
// whole, as Figures has them. What only a whole pass has is null.
type PartFigures struct {
	By   PartBy `json:"by"`
	Name string `json:"name"`
	// of a stage, seconds from the start of the pass; null: the part is not one of time
	FromS   *float64 `json:"from_s,omitempty"`
	ToS     *float64 `json:"to_s,omitempty"`
	Figures Figures  `json:"figures"`
}

// PromptBucket are the latencies of requests whose prompts have From to To
// tokens, both included.
type PromptBucket struct {
	From int  `json:"from"`
	To   int  `json:"to"`
	N    int  `json:"n"`
	TTFT Dist `json:"ttft_s"`
	TPOT Dist `json:"tpot_s"`
}

// SteadyState are figures of the part of a pass without the burst at its
// start and the tail at its end: latencies of the successful requests sent in
// it, rates of what arrived in it.
type SteadyState struct {
	FromS             float64 `json:"from_s"` // seconds after the start of the pass
	ToS               float64 `json:"to_s"`
	N                 int     `json:"n"`
	RequestThroughput float64 `json:"request_throughput"` // requests that ended in it / its length
	// tokens that arrived in it / its length; null: the length of an answer is unknown
	OutputThroughput *float64 `json:"output_throughput"`
	TTFT             Dist     `json:"ttft_s"`
	TPOT             Dist     `json:"tpot_s"`
	ICL              Dist     `json:"icl_s"`
	E2EL             Dist     `json:"e2el_s"`
}

// ToolFigures are those of requests that offered tools.
type ToolFigures struct {
	Requests int `json:"requests"`  // answered
	WithCall int `json:"with_call"` // of them, whose answers call a tool
	Valid    int `json:"valid"`     // of those, all of whose calls are valid
	Calls    int `json:"calls"`

	CallShare  *float64 `json:"call_share"`  // with_call / requests; null: no request was answered
	ValidShare *float64 `json:"valid_share"` // valid / with_call; null: no answer calls a tool
	// sent to the first chunk of a call; of streamed answers
	FirstCall Dist     `json:"first_tool_call_s"`
	Problems  []string `json:"problems"` // of the first invalid answers, at most 5, distinct
}

// Answers is a check of the answers' texts for sense, by their hashes and,
// where the texts are kept, by their words.
type Answers struct {
	N          int  `json:"n"`          // successful answers whose hash is known, and the empty ones
	Empty      int  `json:"empty"`      // requests that failed because no token came
	Identical  int  `json:"identical"`  // answers that equal another one of the pass
	Repetitive *int `json:"repetitive"` // answers of one word over and over; null: texts were not kept

	// SHA256 is over all answers in the order of the prompt list; null unless
	// every prompt was answered at temperature 0. Marks then holds 4 hex digits
	// for each prompt, so that two passes can be compared prompt by prompt.
	SHA256 *string `json:"answers_sha256"`
	Marks  string  `json:"answer_marks,omitempty"`
	// Trails then has Record.TextTrail of the first prompts, at most MostTrails.
	Trails []string `json:"answer_trails,omitempty"`
}
