package launchers

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/launchers/endpoint"
	"github.com/benchrig/bench/launchers/ports"
	"github.com/benchrig/bench/launchers/shm"
	"github.com/benchrig/bench/launchers/vram"
	"github.com/benchrig/bench/results"
)

// Server is one server that has answered with a token, until Stop.
type Server struct {
	*endpoint.Endpoint
	*started
	*watcher
	portOwner

	journal func(results.Event) error
	release func() // called when the server is proven gone

	companions *companions   // what runs beside it, here and on other nodes; nil: nothing
	beside     []servingNode // those of its companions that take requests

	claim *vram.Claim // nil: memory of GPUs is not looked at
	shm   *shm.Use    // its files in shared memory

	killNowOnce sync.Once

	mu    sync.Mutex // guards info and noted
	info  results.Server
	noted []results.Member

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

// requestKill makes a stop, running or to come, go straight to SIGKILL.
func (s *Server) requestKill() {
	s.killNowOnce.Do(func() { close(s.killNow) })
	s.process.KillNow()
}

// OwnPIDs are the server's living processes, for those who ask which holders
// of a GPU are ours; none of an external server.
func (s *Server) OwnPIDs() []int {
	if s.process == nil {
		return nil
	}
	procs, _ := s.process.Tree() // what cannot be listed is not shown to be ours
	return append(pidsOf(procs), s.companions.ownPIDs()...)
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

// askAgain sends SIGTERM once more, during a stop, to a server that may have
// lost the first one in its start. quit ends that.
func (s *Server) askAgain() (quit func()) {
	tree, ok := s.process.(interface{ Terminate() })
	if !ok || s.kind.Log.ReadyForTerm == nil || s.serving() || s.log == nil {
		return func() {}
	}

	mark, unmark := s.log.Mark(s.kind.Log.ReadyForTerm, nil)
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
