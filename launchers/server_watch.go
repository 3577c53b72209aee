package launchers

import (
	"cmp"
	"fmt"
	"time"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/logs"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/launchers/serverlog"
	"github.com/benchrig/bench/results"
)

const (
	watchStart = 50 * time.Millisecond  // between looks at the log while starting
	watchServe = 250 * time.Millisecond // while serving
	usagePoll  = time.Second            // between looks at CPU time while starting
	filesEvery = 6                      // looks at the process tree to one at its files while serving
	treeEvery  = 20                     // of the looks at the log to one at the process tree

	// ownEndTime is how long a start continues after a fatal line without any
	// sign of life: an engine that fails ends by itself, within 8 s where a
	// signal in the meantime would hang it. quietTime is the same for one that
	// computes but logs nothing.
	ownEndTime = 15 * time.Second
	quietTime  = 2 * time.Minute

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
	doom := doomed{server: s}
	stopwatch := awake.Start()

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
		if lost := stopwatch.Look().Stopped; lost > 0 {
			s.setBack(lost)
			doom.setBack(lost)
		}
		if time.Since(looked) > s.watchPause()*treeEvery {
			_ = s.lookAtTree(looks%s.filesEvery() == 0) // whoever writes the journal next meets the same error
			looked = time.Now()
			looks++
		}
		moved := s.log.Read()
		s.noteFirstWords(moved)
		if doom.now() {
			s.fail(s.fatalFailure(s.log.FatalLine()))
			return
		}
		if s.spec.Ready.Stall > 0 && s.stalledNow(moved) {
			stalled()
			stalled = func() {}
		}
	}
}

// setBack takes time in which this program was stopped out of what the server's
// silence is measured by: it may have been stopped as well.
func (s *Server) setBack(lost time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastMov = s.lastMov.Add(lost)
	s.fatalAt = later(s.fatalAt, lost)
}

// noteFirstWords records when a server wrote its first line, where its start is
// measured.
func (s *Server) noteFirstWords(moved bool) {
	if s.spec.Ready.Poll == 0 || s.spoke || !moved {
		return
	}
	s.spoke = true
	s.readiness.Spoke()
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
// Ready.Stall: a byte of log, CPU time, bytes read from storage. Of a job step the
// last two cannot be seen, so that nothing is said of such a server.
func (s *Server) stalledNow(moved bool) bool {
	s.mu.Lock()
	ready, last, since := s.ready, s.lastUse, time.Since(s.lastMov)
	s.mu.Unlock()
	if ready || s.spec.Span.Step {
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
		failure = s.fatalFailure(match)
	case code == exitUsage && usage != "":
		failure = results.Failf(results.FailBadFlag, "server log says %q: %s", text.Shorten(usage), logs.HintVersion)
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
	class, text := s.process.Explain()
	failure.Class = cmp.Or(class, failure.Class)
	if text != "" {
		failure.Message += "; " + text
	}
}

// fatalFailure is the failure that a fatal line of the log stands for. Where the
// line only says that a part of the engine is gone, the kernel may know more.
func (s *Server) fatalFailure(match *serverlog.FatalMatch) *results.Failure {
	failure := match.Failure(s.log.Cause())
	if s.process == nil || !match.Vague() {
		return failure
	}
	if class, text := s.process.Explain(); class == results.FailOutOfMemory {
		failure.Class = class
		failure.Message += "; " + text
	}
	return failure
}

// doomed decides when a start whose log holds a fatal line is given up: once
// the server shows no sign of life any more. One that serves is judged by its
// answers.
type doomed struct {
	server   *Server
	lines    int // of progress in the log
	lastLine time.Time
	lastWork time.Time // CPU time, or something read from storage
	looked   time.Time // at the tree's use
	use      process.Usage
}

// setBack takes time in which this program was stopped out of the silence.
func (d *doomed) setBack(lost time.Duration) {
	d.lastLine, d.lastWork = later(d.lastLine, lost), later(d.lastWork, lost)
}

// later is a moment that much later; no moment stays none.
func later(at time.Time, by time.Duration) time.Time {
	if at.IsZero() {
		return at
	}
	return at.Add(by)
}

// now reports whether the start is given up.
func (d *doomed) now() bool {
	s := d.server
	if !s.log.FatalLine().Ends() || s.serves() {
		return false
	}

	s.mu.Lock()
	if s.fatalAt.IsZero() {
		s.fatalAt = time.Now()
	}

	s.mu.Unlock()
	if lines := s.log.Progress(); lines != d.lines || d.lastLine.IsZero() {
		d.lines, d.lastLine = lines, time.Now()
	}
	if passed := time.Since(d.looked); passed >= usagePoll {
		use, err := s.process.Usage()
		if err == nil && worked(d.use, use, min(passed, usagePoll)) {
			d.lastWork = time.Now()
		}
		d.use, d.looked = use, time.Now()
	}

	quiet, idle := time.Since(d.lastLine), time.Since(d.lastWork)
	return quiet >= s.patience() && idle >= s.patience() || quiet >= quietTime
}

// serves reports whether the server has answered with a token.
func (s *Server) serves() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready
}

// patience is how long a server gets to end by itself after a fatal line.
func (s *Server) patience() time.Duration { return cmp.Or(s.ownEnd, ownEndTime) }

// awaitOwnEnd lets a start that has logged a fatal line end by itself, so that
// its exit code is its own: a signal at that time hangs some engines.
func (s *Server) awaitOwnEnd() {
	s.log.Read() // what it has said since the last look

	s.mu.Lock()
	if s.fatalAt.IsZero() && s.log.FatalLine().Ends() {
		s.fatalAt = time.Now()
	}
	serves, seen := s.ready, s.fatalAt
	s.mu.Unlock()
	if serves || seen.IsZero() {
		return
	}

	timer := time.NewTimer(s.patience() - time.Since(seen))
	defer timer.Stop()
	select {
	case <-s.process.Done():
	case <-s.killNow:
	case <-timer.C:
	}
}

// withEvidence is a failure of a start as its log explains it, if it does.
func (s *Server) withEvidence(failure *results.Failure) *results.Failure {
	if s.log == nil || !s.log.FatalLine().Ends() {
		return failure
	}
	combined := s.fatalFailure(s.log.FatalLine())
	switch failure.Class {
	case results.FailSmoke:
		combined.Message += "; at the smoke request: " + failure.Message
	case results.FailReadyTimeout, results.FailReadyStall, results.FailHTTP:
		combined.Message += "; " + failure.Message
	default:
		return failure
	}
	combined.HTTPStatus = failure.HTTPStatus
	return combined
}

// stage says what a starting server was waited for, "" once it serves.
func (s *Server) stage() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready || s.readiness == nil || s.readiness.Current() == "" {
		return ""
	}
	return ", waiting for " + s.readiness.Current()
}

func describeExit(code int) string {
	const signalBase = 128
	if code > signalBase {
		return fmt.Sprintf("was killed by signal %d (exit code %d)", code-signalBase, code)
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
