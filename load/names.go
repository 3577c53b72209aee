package load

import (
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
)

// What a pass takes, by the names that its users know.
type (
	Prompt   = dialect.Prompt
	Turn     = dialect.Turn
	Sampling = spec.Sampling
	Timeouts = spec.Timeouts
)

// The values of Options.Transport.
const (
	TransportSockets = spec.TransportSockets
	TransportHTTP    = spec.TransportHTTP
)

// APIs lists the dialects, the most common first.
func APIs() []dialect.API { return dialect.APIs() }
