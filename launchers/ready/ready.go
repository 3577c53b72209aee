package ready

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

const (
	minPoll = 100 * time.Millisecond
	// MaxPoll is the longest pause between two probes of a server.
	MaxPoll = time.Second

	// MaxStrikes is how often in sequence an answer must come that looks final
	// but could be a moment of a server's start.
	MaxStrikes = 3
)

// Causes of a context that ends the wait for a server.
var (
	ErrTooLate = errors.New("ready timeout")   // the start took longer than Ready.Timeout
	ErrStalled = errors.New("no sign of life") // no log and no CPU time for Ready.Stall
)

// Stage is one step of the readiness ladder.
type Stage struct {
	Name string // of the results.Phase
	What string // what is being waited for, in messages
	Try  func(context.Context) Step
}

// Step is what one try of a rung gave: done, or final, or an answer to show if
// the time runs out.
type Step struct {
	Done   bool
	Final  *results.Failure
	Answer string
}

// Progress is how far the start of a server has come.
type Progress struct {
	limits   recipe.Ready
	began    time.Time
	onChange func(what string) // gets what is waited for, whenever that changes; nil: nobody does

	mu     sync.Mutex // guards all below
	stage  string     // that is being waited for
	phases []results.Phase
}

// NewProgress is a server that was started at a time.
func NewProgress(limits recipe.Ready, began time.Time, onChange func(what string)) *Progress {
	return &Progress{limits: limits, began: began, onChange: onChange}
}

// Run passes the stages in order and returns nil after the last one. ctx must
// be cancelled with a *results.Failure, ErrTooLate or ErrStalled as its cause,
// or by the user.
func (r *Progress) Run(ctx context.Context, ladder []Stage) *results.Failure {
	last := ""
	for _, next := range ladder {
		r.setStage(next.What)
		shortest, longest := minPoll, MaxPoll
		if r.limits.Poll > 0 {
			shortest, longest = r.limits.Poll, r.limits.Poll
		}
		for wait := shortest; ; wait = min(wait*3/2, longest) {
			result := next.Try(ctx)
			if result.Done && ctx.Err() == nil {
				r.pass(next.Name)
				break
			}
			if ctx.Err() == nil && result.Final != nil {
				return result.Final
			}
			if ctx.Err() == nil {
				last = result.Answer
			}
			if !sleep.For(ctx, wait) {
				return r.giveUp(ctx, last)
			}
		}
	}

	return nil
}

// setStage records what is waited for from now on.
func (r *Progress) setStage(what string) {
	if r.onChange != nil {
		r.onChange(what)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stage = what
}

// Current is what is being waited for.
func (r *Progress) Current() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stage
}

// Spoke records that the server has written its first line.
func (r *Progress) Spoke() { r.pass("output") }

// pass records a rung with its time.
func (r *Progress) pass(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.phases = append(r.phases, results.Phase{Name: name, AtS: time.Since(r.began).Seconds()})
}

// Passed lists the rungs that are behind the server, with their times.
func (r *Progress) Passed() []results.Phase {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.phases)
}

// giveUp turns the cause of a done ctx into a failure.
func (r *Progress) giveUp(ctx context.Context, last string) *results.Failure {
	cause := context.Cause(ctx)
	if failure, ok := errors.AsType[*results.Failure](cause); ok {
		return failure
	}
	if last == "" {
		last = "none yet"
	}

	where := fmt.Sprintf("waiting for %s (reached: %s); last answer: %s", r.Current(), r.reached(), last)
	switch {
	case errors.Is(cause, ErrTooLate):
		return results.Failf(results.FailReadyTimeout, "no token within ready.timeout %v, %s", r.limits.Limit(), where)
	case errors.Is(cause, ErrStalled):
		return results.Failf(results.FailReadyStall, "no log output and no CPU time for ready.stall %v, %s",
			r.limits.Stall, where)
	}

	return results.Interrupted(ctx, where)
}

// reached lists the rungs passed, with health and its status as people know
// them: "alive, tcp, health 200".
func (r *Progress) reached() string {
	var names []string
	for _, phase := range r.Passed() {
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
