// Package spec has the settings of a load that mean the same wherever they
// are: in a scenario, in the load client, in what a load agent is sent and in a
// result. A setting that is added here travels all the way.
//
// It computes nothing and decides nothing.
package spec

import "time"

// Settings say how a load is sent. The zero value of a limit means no limit.
type Settings struct {
	// whose request bodies: CompatNone or a version of vLLM's client
	Compat string `json:"compat"`
	// requests in flight over all replicas; 0: no cap. A conversation keeps its place to its end
	MaxConcurrency int `json:"max_concurrency"`
	// from then on no request starts; 0: the number of prompts decides alone
	Duration time.Duration `json:"duration_ns"`
	// from the end of an answer to the next turn of its conversation
	ThinkTime time.Duration `json:"think_time_ns"`
	// answers go on to their full length, where the API has a field for that
	IgnoreEOS bool `json:"ignore_eos"`
	// ask for whole answers: each is one chunk, without first-token and stall limit
	NoStream bool     `json:"no_stream"`
	Sampling Sampling `json:"sampling"` // how the server chooses tokens, and where it ends
	// name of the field that limits a chat answer: MaxTokens or MaxCompletionTokens; "": both are sent
	MaxTokensField string `json:"max_tokens_field"`
	// further fields of the request body, merged last, into nested objects too
	Body map[string]any `json:"body"`
	// tools that answers may call: a JSON list as chat completions have it, translated for other APIs
	Tools    []any    `json:"tools,omitempty"`
	Timeouts Timeouts `json:"timeouts"` // of one request
	// TransportSockets or TransportHTTP; "": sockets for http, net/http for https
	Transport string `json:"transport"`
	// send a request on a connection that carried another one before
	ReuseConnections bool `json:"reuse_connections"`
	// keep the answers' text, reasoning and content as they came, in the records
	KeepText bool `json:"keep_text"`
	// requests of the pass that are sent again after it, one at a time; carried out where records become figures
	Resend int `json:"resend,omitempty"`
	// questions that are asked after the pass; carried out where records become figures
	Evaluate Evaluate `json:"evaluate,omitzero"`
	// when the answer is known before the last request; carried out where records become figures
	Early Early `json:"early,omitzero"`
	// kinds of request that the load mixes; none: all are alike. Prompts say which is theirs
	Classes []Class `json:"classes,omitempty"`
	// LoRA adapters among which the requests of a load without classes are split
	Adapters []Adapter `json:"adapters,omitempty"`
	// parts of the load, one after the other, that Duration is the sum of; none: it is the same throughout. Where they
	// have caps, MaxConcurrency is the largest
	Stages []Stage `json:"stages,omitempty"`
	// requests beside the load; sent where records become figures
	Probes Probes `json:"probes,omitzero"`
}

// Evaluate says whether questions with exact answers are asked after a pass, by its API and
// with as many at once as its cap allows. The zero value: none are.
type Evaluate struct {
	Exact    bool    `json:"exact"`
	MinScore float64 `json:"min_score"` // share of right answers, below which the figures are suspect
}

// Sampling are the parameters by which a server chooses tokens. What is nil is
// not sent: the server's defaults decide. Each API has its own names for them,
// and one that an API does not know is refused. llama-server's and Ollama's
// OpenAI routes do not read RepetitionPenalty.
type Sampling struct {
	Temperature       *float64 `json:"temperature"`
	TopP              *float64 `json:"top_p"`
	TopK              *int     `json:"top_k"`
	MinP              *float64 `json:"min_p"`
	FrequencyPenalty  *float64 `json:"frequency_penalty"`
	PresencePenalty   *float64 `json:"presence_penalty"`
	RepetitionPenalty *float64 `json:"repetition_penalty"`
	Seed              *int     `json:"seed"`
	Stop              []string `json:"stop"` // texts that end an answer
}

// Timeouts of one request; 0 means no limit.
type Timeouts struct {
	Connect    time.Duration `json:"connect_ns"`     // for TCP, and again for the TLS handshake
	FirstToken time.Duration `json:"first_token_ns"` // sent to first data event
	Stall      time.Duration `json:"stall_ns"`       // no byte, comments included, once the first data event came
	Total      time.Duration `json:"total_ns"`       // sent to end
	// after Settings.Duration, for requests in flight: they fail as canceled
	Drain time.Duration `json:"drain_ns"`
}

// Ramp is a request rate that grows or falls from the first request to the
// last, by their number, not by time.
type Ramp struct {
	Strategy   string  // RampLinear or RampExponential; "": no ramp
	Start, End float64 // requests/s
}

// The strategies of a Ramp.
const (
	RampLinear      = "linear"
	RampExponential = "exponential"
)

// The values of Settings.Transport.
const (
	TransportSockets = "sockets"  // HTTP/1.1 on sockets of our own, stamped by the kernel; http only
	TransportHTTP    = "net/http" // Go's client, stamped as each read returns
)

// The values of Settings.MaxTokensField. vLLM, llama-server and most others take
// either; some servers know only the older max_tokens and answer without limit
// by the newer, and a few refuse the one that they do not want.
const (
	MaxTokens           = "max_tokens"
	MaxCompletionTokens = "max_completion_tokens"
)

// The values of Settings.Compat. Bodies of vLLM's client are equal to the byte,
// Python's spacing and escapes included, for the APIs that it has: completions,
// chat, and in the older versions tgi.
const (
	CompatNone    = ""
	CompatVLLM    = "vllm"      // autumn 2026
	CompatVLLM010 = "vllm-0.10" // August 2025
	CompatVLLM06  = "vllm-0.6"  // December 2024
)
