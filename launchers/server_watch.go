package launchers

import (
	"cmp"
	"fmt"
	"time"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/results"
)

const (
	watchStart = 50 * time.Millisecond  // between looks at the log while starting
	watchServe = 250 * time.Millisecond // while serving
	usagePoll  = time.Second            // between looks at CPU time while starting
	filesEvery = 6                      // looks at the process tree to one at its files while serving
	treeEvery  = 20                     // of the looks at the log to one at the process tree

	// lastWords is how long a server gets to end after a fatal line, so that
	// its traceback and exit code belong to the evidence.
	lastWords = 500 * time.Millisecond

	// A server that only answers our probes uses a little CPU time. More than
	// idleCPU, and more than idleShare of the time passed, is work.
	idleCPU   = 30 * time.Millisecond
	idleShare = 0.01
)

// watch follows process and log until the server fails or quit is closed.
// stalled is called, once, when a starting server shows no sign of life for
// Ready.Stall.
func (s *Server) watch(stalled func()) {
	var looked time.Time
	looks := 0 // at the tree
	for {
		timer := time.NewTimer(s.watchPause())
		select {
		case <-s.process.Done():
			timer.Stop()
			s.fail(s.exitFailure())
			return
		case <-s.quit:
			timer.Stop()
			if _, exited := s.process.Exit(); exited {
				s.fail(s.exitFailure()) // it ended before it was asked to
			}
			return
		case <-timer.C:
		}
		if time.Since(looked) > s.watchPause()*treeEvery {
			_ = s.lookAtTree(looks%s.filesEvery() == 0) // whoever writes the journal next meets the same error
			looked = time.Now()
			looks++
		}
		moved := s.log.Read()
		if s.log.FatalLine() != nil {
			s.fail(s.fatalFailure())
			return
		}
		if s.spec.Ready.Stall > 0 && s.stalledNow(moved) {
			stalled()
			stalled = func() {}
		}
	}
}

func (s *Server) watchPause() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready {
		return watchServe
	}
	return watchStart
}

// filesEvery is how many looks at the tree there are to one at its files. That
// one holds up the page faults of the process for a moment, so a server that
// serves has fewer of them.
func (s *Server) filesEvery() int {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.ready {
		return filesEvery
	}
	return 1
}

// endWatch ends the watching goroutine and waits for it.
func (s *Server) endWatch() {
	s.mu.Lock()
	select {
	case <-s.quit:
	default:
		close(s.quit)
	}
	s.mu.Unlock()
	s.watching.Wait()
}

// stalledNow reports whether a starting server has shown no sign of life for
// Ready.Stall: a byte of log, CPU time, bytes read from storage.
func (s *Server) stalledNow(moved bool) bool {
	s.mu.Lock()
	ready, last, since := s.ready, s.lastUse, time.Since(s.lastMov)
	s.mu.Unlock()
	if ready {
		return false
	}
	if !moved && since < min(usagePoll, s.spec.Ready.Stall/2) {
		return false
	}
	now, err := s.process.Usage()
	if err == nil && worked(last, now, since) {
		moved = true
	}
	if moved {
		s.mu.Lock()
		s.lastUse, s.lastMov = now, time.Now()
		s.mu.Unlock()
		return false
	}
	return since >= s.spec.Ready.Stall
}

// worked reports whether the tree did more than answer probes.
func worked(before, now process.Usage, passed time.Duration) bool {
	if now.ReadBytes != before.ReadBytes {
		return true
	}
	used := (now.CPU - before.CPU).Abs() // less: a member of the tree ended
	return used > idleCPU+time.Duration(idleShare*float64(passed))
}

// exitFailure says how the server ended, by a fatal line of its log if there
// is one. Any exit that nobody asked for is a failure: an engine's death ends
// some servers with code 0.
func (s *Server) exitFailure() *results.Failure {
	s.log.ReadLast()
	code, _ := s.process.Exit()
	failure := results.Failf(results.FailExited, "server %s after %s%s%s",
		describeExit(code), s.sinceSpawn(), s.stage(), quoted(s.log.LastLine()))
	match, usage := s.log.FatalLine(), s.log.UsageError()
	switch {
	case match != nil:
		failure = match.Failure(s.log.Cause())
	case code == exitUsage && usage != "":
		failure = results.Failf(results.FailBadFlag, "server log says %q: %s", text.Shorten(usage), engines.HintVersion)
	default:
		s.explain(failure)
	}
	failure.ExitCode = &code
	return failure
}

// explain adds what the execution itself knows of its end.
func (s *Server) explain(failure *results.Failure) {
	if cause := s.log.Cause(); cause != "" {
		failure.Message += fmt.Sprintf("; its first traceback ends with %q", text.Shorten(cause))
	}
	told, ok := s.process.(interface {
		Explain() (results.FailureClass, string)
	})
	if !ok {
		return
	}
	class, text := told.Explain()
	failure.Class = cmp.Or(class, failure.Class)
	if text != "" {
		failure.Message += "; " + text
	}
}

// fatalFailure waits for a server's last words after a fatal line.
func (s *Server) fatalFailure() *results.Failure {
	patience := lastWords
	if boxed, ok := s.process.(*container.Container); ok {
		patience = boxed.LastWords()
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-s.process.Done():
		return s.exitFailure()
	case <-s.quit:
	case <-timer.C:
	}
	s.log.Read()
	return s.log.FatalLine().Failure(s.log.Cause())
}

// stage says what a starting server was waited for, "" once it serves.
func (s *Server) stage() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready || s.readiness == nil || s.readiness.Standing() == "" {
		return ""
	}
	return ", waiting for " + s.readiness.Standing()
}

func describeExit(code int) string {
	const signalBase = 128
	if code > signalBase {
		return fmt.Sprintf("was ended by signal %d (exit code %d)", code-signalBase, code)
	}
	return fmt.Sprintf("exited with code %d", code)
}

func quoted(line string) string {
	if line == "" {
		return ", without a line of log"
	}
	return fmt.Sprintf("; its last line: %q", text.Shorten(line))
}

// exitUsage is the code with which argparse, click and clap end on a wrong
// command line.
const exitUsage = 2
