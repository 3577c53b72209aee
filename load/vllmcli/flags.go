package vllmcli

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/benchrig/bench/load/spec"
)

// Flags are the flags of the client, vLLM's and ours. The zero value is of no
// use: AddFlags sets the defaults.
type Flags struct {
	Dataset DatasetFlags
	Request RequestFlags

	Backend       string
	BaseURL       string
	Host          string
	Port          int
	Endpoint      string
	Model         string // "": the first of the server's list
	ServedName    string
	Insecure      bool
	CACert        string
	UnixSocket    string
	ReadyTimeoutS float64 // seconds to wait for a first answer; 0: none is asked for

	MaxConcurrency int // 0: no cap
	RequestRate    float64
	Burstiness     float64
	Ramp           string // "", "linear", "exponential"
	RampStart      int
	RampEnd        int
	SelfTimed      bool // requests leave at the trace's times; the default of timed_trace
	NoSelfTimed    bool // they do not
	Warmups        int
	Transport      string
	Duration       time.Duration // 0: until all prompts are answered

	Adapters   []string // LoRA adapters, each NAME or NAME:WEIGHT
	Priority   int      // in request bodies; -1: none
	classTexts []string
	stageTexts []string
	ProbeRate  float64 // of probes beside the load, requests/s; 0: none
	classes    []class

	EarlyEnd EarlyFlags
	Resend   int // requests to send again after the load
	Evaluate spec.Evaluate
	ToolFile string // JSON list of tools

	Agents        []string // hosts that send the load; none: this process does
	AgentCommands []string // command lines that start agents
	AgentBench    string   // the program on those hosts
	CopyBench     bool     // this program is copied there

	Label        string
	Metadata     []string
	SaveResult   bool
	SaveDetailed bool
	AppendResult bool
	ResultDir    string
	ResultFile   string
	Goodput      []string
	Metrics      string // comma-separated: ttft, tpot, itl, e2el
	Percentiles  string
	NoProgress   bool

	// Notes say which flags were taken without effect, after Parse.
	Notes []string

	changed func(name string) bool
}

// RequestFlags say what is in each request.
type RequestFlags struct {
	IgnoreEOS   bool
	Headers     []string
	ExtraBody   string
	Template    string // JSON; "": none
	IDPrefix    string
	Logprobs    int
	Temperature float64
	TopP        float64
	TopK        int
	MinP        float64
	Frequency   float64
	Presence    float64
	Repetition  float64
	Stop        []string
	LimitField  string // of a chat request: max_tokens or max_completion_tokens; "": both
}

// AddFlags defines all flags of the client.
func (f *Flags) AddFlags(fs *pflag.FlagSet) {
	fs.SortFlags = false
	f.addTarget(fs)
	f.Dataset.AddFlags(fs)
	f.addTraffic(fs)
	f.addClasses(fs)
	f.addStages(fs)
	f.addAgents(fs)
	f.Request.addFlags(fs)
	f.addOutput(fs)
	addOthers(fs)
}

func (f *Flags) addTarget(fs *pflag.FlagSet) {
	fs.StringVar(&f.Backend, "backend", "openai", "API of the server: "+BackendNames())
	fs.StringVar(&f.BaseURL, "base-url", "", "`URL` of the server; replaces --host and --port")
	fs.StringVar(&f.Host, "host", "127.0.0.1", "host of the server")
	fs.IntVar(&f.Port, "port", 8000, "port of the server")
	fs.StringVar(&f.Endpoint, "endpoint", "", "`path` of the API (default: the backend's)")
	fs.StringVar(&f.Model, "model", "", "`name` in requests (default: the first that the server lists)")
	fs.StringVar(&f.ServedName, "served-model-name", "", "`name` in requests where it differs from --model")
	fs.BoolVar(&f.Insecure, "insecure", false, "skip TLS certificate verification")
	fs.StringVar(&f.CACert, "ca-cert", "", "PEM `file` with certificate authorities to trust (not in vLLM)")
	fs.StringVar(&f.UnixSocket, "unix-socket", "", "connect to this socket `file` (not in vLLM)")
	fs.Float64Var(&f.ReadyTimeoutS, "ready-check-timeout-sec", 0,
		"wait up to this many `seconds` for a first answer, which is not measured; 0: do not wait")
}

func (f *Flags) addTraffic(fs *pflag.FlagSet) {
	fs.IntVar(&f.MaxConcurrency, "max-concurrency", 0, "maximum number of requests in flight (default: no limit)")
	fs.Float64Var(&f.RequestRate, "request-rate", inf, "requests a second; inf: all at once")
	fs.Float64Var(&f.Burstiness, "burstiness", 1,
		"shape of the arrivals; 1: Poisson, below: burstier, inf: constant gaps")

	fs.StringVar(&f.Ramp, "ramp-up-strategy", "", "raise the rate from request to request: linear or exponential")
	fs.IntVar(&f.RampStart, "ramp-up-start-rps", 0, "first rate of the ramp, requests a second")
	fs.IntVar(&f.RampEnd, "ramp-up-end-rps", 0, "last rate of the ramp")

	fs.BoolVar(&f.SelfTimed, "self-timed", false, "timed_trace: send requests at the times of the trace (the default)")
	fs.BoolVar(&f.NoSelfTimed, "no-self-timed", false, "timed_trace: send requests by --request-rate")
	fs.IntVar(&f.Warmups, "num-warmups", 0,
		"requests before the measured ones; all are copies of the first prompt, as in vLLM")

	fs.DurationVar(&f.Duration, "duration", 0,
		"stop sending after this time; prompts are repeated until then (not in vLLM)")
	fs.StringVar(&f.Transport, "transport", "",
		"transport: sockets or net/http (not in vLLM; default: sockets where possible)")

	fs.IntVar(&f.Resend, "resend", 0, "after the load, send this many of its requests again, one at a time, and "+
		"compare the answers (not in vLLM)")
	fs.BoolVar(&f.Evaluate.Exact, "evaluate", false, "after the load, ask fifty questions with exact answers and "+
		"print the score (not in vLLM)")
	fs.Float64Var(&f.Evaluate.MinScore, "min-score", 0,
		"`share` of the questions of --evaluate that must be answered correctly, 0 to 1 (not in vLLM)")
	fs.StringVar(&f.ToolFile, "tools", "", "`FILE` with a JSON list of tools, as chat completions have them, that "+
		"answers may call; their calls are checked (not in vLLM)")
	f.EarlyEnd.addFlags(fs)
}

func (f *Flags) addAgents(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.Agents, "agent", nil,
		"`HOST` ...: send the load from there, by ssh; srun:NODE by srun; several share the requests (not in vLLM)")
	fs.StringArrayVar(&f.AgentCommands, "agent-command", nil,
		"`COMMAND` ...: start an agent with this command, split at blanks, where --agent uses ssh (not in vLLM)")
	fs.StringVar(&f.AgentBench, "agent-bench", "bench", "`path` of bench on the hosts of --agent (not in vLLM)")
	fs.BoolVar(&f.CopyBench, "copy-bench", false,
		"copy this bench to the hosts of --agent for the time of the run (not in vLLM)")
}

func (r *RequestFlags) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&r.IgnoreEOS, "ignore-eos", false,
		"generate answers of the full length; always on for the random datasets, as in vLLM")
	fs.StringArrayVar(&r.Headers, "header", nil, "`KEY=VALUE` ...: further HTTP headers")
	fs.StringVar(&r.ExtraBody, "extra-body", "", "`JSON` object of further body fields, merged last")
	fs.StringVar(&r.Template, "chat-template-kwargs", "",
		"`JSON` object for the chat template; it is sent to the server, which applies the template")
	fs.StringVar(&r.IDPrefix, "request-id-prefix", "", "beginning of each request's id")
	fs.IntVar(&r.Logprobs, "logprobs", 0, "log probabilities to request with each token")
	fs.Float64Var(&r.Temperature, "temperature", 0, "sampling temperature (default: none is sent)")
	fs.Float64Var(&r.TopP, "top-p", 0, "nucleus sampling (default: none is sent)")
	fs.IntVar(&r.TopK, "top-k", 0, "tokens to choose among (default: none is sent)")
	fs.Float64Var(&r.MinP, "min-p", 0, "minimum probability (default: none is sent)")
	fs.Float64Var(&r.Frequency, "frequency-penalty", 0, "penalty for frequent tokens (default: none is sent)")
	fs.Float64Var(&r.Presence, "presence-penalty", 0, "penalty for tokens that occurred before (default: none is sent)")
	fs.StringArrayVar(&r.Stop, "stop", nil, "`TEXT` that ends an answer; may be given several times (not in vLLM)")
	fs.StringVar(&r.LimitField, "max-tokens-field", "",
		"`name` of the field that limits a chat answer: max_tokens or max_completion_tokens (not in vLLM; default: "+
			"both)")
	fs.Float64Var(&r.Repetition, "repetition-penalty", 0, "penalty for repetitions (default: none is sent)")
}

func (f *Flags) addOutput(fs *pflag.FlagSet) {
	fs.StringVar(&f.Label, "label", "", "prefix of the result file's name, in place of the backend")
	fs.StringArrayVar(&f.Metadata, "metadata", nil, "`KEY=VALUE` ...: further fields of the result file")
	fs.BoolVar(&f.SaveResult, "save-result", false, "write the figures as JSON")
	fs.BoolVar(&f.SaveDetailed, "save-detailed", false, "include the figures of every request")
	fs.BoolVar(&f.AppendResult, "append-result", false, "add to the file rather than replace it")
	fs.StringVar(&f.ResultDir, "result-dir", "", "`folder` of the result file")
	fs.StringVar(&f.ResultFile, "result-filename", "", "`name` of the result file (default: as vLLM names it)")
	fs.StringArrayVar(&f.Goodput, "goodput", nil, "`METRIC:MS` ...: goals of a good request; ttft, tpot, e2el")
	fs.StringVar(&f.Metrics, "percentile-metrics", "ttft,tpot,itl", "latencies to show: ttft, tpot, itl, e2el")
	fs.StringVar(&f.Percentiles, "metric-percentiles", "99", "percentiles to show, `P,P,...`")
	fs.BoolVar(&f.NoProgress, "disable-tqdm", false, "show no progress")
}
