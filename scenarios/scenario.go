// Package scenarios says what a scenario is: variants of servers, points of
// load, and policies, checked and fully expanded; and holds the scenario files
// that come with bench.
//
// What goes in: nothing; scenarios/parse makes a Scenario of a file. What comes
// out: values for planning and running. It reads no file of the user's but to
// say which of those that a scenario needs are missing.
package scenarios

import (
	"time"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/scenarios/schema"
)

// Scenario is a checked and expanded scenario file.
type Scenario struct {
	Path        string // as the user gave it
	Dir         string // folder that relative paths in the file start from
	Source      []byte // the file, byte for byte
	Name        string
	Description string

	Variants []Variant // matrix blocks expanded, in file order
	Points   []Load    // the load sweep expanded, in file order

	Method             Method
	Program            ProgramRun   // of methods that run a program
	ColdStart          ColdStartRun // of method cold-start
	Baseline           string       // variant that the others are compared to; "": the first
	SmallestDifference float64      // relative; smaller ones do not matter. 0: none given
	Tables             []string     // names of tables that reports show beside the usual one
	Repeats            int          // at most, see Until
	Until              Until
	Search             Search
	Prune              Prune
	Tune               Tune
	Blame              Blame
	Bisect             Bisect
	NullTest           bool // the last variant is the baseline once more
	Order              Order
	Seed               uint64 // of a shuffled order
	Restart            Restart
	OnFailure          OnFailure
	Retries            int            // further attempts of a failed step
	RetriesFor         map[string]int // further attempts by failure class, in place of Retries; nil: none given
	StepDeadline       time.Duration  // 0: none
	RunDeadline        time.Duration  // 0: none
	StartAt            Moment         // the run waits for it; none: it starts at once
	EndBy              Moment         // until when the run may go on; none: its deadline alone counts
	Watchdog           Watchdog
	Disk               Disk
	Price              Price
	Telemetry          Telemetry
	Settle             Settle
	VRAM               VRAM
	Simulation         Simulation
	SimNotes           []string // what --sim changed and skipped
	Hooks              LevelHooks
	Evaluation         Evaluation
	Checks             []Check
	Notify             []Notify
	On                 Where
	Slurm              Slurm
	Client             Client

	Sets     []string  // the --set overrides, as given
	Defaults []Default // every default that was applied, in path order
	EnvUsed  []EnvUse  // every ${env:NAME} that was read
	Secrets  []string  // values of secret ${env:NAME} and of other secrets, in the clear: never to be shown or written
	Warnings []string  // what stops nothing but may not be meant, each with its position

	locals []localPath // files and folders of this machine that a run needs
}

// Order says in which order steps run.
type Order string

// The orders. Interleaved: variants take turns within a repeat, so that drift
// does not look like a difference. Grouped: all repeats of a variant, then the
// next. Shuffled: interleaved with the variants of each repeat permuted by Seed.
const (
	Interleaved Order = "interleaved"
	Grouped     Order = "grouped"
	Shuffled    Order = "shuffled"
)

// Restart says when a server is started again.
type Restart string

// The restart policies: one life for all steps of a variant that follow each
// other; one life a variant and repeat; one per point; one per step.
const (
	RestartNever   Restart = "never"
	RestartVariant Restart = "variant"
	RestartPoint   Restart = "point"
	RestartStep    Restart = "step"
)

// OnFailure says what a failed step means for the rest.
type OnFailure string

// The failure policies: continue with everything; skip the rest of the variant;
// stop the run.
const (
	Continue    OnFailure = "continue"
	SkipVariant OnFailure = "skip-variant"
	StopRun     OnFailure = "stop"
)

// Variant is one way to launch a server.
type Variant struct {
	Name   string
	Notes  string            // free text of the author, shown in reports
	Size   string            // of its model, as the author writes it: "3.80 GiB"
	Price  Price             // of its hardware; see Scenario.PriceOf
	Params map[string]string // matrix values as text; nil without a matrix
	Pos    schema.Pos

	// Extrapolate, where above 1: the one replica that runs gets its share of the load
	// and stands for so many. The rates are multiplied and labelled so.
	Extrapolate int
	Server      Server      // of several components the first
	Components  []Component // in the order of their start, requests go to the last; nil: there is one
	Nodes       int         // of the Slurm job over which components are placed; 0: 1
	Original    *Server     // under --sim: in whose place the simulated Server stands; nil: it is the file's own
	Hooks       Hooks       // of level variant, after the scenario's own
}

// Component is a part of a server that consists of several programs, such as
// prefill servers, decode servers and a router.
type Component struct {
	Name   string
	Node   int // of the job on which its servers run, counted from 1; 0: bench chooses
	Server Server
}

// PeerFields are what a component's command: may ask of the components before it,
// as ${NAME.FIELD}.
func PeerFields() []string { return recipe.PeerFields() }

// ServerOf is the recipe of a component; "" stands for the variant's own.
func (v Variant) ServerOf(component string) Server {
	for _, c := range v.Components {
		if c.Name == component {
			return c.Server
		}
	}
	return v.Server
}

// Server is the recipe of a variant, the shared server: block merged in.
type Server struct {
	Launcher   string   // "vllm", "llamacpp", "sglang", "tgi", "trtllm", "ollama", "command", "external", "simulator"
	Model      string   // what the engine loads; for a local file an absolute path
	ServedName string   // name in requests and /v1/models; "": the launcher decides
	Binary     []string // program and leading arguments; nil: the launcher's own
	Command    []string // launcher command: the whole argv; ${host}, ${port}, ${model} are filled in at launch
	Args       []Arg
	SimArgs    []Arg // of the simulator that takes the server's place under --sim
	Env        map[string]EnvValue
	BaseURL    string // launcher external
	UnixSocket string // launcher external: absolute; "": TCP
	TLS        TLS    // launcher external
	Host       string // address to listen on
	Port       int    // 0: the launcher's default, or the next free one
	GPUs       GPUs
	Replicas   int
	Nodes      int    // of a Slurm job, over which one server extends; 0: 1
	Interface  string // of a network, or ADDRESS/BITS, by which its nodes reach each other; "": as the scheduler says
	API        string // dialect of the command launcher's server: "openai" or "llamacpp"
	APIKey     EnvValue
	WorkDir    string // "": the scenario's folder
	CPUs       string // that it may use, as Linux lists them; "": any
	NUMA       string // node that it runs on, or "auto"; "": any
	Nice       int    // of its processes, -20 to 19
	Container  Container
	Ready      Ready
	Smoke      Smoke
	Stop       Stop
}

// Arg is one engine argument. Value is nil, bool, json.Number (spelled as in
// the file), string, []any or map[string]any; the launcher decides how each
// becomes a flag.
type Arg struct {
	Name  string
	Value any
	Pos   schema.Pos
}

// EnvValue is a value that may be a secret. Unset asks for the variable to be
// removed from the inherited environment (YAML null).
type EnvValue struct {
	Value   string
	Unset   bool
	Inherit bool // taken from the environment that bench itself has, also where bench would remove it
	Secret  bool // came from ${env:NAME} or its name says so; shown as "***"
}

// GPUs says which GPUs a server gets. The zero value leaves it to the
// launcher: tensor x pipeline x data parallel sizes.
type GPUs struct {
	Count int   // GPUs a replica; 0: derive
	List  []int // device indices to choose from, in order; nil: all of the machine
	None  bool  // "gpus: none": leave visibility alone
}

// Ready limits the wait until a server truly serves.
type Ready struct {
	Timeout time.Duration // from spawn to first token
	Stall   time.Duration // no sign of life; 0: off
	Path    string        // health path; "": the launcher's own
	Log     string        // launcher command: text that must appear in the log; "": none
}

// TLS says which TLS certificates of the server to accept.
type TLS struct {
	CA       string // absolute path of a PEM file with the authorities to trust; "": the system's
	Insecure bool   // believe any
}

// Stop limits the end of a server.
type Stop struct {
	Grace time.Duration // between SIGTERM and SIGKILL; 0: the launcher's own
	Drain time.Duration // before SIGTERM, until no request is running; 0: no wait
}

// Default is a value that the file did not give.
type Default struct {
	Path  string // "load.burstiness"
	Value string
}

// EnvUse is one ${env:NAME} that was read.
type EnvUse struct {
	Name   string
	Value  string // "***" where Secret
	Secret bool
}

// ArgName is the name under which all spellings of an engine argument meet.
// What follows a dot, a path into a JSON option, is kept.
func ArgName(name string) string { return recipe.Spelling{}.Key(name) }

// Launchers are the kinds of server a scenario may name.
func Launchers() []string { return engines.Names() }

// Kind is the kind of server that the launcher starts; the zero Kind where its
// name is unknown.
func (s *Server) Kind() engines.Kind {
	kind, _ := engines.Lookup(s.Launcher)
	return kind
}

// Variant is the variant of a name; ok is false where the scenario has none.
func (s *Scenario) Variant(name string) (v Variant, ok bool) {
	for _, v := range s.Variants {
		if v.Name == name {
			return v, true
		}
	}
	return Variant{}, false
}
