package simengine

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Personas: whose wire format the simulator speaks.
const (
	PersonaVLLM     = "vllm"
	PersonaLlamaCpp = "llamacpp"
)

// Orders in which waiting requests are served.
const (
	PolicyFCFS     = "fcfs"     // by arrival
	PolicyPriority = "priority" // by their priority, the lowest first, then by arrival
)

// Defaults of settings whose zero value means "the default".
const (
	DefaultHost            = "127.0.0.1"
	DefaultPort            = 8000
	DefaultModel           = "simulated/Llama-3.1-8B-Instruct"
	DefaultDevice          = "mi300x"
	defaultMaxModelLen     = 32768
	DefaultMaxNumSeqs      = 256
	defaultSlots           = 4 // llama-server's -np
	DefaultBatchedTokens   = 8192
	DefaultBlockSize       = 16
	DefaultUtilization     = 0.9
	DefaultStatsInterval   = 10 * time.Second
	DefaultShutdownTimeout = 5 * time.Second
)

// Config holds all settings of a simulated server. The zero value serves an
// 8B model on one simulated MI300X, without noise and without load time.
type Config struct {
	Host string // "": DefaultHost
	Port int    // 0: any free port when AnyPort is set, else DefaultPort
	// AnyPort makes port 0 mean "any free port"; the log and OnListen tell it.
	AnyPort bool

	Model            string   // "": DefaultModel
	ServedModelNames []string // nil: Model; the first one is the name in answers
	Adapters         []string // LoRA adapters, served as models beside Model
	APIKey           string   // "": no key asked for

	TensorParallelSize    int     // 0: 1
	PipelineParallelSize  int     // 0: 1
	CtxSize               int     // llamacpp: context that slots share, tokens; 0: MaxModelLen says it
	Projector             string  // llamacpp: of images; "": there is none, and images are refused
	KVUnified             bool    // llamacpp: each slot may use all of CtxSize, else its share
	MaxModelLen           int     // tokens; 0: 32768, or what the KV cache holds
	MaxNumSeqs            int     // 0: 256; llamacpp: slots, 4
	MaxNumBatchedTokens   int     // 0: 8192
	BlockSize             int     // tokens a KV block; 0: 16
	GPUMemoryUtilization  float64 // 0: 0.9
	Quantization          string  // "fp8", "awq", "gptq", "int4", ...; "": 16 bit weights
	KVCacheDtype          string  // "fp8...": half the KV bytes
	NumSchedulerSteps     int     // steps that share one scheduling overhead; 0: 1
	EnforceEager          bool    // no graphs: more overhead a step
	DisablePrefixCaching  bool
	DisableChunkedPrefill bool
	SchedulingPolicy      string      // PolicyFCFS or PolicyPriority; "": PolicyFCFS
	Speculation           Speculation // zero: none
	Seed                  int64
	HidePromptDetails     bool // no usage.prompt_tokens_details
	DisableLogStats       bool
	RootPath              string        // also served beneath it, as behind a proxy
	ShutdownTimeout       time.Duration // for streams in flight when ctx ends; 0: 5 s

	Persona       string        // "": PersonaVLLM
	Device        string        // a name in Devices(); "": DefaultDevice
	ModelPreset   string        // a name in ModelPresets(); "": guessed from Model
	KVBlocks      int           // 0: what device memory leaves
	Speed         float64       // 10: ten times faster than the modelled engine; 0: 1
	Noise         float64       // relative standard deviation of a step's time
	LifeNoise     float64       // relative standard deviation of the speed of a whole server start, drawn anew for each
	Decode        float64       // 1.02: all but the arithmetic of prefill is 2 % faster; 0: 1
	Prefill       float64       // 1.1: the arithmetic of prefill is 10 % faster; 0: 1
	LoadTime      time.Duration // modelled time to load; divided by Speed
	CacheRoot     string        // folder in which compiled code is found, or left; "": code is compiled at each start
	StatsInterval time.Duration // of the statistics log lines; 0: 10 s
	VocabSize     int           // token ids in prompts must be below; 0: 128256
	ToolCalls     float64       // share of chat requests with tools that are answered by a call
	BadToolCalls  float64       // share of these whose calls are wrong
	Truth         int           // requests kept for GET /sim/truth; 0: none
	Faults        []Fault
	FaultText     string // what the log says where a crash fault strikes; "": that it is simulated

	// Exit ends the process for crash faults; it may return in tests. nil: Run
	// returns a *CrashError instead.
	Exit func(code int)
	// OnListen is called with the address once requests are accepted. May be nil.
	OnListen func(addr string)
}

// IgnoresTerm says that the fault ignore-term was asked for: the caller, who
// owns signals, then ignores SIGTERM.
func (c Config) IgnoresTerm() bool { return c.HasFault(FaultIgnoreTerm) }

// HasFault reports whether a fault of kind k was asked for.
func (c Config) HasFault(k FaultKind) bool {
	return slices.ContainsFunc(c.Faults, func(f Fault) bool { return f.Kind == k })
}

// ServedName is the model name in answers and in the model list.
func (c Config) ServedName() string { return c.ServedModelNames[0] }

// Settings is a Config with defaults applied and presets resolved.
type Settings struct {
	Config
	Hardware device
	Network  model
	draft    model // of a draft model; zero: none
	Blocks   int   // KV blocks in all
}

// Resolve applies defaults and checks everything that can be checked before
// any time passes.
func (c Config) Resolve() (Settings, error) {
	c.applyDefaults()
	if err := c.check(); err != nil {
		return Settings{}, err
	}

	s := Settings{Config: c}
	var err error
	if s.Hardware, err = findDevice(c.Device); err != nil {
		return Settings{}, err
	}
	if s.Network, err = FindModel(c.ModelPreset, c.Model); err != nil {
		return Settings{}, err
	}

	s.Quantization = QuantizationOf(c.Quantization, c.Model)
	if c.Speculation.Model != "" {
		if s.draft, err = FindModel("", c.Speculation.Model); err != nil {
			return Settings{}, err
		}
	}

	if c.Speculation.Tokens > 0 {
		s.Speculation.Acceptance = c.Speculation.Rates(s.draft, s.Network)
	}

	return s, s.fitMemory()
}

func (c *Config) applyDefaults() {
	setDefault(&c.Host, DefaultHost)
	if !c.AnyPort {
		setDefault(&c.Port, DefaultPort)
	}

	setDefault(&c.Model, DefaultModel)
	if len(c.ServedModelNames) == 0 {
		c.ServedModelNames = []string{c.Model}
	}

	setDefault(&c.Persona, PersonaVLLM)
	setDefault(&c.SchedulingPolicy, PolicyFCFS)
	setDefault(&c.Device, DefaultDevice)
	setDefault(&c.TensorParallelSize, 1)
	setDefault(&c.PipelineParallelSize, 1)
	seqs := DefaultMaxNumSeqs
	if c.Persona == PersonaLlamaCpp {
		seqs = defaultSlots
	}

	setDefault(&c.MaxNumSeqs, seqs)
	setDefault(&c.MaxNumBatchedTokens, DefaultBatchedTokens)
	setDefault(&c.BlockSize, DefaultBlockSize)
	setDefault(&c.GPUMemoryUtilization, DefaultUtilization)
	setDefault(&c.NumSchedulerSteps, 1)
	setDefault(&c.Speed, 1)
	setDefault(&c.Decode, 1)
	setDefault(&c.Prefill, 1)
	if c.CtxSize > 0 && c.MaxModelLen == 0 {
		c.MaxModelLen = c.slotContext()
	}

	setDefault(&c.StatsInterval, DefaultStatsInterval)
	setDefault(&c.ShutdownTimeout, DefaultShutdownTimeout)
	setDefault(&c.VocabSize, DefaultVocabSize)
}

// slotContext is what one slot of llama-server may hold.
func (c *Config) slotContext() int {
	if c.KVUnified {
		return c.CtxSize
	}
	return max(1, c.CtxSize/c.MaxNumSeqs)
}

func setDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// check refuses values that no engine could run with.
func (c *Config) check() error {
	for _, n := range []struct {
		flag  string
		value int
	}{
		{"tensor-parallel-size", c.TensorParallelSize},
		{"pipeline-parallel-size", c.PipelineParallelSize},
		{"max-num-seqs", c.MaxNumSeqs},
		{"max-num-batched-tokens", c.MaxNumBatchedTokens},
		{"block-size", c.BlockSize},
		{"num-scheduler-steps", c.NumSchedulerSteps},
		{"sim-vocab-size", c.VocabSize},
	} {
		if n.value < 1 {
			return fmt.Errorf("check --%s: %d is below 1", n.flag, n.value)
		}
	}

	switch {
	case c.Port < 0 || c.Port > 65535:
		return fmt.Errorf("check --port: %d is not between 0 and 65535", c.Port)
	case c.MaxModelLen < 0, c.KVBlocks < 0, c.Truth < 0:
		return fmt.Errorf("check settings: max-model-len %d, sim-kv-blocks %d and sim-truth %d must not be negative",
			c.MaxModelLen, c.KVBlocks, c.Truth)
	case c.GPUMemoryUtilization <= 0 || c.GPUMemoryUtilization > 1:
		return fmt.Errorf("check --gpu-memory-utilization: %v is not in (0, 1]", c.GPUMemoryUtilization)
	case !(c.Speed > 0):
		return fmt.Errorf("check --sim-speed: %v is not above 0", c.Speed)
	case !(c.Noise >= 0 && c.Noise <= 0.3):
		return fmt.Errorf("check --sim-noise: %v is not in [0, 0.3]", c.Noise)
	case !(c.LifeNoise >= 0 && c.LifeNoise <= 0.3):
		return fmt.Errorf("check --sim-life-noise: %v is not in [0, 0.3]", c.LifeNoise)
	case !(c.Decode > 0 && c.Prefill > 0):
		return fmt.Errorf("check --sim-decode %v and --sim-prefill %v: both must be above 0", c.Decode, c.Prefill)
	case !(c.ToolCalls >= 0 && c.ToolCalls <= 1 && c.BadToolCalls >= 0 && c.BadToolCalls <= 1):
		return fmt.Errorf("check --sim-tool-calls %v and --sim-bad-tool-calls %v: both must be from 0 to 1",
			c.ToolCalls, c.BadToolCalls)
	case c.SchedulingPolicy != PolicyFCFS && c.SchedulingPolicy != PolicyPriority:
		return fmt.Errorf("check --scheduling-policy: %q is neither %q nor %q", c.SchedulingPolicy, PolicyFCFS,
			PolicyPriority)
	case c.CtxSize < 0:
		return fmt.Errorf("check --ctx-size: %d is negative", c.CtxSize)
	case c.RootPath != "" && !strings.HasPrefix(c.RootPath, "/"):
		return fmt.Errorf("check --root-path: %q does not begin with a slash", c.RootPath)
	case c.LoadTime < 0:
		return fmt.Errorf("check --sim-load-time: %v is negative", c.LoadTime)
	case c.Persona != PersonaVLLM && c.Persona != PersonaLlamaCpp:
		return fmt.Errorf("check --sim-persona: %q is neither %q nor %q", c.Persona, PersonaVLLM, PersonaLlamaCpp)
	}

	return c.Speculation.Check()
}
