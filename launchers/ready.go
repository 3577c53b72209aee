package launchers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/results"
)

const (
	minPoll = 100 * time.Millisecond
	maxPoll = time.Second

	// readyTimeout applies where the recipe gives none: a large model's cold
	// start with compilation takes longer than people expect.
	readyTimeout = 30 * time.Minute

	// maxStrikes is how often in sequence an answer must come that looks final
	// but could be a moment of a server's start.
	maxStrikes = 3
)

// errTooLate is the cause of a start that took longer than Ready.Timeout.
var errTooLate = errors.New("ready timeout")

// rung is one step of the readiness ladder.
type rung struct {
	name string // of the results.Phase
	what string // what is being waited for, in messages
	try  func(context.Context) step
}

// step is what one try of a rung gave: done, or final, or an answer to show if
// the time runs out.
type step struct {
	done   bool
	final  *results.Failure
	answer string
}

// climb goes up the ladder and returns nil once the server has answered with a
// token. ctx must be cancelled with a *results.Failure, errTooLate or
// errStalled as its cause, or by the user.
func (s *Server) climb(ctx context.Context, ladder []rung) *results.Failure {
	last := ""
	for _, r := range ladder {
		s.stand(r.what)
		for wait := minPoll; ; wait = min(wait*3/2, maxPoll) {
			result := r.try(ctx)
			if result.done && ctx.Err() == nil {
				s.passed(r.name)
				break
			}
			if ctx.Err() == nil && result.final != nil {
				return result.final
			}
			if ctx.Err() == nil {
				last = result.answer
			}
			if !sleep.For(ctx, wait) {
				return s.givenUp(ctx, last)
			}
		}
	}
	return nil
}

func (s *Server) stand(what string) {
	if s.spec.Told != nil {
		s.spec.Told(what)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rung = what
}

// passed records a rung with its time.
func (s *Server) passed(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info.ReadyPhases = append(s.info.ReadyPhases, results.Phase{Name: name, AtS: time.Since(s.began).Seconds()})
}

// givenUp turns the cause of a done ctx into a failure.
func (s *Server) givenUp(ctx context.Context, last string) *results.Failure {
	cause := context.Cause(ctx)
	if failure, ok := errors.AsType[*results.Failure](cause); ok {
		return failure
	}
	if last == "" {
		last = "none yet"
	}
	where := fmt.Sprintf("waiting for %s (reached: %s); last answer: %s", s.standing(), s.reached(), last)
	switch {
	case errors.Is(cause, errTooLate):
		return results.Failf(results.FailReadyTimeout, "no token within ready.timeout %v, %s", s.readyLimit(), where)
	case errors.Is(cause, errStalled):
		return results.Failf(results.FailReadyStall, "no log output and no CPU time for ready.stall %v, %s", s.spec.Ready.Stall, where)
	}
	return results.Interrupted(ctx, where)
}

// reached lists the rungs passed, with health and its status as people know
// them: "alive, tcp, health".
func (s *Server) reached() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, phase := range s.info.ReadyPhases {
		name := phase.Name
		if name == "health" {
			name += " 200"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

func (s *Server) readyLimit() time.Duration {
	if s.spec.Ready.Timeout > 0 {
		return s.spec.Ready.Timeout
	}
	return readyTimeout
}
