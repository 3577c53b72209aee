package launchers

import (
	"context"
	"time"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/results"
)

// execution is a server as it runs: a process tree of ours, or a container,
// whose processes are another program's children.
type execution interface {
	lifetime
	members
	ending
}

// lifetime says what runs and whether it still does.
type lifetime interface {
	Info() results.Process // Port is the caller's to fill in
	Done() <-chan struct{} // closed when the leader has ended
	Exit() (code int, ok bool)
	// Explain says what the kernel or the container engine knows of the end of the
	// leader or of a part of it, "" for nothing.
	Explain() (class results.FailureClass, reason string)
}

// members are the processes of an execution, as this machine sees them.
type members interface {
	Tree() ([]proc.Process, error)
	Usage() (process.Usage, error)
}

// ending ends an execution with everything that belongs to it; see
// process.Process.
type ending interface {
	Stop(ctx context.Context, grace time.Duration) (results.Proof, error)
	KillNow()
}
