package agent

import (
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/results"
)

// protocol is the version of the messages: both ends must have the same.
const protocol = 1

// kind is what a message is.
type kind string

// The messages. In brackets: who sends them, the coordinator or the agent.
const (
	kindHello    kind = "hello"    // both, first
	kindPing     kind = "ping"     // [c] at any time
	kindPong     kind = "pong"     // [a] at once
	kindJob      kind = "job"      // [c]
	kindPrompts  kind = "prompts"  // [c] as many as the job says, in parts
	kindArmed    kind = "armed"    // [a] the first wave is ready
	kindStart    kind = "start"    // [c] the common moment
	kindRecord   kind = "record"   // [a]
	kindProgress kind = "progress" // [a]
	kindCount    kind = "count"    // [a] asks for the tokens of a text
	kindCounted  kind = "counted"  // [c]
	kindCancel   kind = "cancel"   // [c] ends the job
	kindDone     kind = "done"     // [a] nothing of the job follows
)

// message is one frame. Which fields are set depends on its kind.
type message struct {
	Kind  kind   `json:"kind"`
	Hello *hello `json:"hello,omitempty"`
	// nanoseconds of the agent's clock: when a ping came, or the common moment
	At       int64                  `json:"at,omitempty"`
	Since    int64                  `json:"since,omitempty"` // of a pong: nanoseconds from At until it was sent
	Number   int                    `json:"number,omitempty"`
	Job      *job                   `json:"job,omitempty"`
	Prompts  []dialect.Prompt       `json:"prompts,omitempty"`
	Record   *results.Record        `json:"record,omitempty"`
	Progress *load.Progress         `json:"progress,omitempty"`
	Report   *results.ClientReport  `json:"report,omitempty"`
	Host     *results.NodeTelemetry `json:"host,omitempty"`  // of the agent, during the pass
	Text     string                 `json:"text,omitempty"`  // whose tokens are asked for
	Count    int                    `json:"count,omitempty"` // of its tokens
	Error    string                 `json:"error,omitempty"` // "": none
}

// hello is what an end says about itself.
type hello struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"` // of bench
	Host     string `json:"host,omitempty"`
	PID      int    `json:"pid,omitempty"`
}
