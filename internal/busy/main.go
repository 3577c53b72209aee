// Command busy runs a command beside processes that only compute, so that tests
// are tried on a machine that is many times oversubscribed.
//
//	go run ./internal/busy -processes 20 -- make test
//
// Its exit code is that of the command. The processes end with it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// spinning is the argument by which this program only computes.
const spinning = "spin"

func init() { runtime.LockOSThread() } //nolint:gochecknoinits // a process ends with the thread that started it

func main() {
	if len(os.Args) == 2 && os.Args[1] == spinning {
		spin()
	}
	processes := flag.Int("processes", 20, "`number` of processes that compute beside the command")
	flag.Parse()
	os.Exit(run(*processes, flag.Args()))
}

// spin computes until its parent ends.
func spin() {
	parent := os.Getppid()
	for n := 0; ; n++ {
		if n%(1<<26) == 0 && os.Getppid() != parent {
			os.Exit(0)
		}
	}
}

// run has the command run beside the processes, and returns its exit code.
func run(processes int, argv []string) int {
	if len(argv) == 0 {
		fmt.Fprintln(os.Stderr, "usage: busy [-processes N] -- COMMAND [ARGUMENT...]")
		return 2
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "busy:", err)
		return 1
	}

	for range processes {
		load := exec.Command(self, spinning) //nolint:gosec,noctx // this program itself; ended below
		load.Env = append(os.Environ(), "GOMAXPROCS=1")
		load.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := load.Start(); err != nil {
			fmt.Fprintln(os.Stderr, "busy:", err)
			return 1
		}
		defer func() { _ = load.Process.Kill(); _ = load.Wait() }()
	}

	command := exec.Command(argv[0], argv[1:]...) //nolint:gosec,noctx // what the caller asked for
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = command.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "busy:", err)
		return 1
	}
	return 0
}
