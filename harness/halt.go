package harness

import "github.com/benchrig/bench/results"

// halt is why nothing more of a run is started. Several causes may come
// together; the gravest one is kept, and of equals the first.
type halt struct{ why *results.Failure }

// set halts the run for a reason, unless it is halted for a graver one.
func (h *halt) set(why *results.Failure) {
	if h.why == nil || gravity(why.Class) > gravity(h.why.Class) {
		h.why = why
	}
}

// gravity orders causes by what they mean for whoever comes next: a server that
// may still run spoils every measurement on the machine, a full disk every
// record.
func gravity(class results.FailureClass) int {
	switch class {
	case results.FailNoProof:
		return 2
	case results.FailDisk:
		return 1
	default:
		return 0
	}
}
