package results

import (
	"time"
)

// LiveName is the file in which the process that carries out a run says, about
// once a second, what it is doing. It is gone when the run has ended; where it
// is there and nobody writes it, the run was killed. Reports do not read it.
const LiveName = "live.json"

// LivePhase is what a run is doing.
type LivePhase string

// The phases, in the order in which a step meets them.
const (
	LiveStarting  LivePhase = "starting"  // checks and hooks of the run
	LiveHooks     LivePhase = "hooks"     // around a server life or a step
	LiveIdle      LivePhase = "idle-gpus" // GPUs are read before the first server of a variant
	LiveLaunching LivePhase = "launching" // from the spawn to the first token
	LivePrompts   LivePhase = "prompts"   // are made, counted, compared to what the server takes
	LiveSettling  LivePhase = "settling"  // until GPUs are calm
	LiveWarmUp    LivePhase = "warm-up"   // requests that are not measured
	LiveMeasuring LivePhase = "measuring"
	LiveFinishing LivePhase = "finishing" // the servers' last counters, tokens of answers, figures
	LiveStopping  LivePhase = "stopping"  // from the first signal to the proof, video memory included
	LiveEnding    LivePhase = "ending"    // hooks and messages after the last step
)

// Live is live.json: a run at one moment. What is not known is null.
type Live struct {
	Format    int       `json:"format_version"`
	Bench     string    `json:"bench_version"`
	Node      string    `json:"node"`
	PID       int       `json:"pid"`
	BeganAt   time.Time `json:"began_at"`   // when this process took up the run; wall clock, a label
	UpdatedAt time.Time `json:"updated_at"` // wall clock
	RunForS   float64   `json:"run_for_s"`  // since BeganAt

	Phase   LivePhase `json:"phase"`
	PhaseS  float64   `json:"phase_s"`     // since it began
	UsualS  *float64  `json:"usual_s"`     // that it took the last time, for the same variant
	LimitS  *float64  `json:"limit_s"`     // when it is given up
	Share   *float64  `json:"phase_share"` // of it that is done, 0 to 1
	Message string    `json:"message"`     // what is waited for, in words

	Step    *StepRef `json:"step"` // that is run, or that the launch is for
	Pass    int      `json:"pass"` // 2: the second of a step with two
	Life    string   `json:"life"` // of the servers that run or are launched
	Steps   int      `json:"steps_of_life"`
	StepS   *float64 `json:"step_s"`       // since the step began
	LeftS   *float64 `json:"left_s"`       // that the step needs further, by its progress or what it took before
	RunS    *float64 `json:"run_left_s"`   // that the whole run needs further
	LeftBy  string   `json:"left_by"`      // what that rests on: LeftByPlan, LeftByRun
	AtMost  bool     `json:"left_at_most"` // planned steps may turn out not to be needed
	EndSoon bool     `json:"ends_after_step"`

	Requests *LiveRequests `json:"requests"` // null: none are sent
	Tokens   *LiveTokens   `json:"tokens"`
	Server   *LiveServer   `json:"server"` // by its metrics
	GPUs     []LiveGPU     `json:"gpus"`

	LogOf   string   `json:"log_of"`   // path of the log that LogTail is of, below the run folder; "": none
	LogTail []string `json:"log_tail"` // secrets redacted
}

// What the time that is left rests on.
const (
	LeftByPlan = "plan" // nothing was measured yet: see the plan's assumptions
	LeftByRun  = "run"  // steps of this run
)

// LiveRequests are the requests of the pass that runs, warm-ups apart.
type LiveRequests struct {
	Done     int  `json:"done"`  // ended, with success or not
	Total    *int `json:"total"` // null: the duration decides
	InFlight int  `json:"in_flight"`
	Failed   int  `json:"failed"`
}

// LiveTokens are figures of a pass so far: of the requests that have ended,
// but for the rate.
type LiveTokens struct {
	PerS   *float64  `json:"tokens_per_s"` // output, over the last LiveWindowS seconds
	Output *int64    `json:"output_tokens"`
	TTFT   LiveTimes `json:"ttft_s"`
	TPOT   LiveTimes `json:"tpot_s"`
}

// LiveWindowS is the time over which the rate of output tokens is taken.
const LiveWindowS = 5

// LiveTimes are latencies so far, within 1 %.
type LiveTimes struct {
	N   int      `json:"n"`
	P50 *float64 `json:"p50"`
	P99 *float64 `json:"p99"`
}

// LiveServer is what the servers of the step said last of themselves.
type LiveServer struct {
	Running *float64 `json:"running"` // requests, of all replicas
	Waiting *float64 `json:"waiting"`
	KVUse   *float64 `json:"kv_use"` // share of the fullest, 0 to 1
	AgeS    float64  `json:"age_s"`
}

// LiveGPU is the last reading of a GPU.
type LiveGPU struct {
	Index       int      `json:"index"`
	Name        string   `json:"name"`
	VRAMUsed    *int64   `json:"vram_used_bytes"`
	VRAMTotal   *int64   `json:"vram_total_bytes"`
	PowerW      *float64 `json:"power_w"`
	PowerLimitW *float64 `json:"power_limit_w"`
	Busy        *float64 `json:"busy"` // 0 to 1
	HottestC    *float64 `json:"hottest_c"`
	Throttle    []string `json:"throttle"`
	AgeS        float64  `json:"age_s"`
}
