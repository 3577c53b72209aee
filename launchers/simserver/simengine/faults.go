package simengine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FaultKind names something that goes wrong on purpose.
type FaultKind string

// Faults that concern request n count generation requests from 1, warm-up and
// readiness requests included. Those that strike in a stream do so after its
// third token.
const (
	FaultCrash      FaultKind = "crash"       // the process exits with code 1 in request n
	FaultExit0      FaultKind = "exit0"       // engine death in request n, exit code 0
	FaultHang       FaultKind = "hang"        // from request n on no request gets a token; /health stays 200
	FaultStall      FaultKind = "stall"       // request n alone gets no further tokens
	FaultError      FaultKind = "error"       // an error object in the stream of request n
	FaultTruncate   FaultKind = "truncate"    // the connection of request n is cut
	FaultRefuse     FaultKind = "refuse"      // request n gets 503, or the status given as refuse@n:429
	FaultSlowStart  FaultKind = "slow-start"  // slow-start@30s: so much longer to load
	FaultOOM        FaultKind = "oom"         // out of memory at the start, exit code 1
	FaultWrongModel FaultKind = "wrong-model" // another model is served
	FaultIgnoreTerm FaultKind = "ignore-term" // SIGTERM is ignored
	FaultNoTokens   FaultKind = "no-tokens"   // healthy, but never a token
	// wrong-answers@8: with so many requests or more in flight, answers are others from their fourth token on
	FaultWrongAnswers  FaultKind = "wrong-answers"
	FaultCachedAnswers FaultKind = "cached-answers" // a prompt that was answered before is answered at once
)

// faultAfterTokens is how many tokens a stream has had when its fault strikes.
const faultAfterTokens = 3

// Fault is one thing that goes wrong.
type Fault struct {
	Kind    FaultKind
	Request int           // which request, from 1; 0 where the kind has none
	Delay   time.Duration // slow-start
	Status  int           // refuse

	InFlight int // wrong-answers: number of requests
}

// CrashError says that a crash fault was reached and Config.Exit was nil or
// returned.
type CrashError struct {
	Fault FaultKind
	Code  int // exit code the process was to end with
}

func (e *CrashError) Error() string {
	return fmt.Sprintf("serve: simulated fault %s reached (exit code %d)", e.Fault, e.Code)
}

// ParseFault reads kind, kind@n, slow-start@duration or refuse@n:status.
func ParseFault(text string) (Fault, error) {
	kind, arg, hasArg := strings.Cut(text, "@")
	f := Fault{Kind: FaultKind(kind)}
	var err error
	switch f.Kind {
	case FaultCrash, FaultExit0, FaultHang, FaultStall, FaultError, FaultTruncate:
		f.Request, err = faultRequest(arg)
	case FaultWrongAnswers:
		f.InFlight, err = faultRequest(arg)
	case FaultRefuse:
		f, err = parseRefuse(arg)
	case FaultSlowStart:
		f.Delay, err = time.ParseDuration(arg)
		if err == nil && f.Delay < 0 {
			err = fmt.Errorf("%v is negative", f.Delay)
		}
	case FaultOOM, FaultWrongModel, FaultIgnoreTerm, FaultNoTokens, FaultCachedAnswers:
		if hasArg {
			err = fmt.Errorf("%s takes no argument", kind)
		}
	default:
		err = fmt.Errorf("unknown kind %q; known are crash, exit0, hang, stall, error, truncate, refuse, slow-start, "+
			"oom, wrong-model, ignore-term, no-tokens, wrong-answers, cached-answers", kind)
	}

	if err != nil {
		return Fault{}, fmt.Errorf("parse fault %q: %w", text, err)
	}

	return f, nil
}

func parseRefuse(arg string) (Fault, error) {
	number, status, hasStatus := strings.Cut(arg, ":")
	f := Fault{Kind: FaultRefuse, Status: 503}
	var err error
	if f.Request, err = faultRequest(number); err != nil {
		return f, err
	}
	if hasStatus {
		f.Status, err = strconv.Atoi(status)
		if err != nil || f.Status < 400 || f.Status > 599 {
			return f, fmt.Errorf("status %q is not between 400 and 599", status)
		}
	}
	return f, nil
}

func faultRequest(arg string) (int, error) {
	n, err := strconv.Atoi(arg)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("want @n with the number of a request from 1, got %q", arg)
	}
	return n, nil
}

// String writes a fault as ParseFault reads it.
func (f Fault) String() string {
	switch {
	case f.Kind == FaultSlowStart:
		return fmt.Sprintf("%s@%s", f.Kind, f.Delay)
	case f.Kind == FaultRefuse:
		return fmt.Sprintf("%s@%d:%d", f.Kind, f.Request, f.Status)
	case f.InFlight > 0:
		return fmt.Sprintf("%s@%d", f.Kind, f.InFlight)
	case f.Request > 0:
		return fmt.Sprintf("%s@%d", f.Kind, f.Request)
	}
	return string(f.Kind)
}

// AnswersWrong reports whether the fault wrong-answers strikes with so many requests
// in flight.
func (c Config) AnswersWrong(inFlight int) bool {
	return slices.ContainsFunc(c.Faults, func(f Fault) bool {
		return f.Kind == FaultWrongAnswers && inFlight >= f.InFlight
	})
}

// FaultOf returns the fault of the n-th request.
func (c Config) FaultOf(n int) (Fault, bool) {
	i := slices.IndexFunc(c.Faults, func(f Fault) bool { return f.Request == n && n > 0 })
	if i < 0 {
		return Fault{}, false
	}
	return c.Faults[i], true
}

// StartDelay is what slow-start faults add to the load time.
func (c Config) StartDelay() time.Duration {
	var d time.Duration
	for _, f := range c.Faults {
		d += f.Delay
	}
	return d
}
