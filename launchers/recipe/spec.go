// Package recipe holds what one server is to be started with: the Spec, and
// the rules that are the same for every engine, which are how options are
// spelled, which variables a server inherits, and which GPUs it sees.
//
// What goes in: the fields of a Spec. What comes out: words of a command line
// and an environment. It knows no engine and starts nothing.
package recipe

import (
	"cmp"
	"crypto/tls"
	"time"

	"github.com/benchrig/bench/internal/cpus"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/ports"
	"github.com/benchrig/bench/launchers/vram"
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
	Inherit    []string          // kept in it, also where it would be removed
	Secrets    []string          // values never to be shown or written
	BaseURL    string            // launcher external
	// launcher external: of the API's paths behind BaseURL, where requests have it in their own; "": none
	PathPrefix string
	UnixSocket string      // launcher external: the socket to connect to, whatever BaseURL says; "": TCP
	TLS        *tls.Config // launcher external, for https; nil: the system's roots
	Host       string
	Port       int
	GPUs       []int    // device indices; nil: leave visibility alone
	Devices    []string // ids of those GPUs for the proof of stop, as GPUMemory names them; nil: unknown
	Vendor     string   // "amd", "nvidia", "": decides the visibility variable
	API        string   // dialect of a command launcher's server: "openai" or "llamacpp"
	APIKey     string
	Headers    map[string]string // of every request, in place of the key's where it has the same name
	Dir        string            // working directory
	LogPath    string            // file for stdout and stderr
	OutputPath string            // file for the figures of a program that measures; "": a plan, which has no folder yet
	Ready      Ready
	Smoke      Smoke         // zero: none
	Answer     Smoke         // shows that it works where a token cannot: numbers come, audio goes; zero: a token does
	StopGrace  time.Duration // 0: the kind's own
	Drain      time.Duration // before SIGTERM, until no request is running; 0: no wait
	VRAM       vram.Policy
	Container  container.Options // zero: a process of ours
	Life       string            // id of the server life, for the journal
	Replica    int
	Replicas   int        // of the variant, 0 and 1 alike
	Cookie     string     // identifies our process trees; put into the environment as BENCH_COOKIE
	Span       Span       // zero: the server is on this machine alone
	Place      cpus.Place // on which CPUs it runs; zero: wherever bench may

	// Component is the name of a server that is one of several parts; "": it is a
	// server by itself. Inner: requests go to another component. Peers are servers
	// of the components before it.
	Component string
	Inner     bool
	Peers     []Peer
	// SideChannel is a port at which components find each other's memory; 0: the
	// engine's own choice
	SideChannel int

	OnReadinessChange func(rung string) // gets what a start is waited for, whenever that changes; nil: nobody does
}

// Reached is the host at which clients and other components reach the server.
func (s Spec) Reached() string {
	reached := ports.Reachable(s.Host)
	if len(s.Span.Nodes) == 1 && reached != s.Host {
		return s.Span.Nodes[0].Address // it listens on all of the node's
	}
	return reached
}

// Peer is a server of another component.
type Peer struct {
	Component         string
	Host              string // at which the others reach it
	Port, SideChannel int
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
	Poll    time.Duration // between looks at a start whose time is measured; 0: as seldom as suffices to use it
}

// readyTimeout applies where the recipe gives none: a large model's cold start
// with compilation takes longer than people expect.
const readyTimeout = 30 * time.Minute

// Limit is how long a start may take, from the spawn to the first token.
func (r Ready) Limit() time.Duration { return cmp.Or(r.Timeout, readyTimeout) }

// Command is what a recipe becomes.
type Command struct {
	Argv []string          // nil for an external server
	Env  map[string]string // added or changed; the recipe's, visibility and hygiene variables included

	Step []string // further options of srun, if the program is a job step

	// Unset is removed from the inherited environment before Env is applied.
	// An entry that ends in * stands for all names with that beginning.
	Unset []string
}

// Smoke is a request that must succeed before anything is measured. A server
// may start and list its model and still fail at its first real request.
type Smoke struct {
	Path string         // "": no such request
	Body map[string]any // sent as it stands
	WAV  []byte         // sent with Body as a form; nil: Body goes as JSON
}
