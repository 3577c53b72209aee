// Package step runs one measured pass of the load client over servers that are
// up, and makes a result of what came back.
//
// What goes in: a load point, servers, a driver. What comes out: prompts and
// options of the client, records, and a results.Result with figures, warnings
// and a verdict. It starts and stops no server, decides nothing about a further
// attempt, and speaks no HTTP.
package step

import (
	"context"
	"slices"
	"time"

	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/launchers"
	"github.com/benchrig/bench/launchers/endpoint"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
)

// Server is a server that serves.
type Server interface {
	Info() results.Server
	// Done is closed when the server ended without being asked, or when its
	// log says that it cannot continue; Failure then says why.
	Done() <-chan struct{}
	Failure() *results.Failure
	// Counters are the server's own counters under the names of package
	// launchers; what it does not have is absent.
	Counters(ctx context.Context) (map[string]float64, error)
	// Tokenize asks the server for the token ids of a text; special: with the
	// tokens that it puts around a prompt.
	Tokenize(ctx context.Context, text string, special bool) ([]int, error)
	// Detokenize asks the server for the text of token ids.
	Detokenize(ctx context.Context, ids []int) (string, error)
	// Stop ends the server and proves that it is gone.
	Stop(ctx context.Context) (results.Proof, error)
	// Abilities are what this server can do beside that.
	Abilities() Abilities
}

// Abilities are what not every server can do; nil: this one cannot.
type Abilities struct {
	// ResetCache forgets what the server has cached. how says what was done; an
	// error, that it was not or that it did not work.
	ResetCache func(ctx context.Context) (how string, err error)
	// Intruder is another process that may have answered some requests; nil:
	// none is to be seen.
	Intruder func(ctx context.Context) *results.Failure
	// Metrics are its gauges and counters.
	Metrics func(ctx context.Context) (map[string]float64, error)
	// Identity asks the server who it is; WrongModel judges what it says.
	Identity   func(ctx context.Context) (endpoint.Identity, error)
	WrongModel func(id endpoint.Identity) *results.Failure
	// URLs are where requests go, passwords included; nil: to the address of Info.
	URLs func() []string
	// PortHolders are those of its processes that listen on its port.
	PortHolders func() []results.Member
	// OwnPIDs are its processes, as the kernel numbers them here.
	OwnPIDs func() []int
}

// Launched is a server of package launchers, which can do all of that.
type Launched struct{ *launchers.Server }

// Abilities implements Server.
func (s Launched) Abilities() Abilities {
	return Abilities{
		ResetCache: s.ResetCache, Intruder: s.Intruder, Metrics: s.Metrics, Identity: s.Identity,
		WrongModel: s.WrongModel, URLs: s.URLs, PortHolders: s.PortHolders, OwnPIDs: s.OwnPIDs,
	}
}

// Driver sends prompts and emits a record for each.
type Driver interface {
	Run(ctx context.Context, opts load.Options, prompts []load.Prompt, emit load.Emit) (results.ClientReport, error)
}

// How long after its connections broke the exit of a server may be noticed: that
// of a process at once, that of a container through its engine, that of a server on
// another node through srun.
const (
	exitNoticeDelay        = time.Second
	distantExitNoticeDelay = 5 * time.Second
)

// waitForExitNotice waits until the exit of a server may have been noticed, where
// requests failed as they do when a server exits. The notice ends ctx with the
// server's last words, which explain more than a connection that broke.
func waitForExitNotice(ctx context.Context, last results.FailureClass, servers []Server) {
	behindRouter := last == results.FailHTTP && slices.ContainsFunc(servers, isInner)
	switch {
	case (last == results.FailTransport || behindRouter) && !slices.ContainsFunc(servers, isDistant):
		sleep.For(ctx, exitNoticeDelay)
	case last == results.FailTransport, last == results.FailConnect, behindRouter:
		sleep.For(ctx, distantExitNoticeDelay)
	}
}

// isDistant reports whether the server is no process tree of this machine.
func isDistant(s Server) bool { return s.Info().Container != nil || s.Info().Node != "" }

// isInner reports whether another component answers for the server, by a status of
// its own if the server is gone.
func isInner(s Server) bool { return s.Info().Inner }
