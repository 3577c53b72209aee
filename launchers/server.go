package launchers

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/endpoint"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/ports"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/launchers/ready"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/serverlog"
	"github.com/benchrig/bench/launchers/shm"
	"github.com/benchrig/bench/launchers/vram"
	"github.com/benchrig/bench/results"
)

// Server is one server that has answered with a token, until Stop.
type Server struct {
	*endpoint.Endpoint

	kind    engines.Kind
	spec    recipe.Spec
	redact  recipe.Redaction
	journal func(results.Event) error

	limits  container.Limits
	process execution      // nil: external, not ours to start or stop
	release func()         // called when the server is proven gone
	log     *serverlog.Log // nil: external
	began   time.Time      // the spawn
	ownEnd  time.Duration  // see patience; 0: the usual
	private string         // folder that goes with the server; "": it has none

	readiness *ready.Progress // nil before the spawn, and of a program that never serves

	companions *companions   // what runs beside it, here and on other nodes; nil: nothing
	beside     []servingNode // those of its companions that take requests

	claim *vram.Claim // nil: memory of GPUs is not looked at
	shm   *shm.Use    // its files in shared memory

	killNow     chan struct{} // closed by requestKill
	killNowOnce sync.Once

	watching sync.WaitGroup // the goroutine that watches process and log
	quit     chan struct{}  // closed to end it
	failed   chan struct{}  // closed when failure is set

	mu      sync.Mutex // guards all below
	info    results.Server
	failure *results.Failure
	ready   bool
	fatalAt time.Time // when a fatal line of the start was seen
	lastUse process.Usage
	spoke   bool      // its first line was seen; of the goroutine that watches
	lastMov time.Time // of the last sign of life
	noted   []results.Member

	stopMu  sync.Mutex // held while Stop works
	stopped bool       // guarded by stopMu
	proof   results.Proof
}

// Info says which server this is and how it became ready. Counters are the
// caller's to fill in.
func (s *Server) Info() results.Server {
	drafting := s.Drafting()
	s.mu.Lock()
	defer s.mu.Unlock()
	info := s.info
	info.Speculation, info.Model, info.Simulated = drafting, s.Model(), s.Simulated()
	if s.readiness != nil {
		info.ReadyPhases = s.readiness.Passed()
	}
	return info
}

// Done is closed when the server ends unasked or logs a line that no server
// survives. It is never closed for an external server, nor by Stop.
func (s *Server) Done() <-chan struct{} { return s.failed }

// Failure says why Done is closed; nil while it is not.
func (s *Server) Failure() *results.Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}

// Stop ends the server with all its processes and proves that they are gone
// and the port is free. A done ctx means SIGKILL at once, not giving up. Stop
// may be called again; an external server is left alone.
func (s *Server) Stop(ctx context.Context) (results.Proof, error) {
	if s.process == nil {
		return results.Proof{}, nil
	}

	unhook := context.AfterFunc(ctx, s.requestKill)
	defer unhook()

	s.stopMu.Lock()
	defer s.stopMu.Unlock()

	if s.stopped {
		return s.proof, nil
	}

	s.endWatch()
	_ = s.lookAtTree(true) // whoever writes the journal next meets the same error
	s.companions.expectEnd()
	var errs []error
	if failure := s.Failure(); failure != nil {
		errs = append(errs, s.write(results.Event{Kind: results.LifeFailed, Failure: failure}))
	}

	errs = append(errs, s.write(results.Event{Kind: results.LifeStopping, Message: s.drain(ctx, s.killNow)}))
	failure := s.end(ctx)
	errs = append(errs, s.write(results.Event{
		Kind: results.LifeStopped, Proof: &s.proof, Failure: failure,
		Message: shm.Describe(s.proof.ShmLeft),
	}))
	if failure != nil {
		return s.proof, failure
	}

	s.log.Close()
	s.release()
	return s.proof, cmp.Or(errs...)
}

// end stops the server's processes and fills in the proof. The caller holds
// stopMu.
func (s *Server) end(ctx context.Context) *results.Failure {
	began, base := time.Now(), context.WithoutCancel(ctx)
	s.awaitOwnEnd()
	if s.spec.Span.Step {
		s.companions.sweepFirst(base, s.killNow)
	}
	quit := s.askAgain()
	proof, err := s.process.Stop(ctx, s.grace())
	quit()
	proof.PortFree = s.awaitPortFree(base, proof.PIDsGone)
	var memory, beside *results.Failure
	proof.Nodes, beside = s.companions.stop(base, s.killNow) // processes of its here may hold the memory
	if err == nil && beside == nil {
		proof.VRAM, memory = s.claim.Prove(base, s.killNow, s.endStray)
		proof.ShmRemoved, proof.ShmLeft = s.shm.Leave()
		_ = cleanup.RemovePrivate(s.private) // nobody uses it, whatever memory and port do
		proof.StopS = time.Since(began).Seconds()
	}

	s.proof, s.stopped = proof, proof.Clean() && beside == nil
	switch {
	case err != nil:
		return results.Failf(results.FailNoProof, "%v", err)
	case beside != nil:
		return beside
	case memory != nil:
		return memory
	case !proof.PortFree:
		return results.Failf(results.FailNoProof, "port %d is still in use after the server stopped%s", s.spec.Port,
			ports.Holder(s.spec.Port))
	}

	return nil
}

// grace is the time from SIGTERM to SIGKILL.
func (s *Server) grace() time.Duration { return cmp.Or(s.spec.StopGrace, s.kind.StopGrace) }

// portHere is the port at which the server's own process tree listens; 0: none.
func (s *Server) portHere() int {
	if s.spec.Span.Step {
		return 0
	}
	return s.spec.Port
}

// awaitPortFree reports whether the server listens on its port no more: nobody does,
// or, where its processes are gone, others do.
func (s *Server) awaitPortFree(ctx context.Context, gone bool) bool {
	switch {
	case s.spec.Port == 0:
		return true
	case s.spec.Span.Away:
		return ports.AwaitSilence(ctx, s.spec.Reached(), s.spec.Port)
	}
	_, here := s.process.(*process.Process)
	return ports.AwaitFree(ctx, s.spec.Host, s.spec.Port) || here && gone && ports.TakenOver(s.spec.Host, s.spec.Port)
}

// requestKill makes a stop, running or to come, go straight to SIGKILL.
func (s *Server) requestKill() {
	s.killNowOnce.Do(func() { close(s.killNow) })
	s.process.KillNow()
}

// endStray ends a process that is the server's although all of them seemed to
// be gone, and reports whether it is.
func (s *Server) endStray(pid int) (bool, error) {
	if tree, ok := s.process.(*process.Process); ok {
		return tree.EndStray(pid)
	}
	return false, nil // what runs in a container is the engine's to know
}

// OwnPIDs are the server's living processes, for those who ask which holders
// of a GPU are ours; none of an external server.
func (s *Server) OwnPIDs() []int {
	if s.process == nil {
		return nil
	}
	procs, _ := s.process.Tree() // what cannot be listed is not shown to be ours
	var pids []int
	for _, p := range procs {
		pids = append(pids, p.PID)
	}
	return append(pids, s.companions.ownPIDs()...)
}

// write puts an event of this life into the journal.
func (s *Server) write(event results.Event) error {
	event.Life, event.Replica = s.spec.Life, s.spec.Replica
	if event.Kind == results.LifeStarting && event.Process != nil {
		event.Process.VRAM = s.claim.Baseline()
		event.Process.GraceS = s.grace().Seconds()
		event.Process.OrphanGraceS = s.kind.OrphanGrace.Seconds()
		event.Message = s.claim.Notes()
	}
	if s.journal == nil {
		return nil
	}
	if err := s.journal(event); err != nil {
		return results.Failf(results.FailDisk, "write journal event %s: %v", event.Kind, err)
	}
	return nil
}

// fail records the first failure and closes Done.
func (s *Server) fail(failure *results.Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil {
		return
	}
	s.failure = s.clean(failure)
	close(s.failed)
}

// clean hides secrets in a failure and adds the log's end.
func (s *Server) clean(failure *results.Failure) *results.Failure {
	f := *failure
	f.Message = s.redact.Text(f.Message)
	if about := s.about(); !strings.HasPrefix(f.Message, about) {
		f.Message = about + f.Message
	}
	if s.log != nil && f.LogTail == nil {
		f.LogTail = s.redact.Lines(s.log.Excerpt())
	}
	return &f
}

// about begins the messages of a server that is one of several parts: it names the
// part, and its node if that is not this machine.
func (s *Server) about() string {
	switch {
	case s.spec.Component == "":
		return ""
	case s.spec.Span.Away:
		return "component " + s.spec.Component + " on node " + s.spec.Span.Self().Name + ": "
	}
	return "component " + s.spec.Component + ": "
}

// sinceSpawn formats the server's age for messages.
func (s *Server) sinceSpawn() string {
	return fmt.Sprintf("%.1f s", time.Since(s.began).Seconds())
}

// askAgain sends SIGTERM once more, during a stop, to a server that may have
// lost the first one in its start. quit ends that.
func (s *Server) askAgain() (quit func()) {
	tree, ok := s.process.(interface{ Terminate() })
	if !ok || s.kind.ReadyForTerm == nil || s.serves() || s.log == nil {
		return func() {}
	}

	mark, unmark := s.log.Mark(s.kind.ReadyForTerm, nil)
	done := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		defer unmark()
		ticker := time.NewTicker(watchStart)
		defer ticker.Stop()
		takesTerm, again := false, time.Time{}
		for {
			select {
			case <-done:
				return
			case <-mark.Saw:
				takesTerm = true
			case <-ticker.C:
				s.log.Read()
			}
			if takesTerm && time.Since(again) >= askAgainTime {
				tree.Terminate()
				again = time.Now()
			}
		}
	})

	return sync.OnceFunc(func() { close(done); asking.Wait() })
}

// askAgainTime is the time between two such signals.
const askAgainTime = 5 * time.Second
