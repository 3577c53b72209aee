// Package spec has the settings of a load that mean the same wherever they
// are: in a scenario, in the client, in what an agent is sent and in a result.
// It imports nothing of ours and decides nothing.
package spec

import "time"

// Sampling are the parameters by which a server chooses tokens. What is nil is
// not sent: the server's defaults decide. Each API has its own names for them,
// and one that an API does not know is refused. llama-server's and Ollama's
// OpenAI routes do not read RepetitionPenalty.
type Sampling struct {
	Temperature       *float64
	TopP              *float64
	TopK              *int
	MinP              *float64
	FrequencyPenalty  *float64
	PresencePenalty   *float64
	RepetitionPenalty *float64
	Seed              *int64
}

// Timeouts of one request; 0 is no limit.
type Timeouts struct {
	Connect    time.Duration // for TCP, and again for the TLS handshake
	FirstToken time.Duration // sent to first data event
	Stall      time.Duration // no byte, comments included, once the first data event came
	Total      time.Duration // sent to end
}

// The values of Options.Transport.
const (
	TransportSockets = "sockets"  // HTTP/1.1 on sockets of our own, stamped by the kernel; http only
	TransportHTTP    = "net/http" // Go's client, stamped as each read returns
)

// Whose request bodies to send. Those of vLLM's client are equal to the byte,
// Python's spacing and escapes included, for the APIs that it has: completions,
// chat, and in the older versions tgi.
const (
	BodiesOwn     = ""
	BodiesVLLM    = "vllm"      // autumn 2026
	BodiesVLLM010 = "vllm-0.10" // August 2025
	BodiesVLLM06  = "vllm-0.6"  // December 2024
)
