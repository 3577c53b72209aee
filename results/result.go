package results

import (
	"strings"
	"time"

	"github.com/benchrig/bench/load/spec"
)

// StepRef names a step: one variant at one point of the load sweep, repeated.
type StepRef struct {
	ID      string `json:"id"`      // stable: made of variant, point and repeat; a folder name
	Variant string `json:"variant"` // as in the scenario
	Point   string `json:"point"`   // label of the load point, "c8"
	Repeat  int    `json:"repeat"`  // from 1
	Attempt int    `json:"attempt"` // from 1; more than 1 after retries
}

// Asked is the load that was asked for, resolved.
type Asked struct {
	Endpoint       string   `json:"endpoint"`       // request path
	API            string   `json:"api"`            // name of an API, "chat"
	Dataset        string   `json:"dataset"`        // kind
	DatasetPath    string   `json:"dataset_path"`   // "" where generated
	DatasetSHA256  string   `json:"dataset_sha256"` // of the prompts as sent, hex
	Seed           uint64   `json:"seed"`           // of the prompts, as varied for this step
	NumPrompts     int      `json:"num_prompts"`
	MaxConcurrency *int     `json:"max_concurrency"` // null: no cap
	RequestRate    *float64 `json:"request_rate"`    // requests/s; null: all at once
	Burstiness     *float64 `json:"burstiness"`      // 1: Poisson; null: constant gaps
	Ramp           *Ramp    `json:"ramp"`            // null: none
	// requests left at their recorded times divided by this; null: the dataset has none, or they were not used
	ReplaySpeed *float64 `json:"replay_speed,omitempty"`
	// nothing was to be sent from then on; null: the number of prompts decided
	SendForS  *float64 `json:"send_for_s"`
	Tokenizer string   `json:"tokenizer"` // that prompts were counted with; "": nothing was
	// whose prompts, bodies and arrival times: "vllm" and so on; "": ours
	Compat      string   `json:"compat"`
	InputLen    *int     `json:"input_len"`  // tokens; null: the dataset's own
	OutputLen   *int     `json:"output_len"` // tokens; null: the dataset's own
	IgnoreEOS   bool     `json:"ignore_eos"`
	Temperature *float64 `json:"temperature"`
	Warmups     int      `json:"warmups"`
	// goals of the goodput in seconds, by "ttft", "tpot", "e2el"; left out: none, or by a version that did not say
	GoodputGoalsS map[string]float64 `json:"goodput_goals_s,omitempty"`

	Body string `json:"body"` // one request body as sent, with the prompt cut short

	// how the load was sent, in full; null: by a version that did not say
	Settings *spec.Settings `json:"settings,omitempty"`
}

// Ramp is a request rate that rises from the first request to the last.
type Ramp struct {
	Strategy string       `json:"strategy"`
	StartRPS float64      `json:"start_rps"` // requests/s
	EndRPS   float64      `json:"end_rps"`
	Changes  []RateChange `json:"rps_changes"`
}

// RateChange is the moment at which a ramp reaches a whole rate.
type RateChange struct {
	RPS int     `json:"rps"`
	AtS float64 `json:"at_s"` // seconds from the start
}

// Numbers reports whether the answers are numbers, embeddings or scores, so that
// there are no output tokens.
func (a Asked) Numbers() bool {
	switch a.API {
	case "embeddings", "pooling", "rerank", "score":
		return true
	}
	return false
}

// Templated reports whether the server puts the prompt into a chat template, which
// adds tokens.
func (a Asked) Templated() bool {
	switch a.API {
	case "chat", "ollama-chat", "responses", "messages":
		return true
	}
	return false
}

// UsageAsked reports whether the requests ask for a usage event.
func (a Asked) UsageAsked() bool { return strings.Contains(a.Body, `"include_usage"`) }

// Dist describes a sample in its base unit (seconds in this package). Every
// figure is null when the sample is empty; N is always there.
type Dist struct {
	N           int                `json:"n"`
	Mean        *float64           `json:"mean"`
	Median      *float64           `json:"median"`
	Std         *float64           `json:"std"` // population deviation, ddof 0
	Min         *float64           `json:"min"`
	Max         *float64           `json:"max"`
	Percentiles []PercentileFigure `json:"percentiles"` // ascending
}

// PercentileFigure is one percentile by numpy's linear rule.
type PercentileFigure struct {
	P     float64  `json:"p"` // 99 for p99
	Value *float64 `json:"value"`
}

// Figures are the figures of one pass in the headline reading. Rates are per
// second of DurationS; token totals are over successful requests only.
type Figures struct {
	Asked     int     `json:"asked"` // requests in the prompt list
	Completed int     `json:"completed"`
	Failed    int     `json:"failed"`
	Unsent    int     `json:"unsent"` // never sent because the pass was ended
	DurationS float64 `json:"duration_s"`

	TotalInputTokens  *int64 `json:"total_input_tokens"` // null: unknown for at least one request
	TotalOutputTokens *int64 `json:"total_output_tokens"`
	CachedTokens      *int64 `json:"cached_tokens"`

	RequestThroughput    *float64 `json:"request_throughput"`     // requests/s
	RequestGoodput       *float64 `json:"request_goodput"`        // requests/s within all goals; null: no goals
	OutputThroughput     *float64 `json:"output_throughput"`      // tokens/s
	TotalTokenThroughput *float64 `json:"total_token_throughput"` // tokens/s
	// of requests that succeeded; absent: no prompt has images
	Images          *int     `json:"images,omitempty"`
	ImageThroughput *float64 `json:"image_throughput,omitempty"` // images/s
	// of requests that succeeded; absent: no request has audio
	AudioS              *float64 `json:"audio_s,omitempty"`
	RTFx                *float64 `json:"rtfx,omitempty"` // seconds of audio a second
	MaxOutputTokensPerS *float64 `json:"max_output_tokens_per_s"`
	PeakConcurrent      int      `json:"peak_concurrent_requests"` // exact

	TTFT Dist `json:"ttft_s"` // sent to first token
	TPOT Dist `json:"tpot_s"` // (last token - first token) / (output tokens - 1)
	ITL  Dist `json:"itl_s"`  // gaps between tokens: as ICL, but empty where chunks carry several tokens
	ICL  Dist `json:"icl_s"`  // gaps between token chunks, pooled
	E2EL Dist `json:"e2el_s"` // sent to last token

	// of TTFT, TPOT, ITL and E2EL, for the percentiles above the median; absent: by a version that had none
	UpperBounds []UpperBound `json:"upper_bounds,omitempty"`

	TTFTFromIntended Dist `json:"ttft_from_intended_s"` // waiting in the client's queue included
	E2ELFromIntended Dist `json:"e2el_from_intended_s"`

	TokensPerChunk *float64 `json:"tokens_per_chunk"` // output tokens / token chunks
	// rounded tokens per chunk of an answer -> answers
	ChunkSizes map[int]int `json:"tokens_per_chunk_sizes"`
	// share of chunk gaps too short for a model; null: no gaps
	BurstGaps *float64 `json:"burst_gaps_share"`
	// null: no answer with an asked and a known length
	Lengths        *OutputLengths       `json:"output_lengths"`
	Series         *Series              `json:"per_second"`           // null: no request succeeded
	Prompts        []PromptBucket       `json:"by_prompt_length"`     // null: prompts of one class of lengths
	Tools          *ToolFigures         `json:"tool_calls,omitempty"` // null: no request offered tools
	Sessions       *Sessions            `json:"sessions,omitempty"`   // null: no conversations
	Steady         *SteadyState         `json:"steady_state"`         // null: the pass has none
	Answers        *Answers             `json:"answers"`              // null: no answer
	FinishReasons  map[string]int       `json:"finish_reasons"`
	Failures       map[FailureClass]int `json:"failures"`
	FailureSamples []string             `json:"failure_samples"` // first messages, at most 5, distinct
	TokenSources   map[TokenCount]int   `json:"token_sources"`

	// how far the client can have moved the figures; null: not known, as of imported and of older results
	ClientAtMost *ClientBound `json:"client_at_most,omitempty"`
}

// ReplicaFigures are the figures of one server of a replicated variant, over
// the same window as the whole.
type ReplicaFigures struct {
	Replica int     `json:"replica"`
	Figures Figures `json:"figures"`
}

// ComponentFigures are what a part of a server did during the pass, over its
// replicas: prefill servers, decode servers, a router.
type ComponentFigures struct {
	Component  string             `json:"component"`
	Servers    int                `json:"servers"`
	GPUs       []int              `json:"gpus"`            // as each node counts them
	Nodes      []string           `json:"nodes,omitempty"` // other nodes than that of bench on which servers of it ran
	Counters   map[string]float64 `json:"counters"`        // as Server.Counters, of all its servers
	VRAMPeak   *int64             `json:"vram_peak"`       // bytes, the sum of its GPUs' peaks; null: not known of all
	PowerMeanW *float64           `json:"power_mean_w"`    // the sum over its GPUs
	EnergyJ    *float64           `json:"energy_j"`
}

// Server says which server answered: identity and history of one process of
// the variant.
type Server struct {
	Replica      int               `json:"replica"`             // over all components
	Component    string            `json:"component,omitempty"` // the part that it is of a server of several
	Inner        bool              `json:"inner,omitempty"`     // requests go to another component
	Node         string            `json:"node,omitempty"`      // of a component that is not on bench's node of the job
	Life         string            `json:"life"`                // id of its server life, a folder name under lives/
	Launcher     string            `json:"launcher"`
	BaseURL      string            `json:"base_url"`
	Argv         []string          `json:"argv"`        // empty for an external server
	Env          map[string]string `json:"env"`         // the difference to ours; secrets redacted
	CountsTokens bool              `json:"-"`           // it can be asked for the tokens of a text
	DroppedEnv   []string          `json:"dropped_env"` // names of variables of ours that it did not inherit
	GPUs         []int             `json:"gpus"`
	CPUs         string            `json:"cpus,omitempty"`      // that it may use, "0-5,8"; "": as bench
	NUMANode     *int              `json:"numa_node,omitempty"` // whose memory it takes first; null: as bench
	Nice         int               `json:"nice,omitempty"`
	PID          int               `json:"pid,omitempty"`
	Model        string            `json:"model"`   // as the server names it
	Version      string            `json:"version"` // as the server says; "" if it does not
	ReadyPhases  []Phase           `json:"ready_phases"`
	// the server's own counters, change over the pass, under our names
	Counters    map[string]float64 `json:"counters"`
	Simulated   bool               `json:"simulated"`
	Startup     *Startup           `json:"startup"`     // null: the server said nothing of its start
	Smoke       *SmokeAnswer       `json:"smoke"`       // null: none was asked for
	Speculation *Drafting          `json:"speculation"` // null: nothing was drafted, or it is not known

	Nodes []string `json:"nodes,omitempty"` // of a server over several, the first one that of base_url

	Container *ContainerInfo `json:"container,omitempty"` // null: a process of this machine
	Image     *ImageInfo     `json:"image,omitempty"`     // that such a process has entered; null: none
}

// AlreadyRunning reports whether bench found the server running: it neither
// started nor stopped it.
func (s *Server) AlreadyRunning() bool { return s.Launcher == "external" }

// CookieVariable names the environment variable that marks the processes of a server start.
const CookieVariable = "BENCH_COOKIE"

// Unmarked replaces what distinguishes one start from another in a word of the command line: the
// container's name, the marks by which bench finds what it started, and the folder of its files.
func (s Server) Unmarked(word string) string {
	if name, _, _ := strings.Cut(word, "="); name == CookieVariable {
		return name + "=COOKIE"
	}
	if s.Life != "" {
		word = strings.ReplaceAll(word, "lives/"+s.Life, "lives/LIFE")
	}
	if s.Container == nil {
		return word
	}

	_, cookie, _ := strings.Cut(s.Container.Label, "=")
	run, _, _ := strings.Cut(cookie, ".")
	for _, own := range [][2]string{{s.Container.Name, "NAME"}, {cookie, "COOKIE"}, {run, "RUN"}} {
		if own[0] != "" {
			word = strings.ReplaceAll(word, own[0], own[1])
		}
	}
	return word
}

// EnteredImage is the image that the server runs in; nil if there is none, or if
// it is not known.
func (s Server) EnteredImage() *ImageInfo {
	if s.Container != nil {
		return s.Container.Image
	}
	return s.Image
}

// Phase is one rung of the readiness ladder.
type Phase struct {
	Name string  `json:"name"` // "alive", "tcp", "health", "model", "token"
	AtS  float64 `json:"at_s"` // seconds after the spawn
}

// Result is result.json: all that is known of a step. On disk vLLM's
// --save-result names are beside ours at the top level (see MarshalJSON).
type Result struct {
	Format    int       `json:"format_version"`
	Bench     string    `json:"bench_version"`
	Scenario  string    `json:"scenario"`
	Run       string    `json:"run_id"`
	Node      string    `json:"node"` // name of the machine on which bench ran the step; "": not known
	Step      StepRef   `json:"step"`
	StartedAt string    `json:"started_at"` // RFC 3339, wall clock
	EndedAt   string    `json:"ended_at"`
	Simulated bool      `json:"simulated"`
	Verdict   Verdict   `json:"verdict"`
	Failure   *Failure  `json:"failure"`
	Warnings  []Warning `json:"warnings"`
	Earlier   []Failure `json:"earlier_failures"` // of attempts before this one

	Early *EarlyEnd `json:"early_end,omitempty"` // null: the pass went on to its end, or failed

	Resent     *Resent     `json:"resent,omitempty"`     // null: nothing was sent again
	Evaluation *Evaluation `json:"evaluation,omitempty"` // null: no questions were asked

	// null: no command measured the quality of the answers
	CommandScore *CommandScore `json:"command_score,omitempty"`

	Asked    Asked            `json:"asked"`
	Servers  []Server         `json:"servers"`
	Figures  *Figures         `json:"figures"` // null: nothing was measured
	Compat   Compat           `json:"compat,omitempty"`
	Replicas []ReplicaFigures `json:"replicas"`
	Parts    []PartFigures    `json:"parts,omitempty"` // by class of requests, adapter; none: all requests are alike
	Client   *ClientReport    `json:"client"`

	Components []ComponentFigures `json:"components,omitempty"` // of servers of several parts
	Params     map[string]string  `json:"params"`               // matrix values of the variant, printed as text
	Cache      *CacheState        `json:"cache"`                // null: nothing was measured
	Telemetry  *Telemetry         `json:"telemetry"`            // null: nothing was sampled

	ServerMetrics []ServerMetrics `json:"server_metrics"` // one a server that has metrics
	Hooks         []HookRecord    `json:"hooks"`
	// what differed from the run's start when the step ran, after a resume
	Changes []string `json:"changes"`

	SQZB         *SQZB           `json:"sqzb"`                  // null: another method
	LlamaBench   []LlamaBenchRow `json:"llama_bench"`           // null: another method
	MeasuredBy   string          `json:"measured_by,omitempty"` // the method that gave Measures
	Measures     []Measure       `json:"measures,omitempty"`    // of methods that send no requests; null: none
	ColdStart    *ColdStart      `json:"cold_start,omitempty"`  // null: another method
	Extrapolated *Extrapolation  `json:"extrapolated"`          // null: the step is of all replicas
	Cost         *Cost           `json:"cost"`                  // null: no price is known

	Imported *Origin `json:"imported,omitempty"` // null: bench measured it
}

// BeganS is when the step began, in seconds since 1970; false where it is not
// known, as of imported steps.
func (r *Result) BeganS() (float64, bool) {
	at, err := time.Parse(time.RFC3339Nano, r.StartedAt)
	if err != nil {
		return 0, false
	}
	return float64(at.UnixNano()) / 1e9, true
}

// SimulatedMark begins the line above figures that come from bench's simulator;
// bench import recognises it.
const SimulatedMark = "SIMULATED:"
