package results

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// Verdict is what the checks say of a step.
type Verdict string

// The verdicts. A failed or suspect step is never ranked beside sound ones.
const (
	OK      Verdict = "ok"
	Suspect Verdict = "suspect" // measured, but with a doubt: see Warnings
	Failed  Verdict = "failed"  // see Failure
	NotRun  Verdict = "not run" // see Failure for the reason
)

// FailureClass groups failures of requests, servers and steps by what the
// user can do about them. The string is part of the format on disk.
type FailureClass string

// Failures of a request.
const (
	FailConnect    FailureClass = "connect"       // no TCP or TLS connection
	FailHTTP       FailureClass = "http-status"   // a status other than 2xx
	FailAuth       FailureClass = "auth"          // 401 or 403
	FailInBand     FailureClass = "in-band-error" // an error object inside a 200 stream
	FailTruncated  FailureClass = "truncated"     // the stream ended without finish reason or [DONE]
	FailNoTokens   FailureClass = "no-tokens"     // a complete stream that carried no token
	FailTransport  FailureClass = "transport"     // connection broken after the request was sent
	FailProtocol   FailureClass = "protocol"      // not an event stream, or not parsable
	FailFirstToken FailureClass = "first-token-timeout"
	FailStall      FailureClass = "stall-timeout" // no byte for the stall limit
	FailTotal      FailureClass = "total-timeout"
	FailCanceled   FailureClass = "canceled" // ended by us: Ctrl-C, deadline, dead server

	FailUnclassified FailureClass = "unclassified" // of an imported request: its client's words are all that is known
)

// Failures of a server or of a step.
const (
	FailBadRecipe    FailureClass = "bad-recipe"       // the recipe cannot become a command line
	FailNotFound     FailureClass = "binary-not-found" // the program to run does not exist
	FailPortInUse    FailureClass = "port-in-use"
	FailNoGPU        FailureClass = "not-enough-gpus"
	FailExited       FailureClass = "server-exited"  // it ended while it was needed, whatever its exit code
	FailFatalLine    FailureClass = "fatal-log-line" // a line of its log that no server survives
	FailOutOfMemory  FailureClass = "out-of-memory"
	FailBadFlag      FailureClass = "unsupported-flag"
	FailModel        FailureClass = "model-not-loadable" // missing or broken model
	FailReadyTimeout FailureClass = "ready-timeout"      // never served a token within ready.timeout
	FailReadyStall   FailureClass = "ready-stall"        // no sign of life for ready.stall
	FailWrongModel   FailureClass = "wrong-model"        // it serves another model than asked for
	FailNode         FailureClass = "node"               // another node of the job cannot be used
	FailForeign      FailureClass = "foreign-listener"   // the port is answered by a process that is not ours
	FailForeignGPU   FailureClass = "foreign-gpu-holder" // others hold memory of the GPUs it is to use
	FailNoProof      FailureClass = "not-stopped"        // could not be proven gone
	FailDataset      FailureClass = "dataset"            // prompts could not be made
	FailDeadline     FailureClass = "deadline"           // step or run deadline passed
	FailInterrupted  FailureClass = "interrupted"        // Ctrl-C or a signal
	FailRequests     FailureClass = "requests-failed"    // too many requests of the step failed
	FailDisk         FailureClass = "disk"               // results could not be written
	FailOpenFiles    FailureClass = "open-files"         // the limit of open files is reached
	// not run because on-failure: stop, or the machine is not clean
	FailEarlier FailureClass = "earlier-failure"
	// a load agent could not be started, is another version, or was lost
	FailAgent    FailureClass = "load-agent"
	FailHook     FailureClass = "hook-failed" // a hook or check refused
	FailInternal FailureClass = "internal"    // a bug of ours
	// repeated because of throttling, another power limit or others on our GPUs
	FailDisturbed FailureClass = "disturbed"
	// repeated because the load client had no core for too long
	FailStarved FailureClass = "client-starved"
	// no token of any request for the stall limit, whatever the server's health says
	FailNoProgress FailureClass = "no-progress"
	// its counters went backwards: it is not the server that the pass began with
	FailRestarted FailureClass = "server-restarted"
	FailChanged   FailureClass = "changed"         // not run: not the same experiment as at the start of the run
	FailSkipped   FailureClass = "skipped-by-user" // somebody had the step ended from the live view
	// not run: planned in case, and what was known by then was enough
	FailNotNeeded FailureClass = "not-needed"
	FailPruned    FailureClass = "pruned" // not run: a lower load of the sweep had lost the tail already
	// the two passes of method sqzb are not of one configuration, or had other prompts
	FailPasses FailureClass = "passes-differ"
)

// Failures of a server that its own log or its container's engine shows.
const (
	FailKVCache FailureClass = "kv-cache-too-small" // no room for one request of the model's length
	// memory of the GPU was held by another process, often a server before
	FailStillHeld FailureClass = "previous-server-freeing"
	// a fault of the device, its driver or the library between GPUs
	FailGPU          FailureClass = "gpu-error"
	FailGated        FailureClass = "gated-model" // the model's owner has to let you in
	FailDownload     FailureClass = "download-failed"
	FailEngineDied   FailureClass = "engine-died" // a worker ended, and the front end only says that it did
	FailCompileCache FailureClass = "compile-cache"
	FailCompile      FailureClass = "compile-failed"    // the compiler of the engine's kernels or graphs failed
	FailSharedMemory FailureClass = "shm-full"          // no room in /dev/shm
	FailSmoke        FailureClass = "smoke-failed"      // it serves, but not the request that had to succeed first
	FailContext      FailureClass = "context-too-small" // none of the prompts fits what the server takes
	FailImage        FailureClass = "container-image"   // it is not available
	FailContainer    FailureClass = "container-engine"  // does not answer
)

// Retryable reports whether the same may go better a second time: false for
// what recipe, model or machine decide, and for Final classes. A scenario may ask
// for further attempts all the same, unless the class is final.
func (c FailureClass) Retryable() bool {
	switch c {
	case FailBadRecipe, FailNotFound, FailNoGPU, FailBadFlag, FailWrongModel, FailAuth,
		FailModel, FailGated, FailKVCache, FailImage, FailDataset, FailSmoke, FailContext,
		FailOpenFiles, FailInternal:
		return false
	default:
		return !c.Final()
	}
}

// Final reports whether no further attempt can follow: the step was not run or
// not wanted, or the run ends with it.
func (c FailureClass) Final() bool {
	switch c {
	case FailNoProof, FailDisk, FailEarlier, FailInterrupted, FailChanged, FailNotNeeded, FailPruned, FailSkipped:
		return true
	default:
		return false
	}
}

// EndedRun reports whether what ended the whole run failed a step: that says nothing
// of the step's variant.
func (c FailureClass) EndedRun() bool { return c == FailInterrupted || c == FailDisk }

// Failure says why something did not succeed: a class to branch on and the
// evidence in the server's or the system's own words.
type Failure struct { //nolint:errname // it is a value of the format first, and an error where that is handy
	Class      FailureClass `json:"class"`
	Message    string       `json:"message"`
	HTTPStatus int          `json:"http_status,omitempty"`
	ExitCode   *int         `json:"exit_code,omitempty"` // 128+n after signal n
	LogTail    []string     `json:"log_tail,omitempty"`  // last lines of the server's log, oldest first
	Until      string       `json:"until,omitempty"`     // of the scenario, if that is what left no time
}

// Error makes a Failure usable as an error.
func (f *Failure) Error() string { return fmt.Sprintf("%s: %s", f.Class, f.Message) }

// Failf builds a failure of class with a formatted message.
func Failf(class FailureClass, format string, args ...any) *Failure {
	return &Failure{Class: class, Message: fmt.Sprintf(format, args...)}
}

// Warning is a doubt about a figure. It travels with the result and is shown
// in every report.
type Warning struct {
	Code    WarningCode `json:"code"`
	Message string      `json:"message"`
}

// Warnf is a warning with a formatted message.
func Warnf(code WarningCode, format string, args ...any) Warning {
	return Warning{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Warnf adds a warning to the result.
func (r *Result) Warnf(code WarningCode, format string, args ...any) {
	r.Warnings = append(r.Warnings, Warnf(code, format, args...))
}

// WarningCode names a kind of doubt; part of the format on disk.
type WarningCode string

// The doubts known so far about the caches that a start found.
const (
	WarnStartCache       WarningCode = "start-cache"        // not as asked
	WarnStartCacheUnused WarningCode = "start-cache-unused" // the server left nothing in a folder that bench gave it
)

// The doubts known so far.
const (
	WarnSimulated      WarningCode = "simulated"        // the figures come from the simulator
	WarnLowScore       WarningCode = "low-score"        // fewer right answers than load.evaluate asks for
	WarnNoScore        WarningCode = "no-score"         // the evaluation command gave none
	WarnToolCalls      WarningCode = "tool-calls"       // many answers call no tool, or call one wrongly
	WarnAnswersDiffer  WarningCode = "answers-differ"   // the same prompts alone were answered otherwise
	WarnAnswersCached  WarningCode = "answers-cached"   // the same prompts again were answered at once
	WarnFewSamples     WarningCode = "few-samples"      // too few samples for a percentile
	WarnFailures       WarningCode = "failed-requests"  // some requests failed
	WarnShortOutput    WarningCode = "short-output"     // answers shorter than asked
	WarnLongOutput     WarningCode = "answer-too-long"  // answers longer than asked
	WarnTokenSource    WarningCode = "token-source"     // output tokens not from the server's usage
	WarnMultiToken     WarningCode = "tokens-per-chunk" // ITL is inter-chunk latency: several tokens a chunk
	WarnHiddenTokens   WarningCode = "hidden-tokens"    // tokens were held back before the first that was shown
	WarnClientLate     WarningCode = "client-late"      // requests were sent later than intended
	WarnInputMismatch  WarningCode = "input-length"     // the server counted other prompt lengths than asked
	WarnPrefixCache    WarningCode = "prefix-cache"     // part of the prompts came from a warm cache
	WarnInterrupted    WarningCode = "interrupted"      // the pass ended before all requests were sent
	WarnEndedEarly     WarningCode = "ended-early"      // nothing more was sent: percentiles were known well enough
	WarnOverloaded     WarningCode = "overloaded"       // nothing more was sent: the server did not keep up
	WarnMargin         WarningCode = "margin-missed"    // percentiles are not known as well as asked
	WarnRetried        WarningCode = "retried"          // an earlier attempt of this step failed
	WarnCounters       WarningCode = "server-counters"  // the server's own counters disagree with ours
	WarnUnclean        WarningCode = "unclean-stop"     // the server had to be killed
	WarnForeignGPUUser WarningCode = "foreign-gpu-user"
	WarnClientLimit    WarningCode = "client-limit" // the client may have moved a figure by as much as matters
	WarnClientBusy     WarningCode = "client-busy"  // the client used up its cores
	// threads of the client had no core for longer than the shortest interval that the figures are about
	WarnClientStarved WarningCode = "client-starved"
	// the threads of the client that read are not where, or as preferred, as the scenario asks
	WarnClientPlace WarningCode = "client-place"
	WarnSharedNode  WarningCode = "shared-node" // other jobs of the cluster ran on the node
	// clocks of load agents are known too little for the latencies seen
	WarnAgentClock WarningCode = "agent-clock"
	WarnBuffered   WarningCode = "buffered" // chunks arrive in bursts: something between holds them back
	WarnAnswers    WarningCode = "answers"  // answers are empty, repetitive or all alike
	WarnDataset    WarningCode = "dataset"  // how the prompts were made differs from what was asked
	// a process behind the server's port ended, and another took its place
	WarnReplaced WarningCode = "worker-replaced"
	// this program was stopped, or the machine slept, during the step
	WarnPaused        WarningCode = "paused"
	WarnPausedStart   WarningCode = "paused-start"     // the same while the servers were started
	WarnRequestRate   WarningCode = "rate-not-reached" // the asked request rate was not achieved
	WarnThrottled     WarningCode = "throttled"        // a GPU slowed down because of heat or hardware
	WarnPowerCapped   WarningCode = "power-capped"     // a GPU ran at its power limit
	WarnPowerLimit    WarningCode = "power-limit"      // the power limit is not that of the run's first step
	WarnPowerUnknown  WarningCode = "power-unknown"    // the energy of a GPU is not known
	WarnEnergy        WarningCode = "energy-disagrees" // energy counter and power readings disagree
	WarnTelemetryGaps WarningCode = "telemetry-gaps"   // readings of GPUs failed, or came too rarely
	WarnNotSettled    WarningCode = "not-settled"      // GPUs were not calm when the step began
	WarnHook          WarningCode = "hook-failed"      // a hook, check or undo did not do what it should
	// one replica ran with its share of the load and stands for several
	WarnExtrapolated WarningCode = "extrapolated"
	// a program printed figures that could not be read, contradict each other or are missing
	WarnProgramOutput WarningCode = "program-output"
	// the machine or the engine is not what the run began with: see changes
	WarnChanged WarningCode = "changed-since-start"

	// another model, quantization or engine gave exactly the same outputs; found when a run is reported
	WarnEqualOutputs WarningCode = "equal-outputs"

	WarnImported        WarningCode = "imported"           // the figures were read out of a file that others wrote
	WarnImportedDiffers WarningCode = "imported-disagrees" // values of the file contradict each other
	// the comma of a value may be one of thousands or of a fraction
	WarnImportedAmbiguous WarningCode = "imported-ambiguous"
	WarnImportedUnusable  WarningCode = "imported-unusable" // values of the file that are not numbers, or stand twice

	WarnContext  WarningCode = "context-too-small" // some prompts do not fit what the server takes
	WarnFewSlots WarningCode = "few-slots"         // the server works on fewer requests at once than are sent
	// a setting of the recipe means nothing to this version of the engine
	WarnNoEffect WarningCode = "no-effect"
	// drafts were made for random prompts: their acceptance means nothing
	WarnSpecRandom WarningCode = "speculation-random"
	// answers were kept going past their natural end, where drafts are guessed otherwise
	WarnSpecPastEnd WarningCode = "speculation-past-end"
	// drafts are accepted otherwise than the server was configured to simulate
	WarnAcceptance   WarningCode = "acceptance-length"
	WarnSpecBaseline WarningCode = "speculation-alone" // no variant of the run does without speculation
)

// AsFailure keeps a failure that err carries and otherwise gives it class.
func AsFailure(err error, class FailureClass) *Failure {
	if failure, ok := errors.AsType[*Failure](err); ok {
		return failure
	}
	return Failf(class, "%v", err)
}

// diskErrors are what the kernel says about a folder that cannot be written to: it is full,
// at a limit, read-only, broken, unmounted, removed, or closed to this user. Each
// has what to do about it.
var diskErrors = []struct {
	errno  syscall.Errno
	advice string
}{
	{syscall.ENOSPC, "free some space or inodes"},
	{syscall.EDQUOT, "free some space, or raise the quota"},
	{syscall.EFBIG, "raise the limit of a file's size (ulimit -f, or LimitFSIZE= of a service)"},
	{syscall.EROFS, "make its file system writable"},
	{syscall.EIO, "check the disk (dmesg)"},
	{syscall.ESTALE, "mount its file system again"},
	{syscall.ENOTCONN, "mount its file system again"},
	{syscall.ENODEV, "mount its file system again"},
	{syscall.ENXIO, "mount its file system again"},
	{syscall.ENOENT, "put the folder back"},
	{syscall.ENOTDIR, "put the folder back"},
	{syscall.EEXIST, "remove the file in its place"},
	{syscall.EISDIR, "remove the folder in its place"},
	{syscall.ELOOP, "remove the link in its place"},
	{syscall.EACCES, "make the folder writable"},
	{syscall.EPERM, "make the folder writable"},
}

// WriteFailure is why something of a run could not be written. Where the folder
// cannot be written to, nothing can be recorded until that is repaired.
func WriteFailure(err error) *Failure {
	if failure, ok := errors.AsType[*Failure](err); ok {
		return failure
	}
	for _, e := range diskErrors {
		if errors.Is(err, e.errno) {
			return Failf(FailDisk, "%v: %s", err, e.advice)
		}
	}
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return Failf(FailOpenFiles, "%v: raise the limit (ulimit -n), or send fewer requests at once", err)
	}
	return Failf(FailInternal, "%v", err)
}

// CauseOf is why ctx ended, as a failure.
func CauseOf(ctx context.Context) *Failure {
	var failure *Failure
	if cause := context.Cause(ctx); !errors.As(cause, &failure) {
		return Failf(FailInterrupted, "%v", cause)
	}
	return failure
}

// Now is this moment as results and events write it.
func Now() string { return time.Now().Format(time.RFC3339Nano) }

// Interrupted is the failure of work that a done context cut short; where says
// at what it was.
func Interrupted(ctx context.Context, where string) *Failure {
	cause := context.Cause(ctx)
	if errors.Is(cause, context.DeadlineExceeded) {
		return Failf(FailDeadline, "deadline passed, %s", where)
	}
	return Failf(FailInterrupted, "%v, %s", cause, where)
}
