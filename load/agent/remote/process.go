package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// process is a program whose standard input and output lead to an agent.
type process struct {
	program string
	cmd     *exec.Cmd
	in      *os.File // what it reads
	out     *os.File // what it says
	errors  *tail
	ended   chan struct{}
}

// start starts a command in a session of its own: Ctrl-C is for bench,
// which then ends the agents in order, so that ctx does not.
func start(ctx context.Context, argv []string) (*process, error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}

	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), in.Close())
	}

	p := &process{program: argv[0], in: in, out: out, errors: &tail{}, ended: make(chan struct{})}
	p.cmd = exec.CommandContext(context.WithoutCancel(ctx), argv[0], argv[1:]...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirIn, theirOut, p.errors
	p.cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	p.cmd.WaitDelay = grace
	err = p.cmd.Start()
	_ = theirIn.Close() // the program has its own
	_ = theirOut.Close()
	if err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}

	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // ProcessState says it
	}()
	return p, nil
}

// grace is how long an agent gets to end when its input has.
const grace = 3 * time.Second

func (p *process) Write(b []byte) (int, error) { return p.in.Write(b) }

// Read reads what the agent says; at its end the error says how the program
// ended.
func (p *process) Read(b []byte) (int, error) {
	n, err := p.out.Read(b)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	select {
	case <-p.ended:
		said := p.errors.text()
		return n, fmt.Errorf("%s ended (%v): %s%s", p.program, p.cmd.ProcessState, said,
			hint(p.cmd.ProcessState.ExitCode(), said))
	case <-time.After(grace):
		return n, fmt.Errorf("%s says no more: %s", p.program, p.errors.text())
	}
}

// The exit codes of a shell, as ssh and most else pass them on.
const (
	cannotRun = 126
	notFound  = 127
	sshFailed = 255
)

// hint says what to do about a program that could not be started on its host; ""
// where nothing is known.
func hint(code int, said string) string {
	switch {
	case strings.Contains(said, "GLIBC"):
		return "; this bench needs a newer C library than that host has: use a static one, as releases and " +
			"'make demo' are"
	case code == notFound:
		return "; bench is not in PATH there: --agent-bench says where it is, --copy-bench copies this one"
	case code == cannotRun && strings.Contains(said, CopyPrefix):
		return "; programs cannot be run from /tmp there (mount option noexec): install bench on that host, and say " +
			"where with --agent-bench in place of --copy-bench"
	case code == sshFailed && said == saidNothing:
		return "; the connection broke off: see whether the host is on the network"
	case code == cannotRun:
		return "; that file cannot be run there: --agent-bench says where bench is, --copy-bench copies this one"
	}
	return ""
}

// Close ends the agent: its input ends, and it is killed if it stays.
func (p *process) Close() error {
	_ = p.in.Close() // closing twice does no harm
	select {
	case <-p.ended:
	case <-time.After(grace):
		_ = p.cmd.Process.Kill() // it may just have ended
		<-p.ended
	}
	_ = p.out.Close()
	return nil
}

// tail keeps the last of what is written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const tailBytes = 2048

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	t.last = t.last[max(0, len(t.last)-tailBytes):]
	return len(p), nil
}

// saidNothing stands for the words of a program that had none.
const saidNothing = "it said nothing"

// text is what was kept, on one line.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	said := strings.TrimSpace(string(t.last))
	if said == "" {
		return saidNothing
	}
	return strings.Join(strings.Fields(said), " ")
}
