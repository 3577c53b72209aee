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

	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
)

// Server is a server that serves.
type Server interface {
	Info() results.Server
	// Done is closed when the server ended without being asked, or when its
	// log says that it cannot go on; Failure then says why.
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
}

// Driver sends prompts and emits a record for each.
type Driver interface {
	Run(ctx context.Context, opts load.Options, prompts []load.Prompt, emit load.Emit) (results.ClientReport, error)
}
