package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/load/agent"
	"github.com/benchrig/bench/load/agent/remote"
)

const loadAgentLong = `Send load on behalf of a bench on another host: the program that 'bench load
--agent HOST' starts there through ssh. It talks to that bench over its standard
input and output, opens no port, and exits when its input ends.`

func newLoadAgentCommand(e env) *cobra.Command {
	var once bool
	cmd := &cobra.Command{
		Use: "load-agent", Short: "Send load on behalf of a bench on another host", Long: loadAgentLong,
		Example: "  bench load --agent client1 --agent client2 --base-url http://server:8000",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if term.IsTerminal(unix.Stdin) {
				return usageError(errors.New("load-agent is started by 'bench load --agent HOST', not by hand"))
			}
			if err := deleteSelf(once); err != nil {
				return err
			}
			host, err := os.Hostname()
			if err != nil {
				host = "unknown"
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			stream, err := standardStream()
			if err != nil {
				return err
			}
			return agent.Serve(ctx, stream, agent.Identity{Version: version, Host: host, PID: os.Getpid()},
				session.NewClient(e.Stderr).Run, session.WatchHost(e.Process, host))
		},
	}

	cmd.Flags().BoolVar(&once, "delete-copy", false, "delete this program, which --copy-bench put here")
	_ = cmd.Flags().MarkHidden("delete-copy") // it was just defined
	return cmd
}

// deleteSelf removes the program's file if it is a copy for one use.
func deleteSelf(once bool) error {
	if !once {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own file: %w", err)
	}
	if !strings.HasPrefix(filepath.Base(self), remote.CopyPrefix) {
		return usageError(fmt.Errorf("--delete-copy: %s is not a copy that --copy-bench made", self))
	}
	return os.Remove(self)
}

// standard is standard input and output as one stream. What is written passes as it is:
// srun makes the output a terminal, from which commands are taken out elsewhere.
type standard struct{ in *os.File }

func (s standard) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s standard) Write(p []byte) (int, error) { return os.Stdout.Write(p) }
func (s standard) Close() error                { return s.in.Close() }

// standardStream makes the input one that Close interrupts.
func standardStream() (standard, error) {
	if err := unix.SetNonblock(unix.Stdin, true); err != nil {
		return standard{}, fmt.Errorf("read standard input: %w", err)
	}
	return standard{os.NewFile(uintptr(unix.Stdin), "stdin")}, nil
}
