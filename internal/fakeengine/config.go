// Package fakeengine is a test double: a server process that plays the stages
// of an inference server's life, good and bad. It runs inside a re-executed
// test binary, so that tests get a real process with real children, signals,
// sockets and log output.
//
// What goes in: a Config in an environment variable and the command line of
// the engine it stands for. What comes out: a process. It infers nothing.
package fakeengine

import (
	"encoding/json"
	"fmt"
	"time"
)

// Variable names the environment variable that turns a test binary into a
// fake engine.
const Variable = "BENCH_FAKE_ENGINE"

// PromptExit is the value of GORACE under which a test binary built with the
// race detector exits at once, instead of a second later.
const PromptExit = "atexit_sleep_ms=0"

// childArgument is the first argument of a fake engine's child processes.
const childArgument = "fake-engine-child"

// ReadyForTerm is logged once SIGTERM has an effect, see Config.LosesTerm.
const ReadyForTerm = "INFO:     Application startup complete."

// Config says what the engine does. The zero value serves at once, under the
// paths that vLLM uses, a model without a name.
type Config struct {
	Model    string            // name in the model list
	Paths    Paths             // "" in a field: no such path
	Counters map[string]string // counter as bench names it -> name under Paths.Metrics
	Key      string            // API key asked for outside of the health path; "": none

	Lines    []string      // written to stderr at the start
	LogFile  string        // a captured log, perhaps packed by gzip: its start is written likewise
	LogRest  int           // request number at which the rest of LogFile is written; 0: at the start
	Loading  time.Duration // answers 503 to everything for so long
	Silent   bool          // neither listens nor logs, for ever
	Chatter  bool          // logs all the time and never listens
	NoTokens bool          // accepts completions and never answers them
	Empty    bool          // answers completions with a stream without tokens
	Host     string        // listens there instead of where the command line says
	Port     string        // likewise
	Shared   bool          // lets other sockets listen on its port (SO_REUSEPORT)
	Loaded   string        // path of the model file that it says it has loaded; "": it does not tell
	Refuses  []string      // exits with code 3 if its environment has one of these variables

	Eat        int           // bytes of memory that it fills at the start
	ExitAtOnce *int          // exits with this code after Lines
	ExitAfter  time.Duration // exits with ExitCode after so long, whatever it does; 0: never
	ExitCode   int           // of ExitAfter
	DieAt      int           // exits with code 0 when request number DieAt comes; 0: never
	FatalAt    int           // logs FatalLine and hangs when request number FatalAt comes; 0: never
	FatalLine  string
	ReplaceAt  int    // a worker serves, and another takes its place at request number ReplaceAt; 0: no worker
	LogFault   string // what it does to its own log at request number LogAt
	LogAt      int

	Request     []Fault       // what goes wrong with requests; the first that applies counts
	HealthHang  bool          // accepts health requests and never answers them
	HealthCode  int           // status of the health path; 0: 200
	CountBackAt int           // its counters begin anew when request number CountBackAt comes; 0: never
	Flood       int           // bytes of log written at the start, as fast as they are taken
	FloodAt     int           // writes Flood when request number FloodAt comes instead; 0: at the start
	Chunk       time.Duration // between two tokens of a stream
	ShmFile     string        // a file of that name is made in /dev/shm, mapped, and left there
	TermFlood   int           // bytes of log written at SIGTERM
	TermChild   *Child        // SIGTERM makes it start this child
	KeepsPort   bool          // a child inherits the listening socket and lives on

	ClientsFirst bool          // SIGTERM has an effect once no client has a stream open; these do not end by themselves
	IgnoreTerm   bool          // SIGTERM does nothing
	LosesTerm    time.Duration // SIGTERM does nothing for so long; then it logs ReadyForTerm
	Drain        time.Duration // from SIGTERM to the exit
	TermCode     int           // exit code after SIGTERM
	LateChildren int           // children that start one after the other, once it runs
	Children     []Child       // started before anything else; they outlive the engine
}

// Paths are the paths of the engine's API beside /v1/completions and
// /v1/chat/completions, which are always there.
type Paths struct {
	Health, Models, Metrics, Tokenize, Version string
}

// VLLM are the paths of a vLLM server.
func VLLM() Paths {
	return Paths{
		Health: "/health", Models: "/v1/models", Metrics: "/metrics", Tokenize: "/tokenize",
		Version: "/version",
	}
}

// Child is one child process. It sleeps until SIGTERM.
type Child struct {
	Group      bool // in a process group of its own
	Session    bool // in a session of its own
	Daemon     bool // forked twice, so that its parent is gone
	IgnoreTerm bool
	Drain      time.Duration // from SIGTERM to its end
	ClearEnv   bool          // without the environment variables of its parent
	Clobber    bool          // writes over its command line and environment, as programs do that set their title
	Name       string        // of its main thread, at most 15 bytes; "": the program's
	Children   []Child
	Eat        int // bytes of memory that it fills before it is ready
}

// Env is the environment entry that makes a test binary this engine.
func (c Config) Env() string { return Variable + "=" + c.Value() }

// Value is the value of Variable for this engine.
func (c Config) Value() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("encode fake engine: %v", err)) // plain data cannot fail
	}
	return string(text)
}
