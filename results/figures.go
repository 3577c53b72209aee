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
}
