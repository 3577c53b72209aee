// Package launchers knows kinds of inference servers: how a recipe becomes a
// command line, how one sees that such a server truly serves, what its metrics
// and its fatal log lines are called, and how it is stopped.
//
// What goes in: a Spec. What comes out: a running Server that has answered
// with a token, or a *results.Failure that says why not. It drives no load,
// reads no scenario, and never ends a process that it did not start
// (launchers/process owns process trees).
package launchers

import (
	"crypto/tls"
	"regexp"
	"time"

	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/results"
)

// Spec is one server to launch: one replica of a variant, everything decided.
type Spec struct {
	Launcher   string
	Model      string
	ServedName string            // "": the launcher decides
	Binary     []string          // nil: the launcher's own
	Command    []string          // launcher command; ${host}, ${port}, ${model} are filled in
	Args       []Arg             // in the scenario's order
	Env        map[string]string // set for the server
	Unset      []string          // removed from the inherited environment
	Secrets    []string          // values never to be shown or written
	BaseURL    string            // launcher external
	PathPrefix string            // launcher external: of the API's paths behind BaseURL, where requests have it in their own; "": none
	UnixSocket string            // launcher external: the socket to connect to, whatever BaseURL says; "": TCP
	TLS        *tls.Config       // launcher external, for https; nil: the system's roots
	Host       string
	Port       int
	GPUs       []int    // device indices; nil: leave visibility alone
	Devices    []string // ids of those GPUs for the proof of stop, as GPUMemory names them; nil: unknown
	Vendor     string   // "amd", "nvidia", "": decides the visibility variable
	API        string   // dialect of a command launcher's server: "openai" or "llamacpp"
	APIKey     string
	Dir        string // working directory
	LogPath    string // file for stdout and stderr
	Ready      Ready
	Smoke      Smoke         // zero: none
	StopGrace  time.Duration // 0: the kind's own
	Drain      time.Duration // before SIGTERM, until no request is running; 0: no wait
	VRAM       VRAMPolicy
	Container  container.Options // zero: a process of ours
	Life       string            // id of the server life, for the journal
	Replica    int
	Replicas   int    // of the variant, 0 and 1 alike
	Cookie     string // identifies our process trees; put into the environment as BENCH_COOKIE
	Span       Span   // zero: the server is on this machine alone

	Told func(rung string) // gets what a start is waited for, whenever that changes; nil: nobody does
}

// VRAMPolicy limits the wait for video memory, see scenarios.VRAM.
type VRAMPolicy struct {
	Timeout   time.Duration // 0: 2 minutes, AMD 15
	Tolerance int64         // bytes; 0: the larger of 512 MiB and 1 %
	Foreign   string        // "report", "wait", "refuse"
}

// Arg is one engine argument: Value is nil (flag left out), bool, json.Number,
// string, []any or map[string]any.
type Arg struct {
	Name  string
	Value any
}

// Ready limits the wait for a server; see Kind for the ladder.
type Ready struct {
	Timeout time.Duration // spawn to first token
	Stall   time.Duration // no log byte and no CPU time of the tree; 0: off
	Path    string        // health path; "": the kind's own
	Log     string        // text that must appear in the log first; "": none
}

// Command is what a recipe becomes.
type Command struct {
	Argv []string          // nil for an external server
	Env  map[string]string // added or changed; the recipe's, visibility and hygiene variables included

	// Unset is removed from the inherited environment before Env is applied.
	// An entry that ends in * stands for all names with that beginning.
	Unset []string
}

// Kind describes one kind of server. Kinds are values in a list, not types in
// a registry: a new kind is one file and one line in All.
type Kind struct {
	Name        string
	DefaultPort int
	StopGrace   time.Duration
	External    bool // already running: never started, stopped or reset
	Simulated   bool

	// Command turns a recipe into argv and environment. It is pure; its errors
	// tell what to change in the recipe.
	Command func(Spec) (Command, error)

	// Companions is what runs beside Command's program where the server lies
	// over several nodes; nil: it cannot. It is pure.
	Companions func(Spec) ([]Companion, error)

	// Entry is a Binary for Command that stands for an image's entry point: as
	// many words are cut off the argv again. Nil: argv has no program of the
	// kind's own. ImageProgram are those of images whose entry point is not
	// the server.
	Entry        []string
	ImageProgram []string

	// WorldSize says how many GPUs one server of this recipe uses by its
	// parallelism arguments; 0 if it cannot tell.
	WorldSize func([]Arg) int

	// ServedName is the model name in requests and in the model list.
	ServedName func(Spec) string

	HealthPath   string              // "" if there is none
	ModelsPath   string              // OpenAI model list; "" if there is none
	ModelsMaybe  bool                // a missing model list (404) says nothing against the server
	TokenizePath string              // "" if there is none
	VersionPath  string              // "" if there is none
	MetricsPath  string              // Prometheus text; "" if there is none
	Counters     map[string][]string // our name ("output_tokens_total") -> the engine's metric names, newest first: the first present wins; "a+b" is their sum
	Gauges       map[string]Gauge    // our name ("running") -> where it comes from
	AcceptedAt   []string            // metrics of accepted draft tokens by the label "position", newest first
	Fatal        []FatalLine
	Milestones   []Milestone    // of the log of a start
	Describe     []Description  // asked once it serves
	Reset        *Reset         // how it forgets its prefix cache; nil: only by a restart
	CacheSalt    bool           // requests take a cache_salt, whose value keeps prefix caches apart
	ModelFile    string         // path that tells model_path, the file that is loaded; "": none
	AnyModelName bool           // the server accepts any model name in a request, so the list must be checked
	Body         map[string]any // fields every request to this kind carries, e.g. cache_prompt: false
}

// FatalLine is a log line after which no server of a kind recovers.
type FatalLine struct {
	Pattern *regexp.Regexp
	Class   results.FailureClass
	Hint    string // what usually helps, for the end of the failure's message; "": nothing to add
}

// Names of counters under which all kinds report, where they have them.
const (
	InputTokensTotal  = "input_tokens_total"
	OutputTokensTotal = "output_tokens_total"
	RequestsTotal     = "requests_total"
	PreemptionsTotal  = "preemptions_total"
	PrefixQueries     = "prefix_cache_queries_total"
	PrefixHits        = "prefix_cache_hits_total"
	DraftsTotal       = "drafts_total"
	DraftTokensTotal  = "draft_tokens_total"
	AcceptedTotal     = "accepted_tokens_total"

	CachedTokensTotal  = "cached_tokens_total"  // prompt tokens that were not computed
	EmittedTotal       = "emitted_tokens_total" // by steps with drafts
	QueueSecondsTotal  = "queue_seconds_total"  // of the requests that QueueRequestsTotal counts
	QueueRequestsTotal = "queue_requests_total"
	StepsTotal         = "steps_total" // forward passes of the model
)
