package results

// ServerMetricsName is the file of a step that holds what the servers'
// metrics said once a second while its pass ran; ".zst" is added when the step
// has ended.
const ServerMetricsName = "server-metrics.jsonl"

// ServerSample is one line of server-metrics.jsonl: one look at one server,
// under the same names for all engines and versions (see package launchers).
// What an engine does not have is absent.
type ServerSample struct {
	AtS     float64            `json:"at_s"` // seconds since the pass began
	Replica int                `json:"replica"`
	Values  map[string]float64 `json:"values"`
	Error   string             `json:"error,omitempty"` // why there are no values
}

// Startup is what a server said of its own start: milestones of its log, and
// what it answers when asked for its configuration.
type Startup struct {
	Phases         []StartupPhase    `json:"phases"`
	KVTokens       *int64            `json:"kv_tokens"`       // tokens that fit the KV cache
	MaxConcurrency *float64          `json:"max_concurrency"` // full-length requests that fit it
	ModelBytes     *int64            `json:"model_bytes"`     // memory that the weights take
	ContextLen     *int64            `json:"context_len"`     // tokens of one request at most
	Slots          *int64            `json:"slots"`           // requests worked on at once
	Arguments      map[string]string `json:"arguments"`       // in force, as the engine says; secrets redacted
}

// StartupPhase is a part of a start with a length of its own.
type StartupPhase struct {
	Name    string  `json:"name"` // "weights", "compile", "graph-capture", "kv-cache", "init"
	Seconds float64 `json:"seconds"`
}

// CacheState is what is known of the prefix cache during a pass.
type CacheState struct {
	Asked string `json:"asked"` // "cold", "warm", "any"
	// what was done for it: "new-server", "distinct-prompts", "reset", "salt", "cache-prompt-off"
	How      []string `json:"how"`
	Hits     *float64 `json:"hits"`      // tokens found in the cache; null: no counter says
	Queries  *float64 `json:"queries"`   // tokens looked up
	HitShare *float64 `json:"hit_share"` // hits / queries
	// what a cache that was empty and forgets nothing would have found of the prompts, as a share; null: not known
	CeilingShare *float64 `json:"ceiling_share,omitempty"`
	CeilingN     *int     `json:"ceiling_n,omitempty"` // requests that it is of
	Verified     *bool    `json:"verified"`            // as asked; null: not known
	VerifiedHow  string   `json:"verified_how"`        // "counters", "usage", ""
}

// HookRecord is one run of a hook, an undo, a check or a notification.
type HookRecord struct {
	Level   string  `json:"level"` // "run", "variant", "step"
	When    string  `json:"when"`  // "before", "after", "undo", "check", "notify"
	Name    string  `json:"name"`
	OK      bool    `json:"ok"`
	Message string  `json:"message"` // last words of a command, status of a call, what a check found
	TookS   float64 `json:"took_s"`
}

// ServerMetrics sums up what one server's own metrics said while the pass ran;
// see ServerSample. Its counters are in Server.Counters.
type ServerMetrics struct {
	Replica     int                     `json:"replica"`
	Samples     int                     `json:"samples"` // readings
	Missed      int                     `json:"missed"`  // readings that failed or took too long
	Gauges      map[string]GaugeFigures `json:"gauges"`  // "running", "waiting", "kv_use": those that the engine has
	Preemptions *float64                `json:"preemptions"`
	WentBack    []string                `json:"went_back"` // counters that fell meanwhile: the server began anew
}

// GaugeFigures describe a gauge over the readings of a pass.
type GaugeFigures struct {
	Min  float64 `json:"min"`
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
}

// Doubtful reports whether the figures were measured in another state of the
// prefix cache than the one asked for: the counters say so, or the state could be
// neither set nor verified.
func (c CacheState) Doubtful() bool {
	if c.Verified != nil {
		return !*c.Verified
	}
	return c.Asked == "cold" && len(c.How) == 0
}
