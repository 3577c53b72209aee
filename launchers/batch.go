package launchers

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// toolLook is how often the processes of a program that measures are looked at:
// rarely, since that takes time of the machine.
const toolLook = 5 * time.Second

// BatchProcess is a program that runs to its end and serves nobody. Its processes are
// owned and proven gone as those of a server are. Stop must be called in any
// case.
type BatchProcess struct {
	server *Server       // its process, log, journal and proof; it never becomes ready
	over   chan struct{} // closed when it has ended, or has stalled
}

// Start starts the program of a kind that serves nothing. It is stalled, and
// fails, when for spec.Ready.Stall it writes no byte of log, uses no CPU time
// and reads nothing from storage. After an error nothing of it is left; the
// error is a *results.Failure.
func (l *Launcher) Start(ctx context.Context, kind engines.Kind, spec recipe.Spec) (*BatchProcess, error) {
	if ctx.Err() != nil {
		return nil, results.Interrupted(ctx, "before the start")
	}
	if spec.Container.Image != "" {
		return nil, results.Failf(results.FailBadRecipe, "%s: it runs without a container: remove the key", kind.Name)
	}

	command, err := Plan(kind, spec)
	if err != nil {
		return nil, results.Failf(results.FailBadRecipe, "%s: %v", kind.Name, err)
	}

	spec.Port = 0
	server, failure := l.begin(ctx, kind, spec, command)
	if failure != nil {
		return nil, failure
	}
	if err := server.spawned(); err != nil {
		return nil, discard(ctx, server, asFailure(err))
	}

	t := &BatchProcess{server: server, over: make(chan struct{})}
	server.group.Go(t.watch)
	return t, nil
}

// Info says what runs.
func (t *BatchProcess) Info() results.Server { return t.server.Info() }

// OwnPIDs are its living processes.
func (t *BatchProcess) OwnPIDs() []int { return t.server.OwnPIDs() }

// Done is closed when the program has ended, or has stalled.
func (t *BatchProcess) Done() <-chan struct{} { return t.over }

// Failure says why the program did not end well; nil if it ended with code 0,
// and while it runs.
func (t *BatchProcess) Failure() *results.Failure { return t.server.Failure() }

// Stop ends what is left of the program and proves that all of it is gone, as
// Server.Stop does.
func (t *BatchProcess) Stop(ctx context.Context) (results.Proof, error) { return t.server.Stop(ctx) }

// watch follows the program until it ends, stalls or is stopped.
func (t *BatchProcess) watch() {
	defer close(t.over)

	s := t.server
	ticker := time.NewTicker(watchServe)
	defer ticker.Stop()

	var looked time.Time
	stopwatch := awake.Start()
	for {
		select {
		case <-s.process.Done():
			t.ended()
			return
		case <-s.quit:
			if _, exited := s.process.Exit(); exited {
				t.ended() // before it was asked to
			}
			return
		case <-ticker.C:
		}
		if lost := stopwatch.Look().Stopped; lost > 0 {
			s.alive.setBack(lost)
		}
		moved := s.log.Read()
		if time.Since(looked) < t.lookPeriod() {
			if moved {
				s.alive.note()
			}
			continue
		}
		looked = time.Now()
		now, err := s.process.Usage() // whoever is a member now stays one in our eyes
		if t.stalled(moved || err == nil && t.worked(now)) {
			s.fail(results.Failf(results.FailNoProgress, "%s has shown no sign of life for %s: no byte of log, "+
				"no CPU time, nothing read from storage", s.kind.Name, s.spec.Ready.Stall))
			return
		}
	}
}

// lookPeriod is shorter where a stall is to be noticed earlier.
func (t *BatchProcess) lookPeriod() time.Duration {
	if stall := t.server.spec.Ready.Stall; stall > 0 {
		return min(toolLook, stall/2)
	}
	return toolLook
}

// worked reports whether the program did something since the last look at it.
func (t *BatchProcess) worked(now process.Usage) bool {
	alive := &t.server.alive
	before := alive.lastUse()
	alive.recordUse(now)
	return worked(before, now, t.lookPeriod())
}

func (t *BatchProcess) stalled(moved bool) bool {
	alive, stall := &t.server.alive, t.server.spec.Ready.Stall
	if moved {
		alive.note()
	}
	return stall > 0 && alive.silence() >= stall
}

// ended says how the program ended: by a fatal line of its log if there is one,
// unless it ended well.
func (t *BatchProcess) ended() {
	s := t.server
	s.log.ReadLast()
	facts := s.log.Serve()
	s.mu.Lock()
	s.info.Version = facts.Version
	s.mu.Unlock()
	if code, _ := s.process.Exit(); code == 0 {
		return
	}
	failure := s.exitFailure("")
	// Those words are about servers.
	if rest, ok := strings.CutPrefix(failure.Message, "server "); ok {
		failure.Message = fmt.Sprintf("%s %s", s.kind.Name, rest)
	}
	s.fail(failure)
}
