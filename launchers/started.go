package launchers

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/logs"
	"github.com/benchrig/bench/launchers/ports"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/launchers/ready"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/serverlog"
	"github.com/benchrig/bench/results"
)

// started is a server as it was started: what it is, what runs, and how its failures
// are told. It does not change once the program runs.
type started struct {
	kind   engines.Kind
	spec   recipe.Spec
	redact recipe.Redaction

	process execution      // nil: external, not ours to start or stop
	log     *serverlog.Log // nil: external
	began   time.Time      // the spawn
	private string         // folder that goes with the server; "": it has none
}

// grace is the time from SIGTERM to SIGKILL.
func (s *started) grace() time.Duration { return cmp.Or(s.spec.StopGrace, s.kind.StopGrace) }

// portHere is the port at which the server's own process tree listens; 0: none.
func (s *started) portHere() int {
	if s.spec.Span.Step {
		return 0
	}
	return s.spec.Port
}

// awaitPortFree reports whether the server no longer listens on its port: nobody does,
// or, where its processes are gone, others do.
func (s *started) awaitPortFree(ctx context.Context, gone bool) bool {
	switch {
	case s.spec.Port == 0:
		return true
	case s.spec.Span.Away:
		return ports.AwaitSilence(ctx, s.spec.Reached(), s.spec.Port)
	}
	_, here := s.process.(*process.Process)
	return ports.AwaitFree(ctx, s.spec.Host, s.spec.Port) || here && gone && ports.TakenOver(s.spec.Host, s.spec.Port)
}

// endStray ends a process that is the server's although all of them seemed to
// be gone, and reports whether it is.
func (s *started) endStray(pid int) (bool, error) {
	if tree, ok := s.process.(*process.Process); ok {
		return tree.EndStray(pid)
	}
	return false, nil // what runs in a container is the engine's to know
}

// about begins the messages of a server that is one of several parts: it names the
// part, and its node if that is not this machine.
func (s *started) about() string {
	switch {
	case s.spec.Component == "":
		return ""
	case s.spec.Span.Away:
		return "component " + s.spec.Component + " on node " + s.spec.Span.Self().Name + ": "
	}
	return "component " + s.spec.Component + ": "
}

// sinceSpawn formats the server's age for messages.
func (s *started) sinceSpawn() string {
	return fmt.Sprintf("%.1f s", time.Since(s.began).Seconds())
}

// clean hides secrets in a failure and adds the log's end.
func (s *started) clean(failure *results.Failure) *results.Failure {
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

func (s *started) notFound(program string, err error) *results.Failure {
	return results.Failf(results.FailNotFound, "%s: cannot run %q: %v; install %s or set binary: to its path",
		s.kind.Name, program, err, s.kind.Name)
}

func (s *started) tryAlive(context.Context) ready.Step {
	_, exited := s.process.Exit()
	return ready.Step{Done: !exited, Answer: "the process has ended"}
}

// exitFailure says how the server ended, by a fatal line of its log if there is one.
// stage says what it was waited for, "" for nothing. Any exit that nobody asked for is
// a failure: an engine's death ends some servers with code 0.
func (s *started) exitFailure(stage string) *results.Failure {
	s.log.ReadLast()
	code, _ := s.process.Exit()
	failure := results.Failf(results.FailExited, "server %s after %s%s%s",
		describeExit(code), s.sinceSpawn(), stage, quoted(s.log.LastLine()))
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
func (s *started) explain(failure *results.Failure) {
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
func (s *started) fatalFailure(match *serverlog.FatalMatch) *results.Failure {
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

// withEvidence is a failure of a start as its log explains it, if it does.
func (s *started) withEvidence(failure *results.Failure) *results.Failure {
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
