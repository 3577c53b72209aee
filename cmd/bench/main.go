// Command bench launches inference servers by a scenario, drives them with an
// embedded load client, and reports what it measured.
//
// This package is wiring: options, signals, exit codes. It is the only one
// that touches flags, environment variables and the process itself.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/screen"
	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/report/table"
)

// version is set by the linker; see the Makefile.
var version = "devel"

// env is what a command may touch of the process.
type env struct {
	machine.Process

	stdin     io.Reader
	stdout    io.Writer
	exit      func(int)
	width     int           // columns of the terminal on stdout; 0: not a terminal
	screen    screen.Screen // shows the runs of this process
	fileLimit uint64        // open files that this program and what it starts may have
}

// tables are how tables on stdout are laid out.
func (e env) tables() table.Options { return table.Options{Width: e.width, Color: e.width > 0} }

// The main thread is process.Main's: nothing else runs there.
func init() { runtime.LockOSThread() } //nolint:gochecknoinits // the one place that runs on the main thread alone

func main() {
	os.Exit(process.Main(realMain))
}

func realMain() int {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}

	environ := process.Environ()
	secrets.Remember(secrets.Of(environ)...)
	e := env{
		Process: machine.Process{
			Stderr:  secrets.Writer{W: text.Terminal{W: wrapped(withoutSIGPIPE(os.Stderr))}},
			Lookup:  os.LookupEnv,
			Environ: environ,
			Self:    self,
			Version: version,
		},
		stdin: os.Stdin, stdout: secrets.Writer{W: toStdout()}, exit: os.Exit,
		width: columns(os.Stdout),
		screen: screen.Screen{
			Terminal:  screen.TerminalOf(os.Stdin, os.Stderr, os.LookupEnv),
			Rewriting: term.IsTerminal(int(os.Stderr.Fd())),
		},
	}

	if e.fileLimit, err = process.RaiseFileLimit(); err != nil {
		fmt.Fprintf(e.Stderr, "warning: %v\n", err)
	}

	root := newRootCommand(e)
	root.SetArgs(os.Args[1:])
	return finish(e, root.ExecuteContext(context.Background()))
}

// toStdout is stdout, without commands to the terminal where it is one: in a pipe or a
// file it may be data.
func toStdout() io.Writer {
	if term.IsTerminal(int(os.Stdout.Fd())) {
		return text.Terminal{W: os.Stdout}
	}
	return os.Stdout
}

// withoutSIGPIPE is a file to which a write fails, and does not end this program by
// SIGPIPE, where nobody reads it any more: the Go runtime has descriptors 1 and 2
// end the program, and notes that nobody reads must not end a run. It is f itself
// where no descriptor is left.
func withoutSIGPIPE(f *os.File) *os.File {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, firstOwnFile)
	if err != nil {
		return f
	}
	return os.NewFile(uintptr(fd), f.Name())
}

// firstOwnFile is the lowest descriptor that is not stdin, stdout and stderr.
const firstOwnFile = 3

// wrapped breaks lines that are wider than f, where f is a terminal.
func wrapped(f *os.File) io.Writer {
	return text.Wrapper{W: f, Width: func() int { return columns(f) }}
}

// columns is the width of f if it is a terminal, else 0.
func columns(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Exit codes, as every command's help lists them.
const (
	exitOK          = 0
	exitError       = 1   // could not do it: I/O, no such folder, an internal error
	exitUsage       = 2   // a command line or scenario that cannot be used
	exitStepsFailed = 3   // the run ended, but steps failed or were not run
	exitChanged     = 4   // compare: a condition of --fail-if holds
	exitInterrupted = 130 // ended by Ctrl-C or a signal
)

// codeError is an error that carries its exit code. An empty text prints
// nothing: the command has said it already.
type codeError struct {
	code int
	err  error
}

func (e codeError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e codeError) Unwrap() error { return e.err }

// usageError marks err as a mistake in what the user wrote.
func usageError(err error) error { return codeError{exitUsage, err} }

// finish prints what a command returned and gives its exit code.
func finish(e env, err error) int {
	if err == nil {
		return exitOK
	}
	if words := err.Error(); words != "" {
		fmt.Fprintf(e.Stderr, "bench: %s\n", text.CleanLines(words))
	}
	if code, ok := errors.AsType[codeError](err); ok {
		return code.code
	}
	if usage.Is(err) {
		return exitUsage
	}
	return exitError
}
