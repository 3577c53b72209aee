package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"benchrig/results"
)

// Config says what to start.
type Config struct {
	Argv    []string
	Env     []string // the whole environment; Cookie is added to it
	Dir     string   // working directory; "": ours
	LogPath string   // stdout and stderr are appended to it

	// Cookie must be unique to this tree: every process that carries it is
	// taken for a member and ended by Stop. "" to go without.
	Cookie string
}

// Process is a started program with everything that descends from it. Stop
// must be called in any case, also after the program ended by itself: it may
// have left children behind, and its pid stays taken until then.
type Process struct {
	cmd  *exec.Cmd
	info results.Process
	tree tree

	done     chan struct{} // closed when the leader has ended
	exitCode int           // valid once done is closed

	hurry     chan struct{} // closed by Hurry
	hurryOnce sync.Once

	stopMu sync.Mutex    // held while Stop works
	proof  results.Proof // guarded by stopMu
	gone   chan struct{} // closed when all members have ended and the leader is reaped
}

// BecomeSubreaper makes orphaned descendants of this program its own children
// instead of init's, so that they can be found and reaped.
func BecomeSubreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	return nil
}

// Start runs argv in a session of its own, with stdin empty and both outputs
// going straight to the log file. The error is ErrNotFound if there is no such
// program.
func Start(config Config) (*Process, error) {
	if len(config.Argv) == 0 {
		return nil, errors.New("start process: empty argv")
	}
	program, err := LookPath(config.Argv[0], config.Dir, config.Env)
	if err != nil {
		return nil, fmt.Errorf("start process: %w", err)
	}
	log, err := os.OpenFile(config.LogPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("start process: open log: %w", err)
	}
	defer log.Close() // the child has its own descriptor
	env := slices.Clone(config.Env)
	if config.Cookie != "" {
		env = append(env, CookieVariable+"="+config.Cookie)
	}
	cmd := &exec.Cmd{
		Path:        program,
		Args:        config.Argv,
		Env:         env,
		Dir:         config.Dir,
		Stdout:      log,
		Stderr:      log,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start process: %w", startError(err))
	}
	return own(cmd, config)
}

// startError recognises a program that exists but cannot be executed, for
// instance a script whose interpreter is gone.
func startError(err error) error {
	for _, cause := range []error{unix.ENOENT, unix.ENOEXEC, unix.EACCES} {
		if errors.Is(err, cause) {
			return fmt.Errorf("%w: %w", err, ErrNotFound)
		}
	}
	return err
}

// own takes charge of a child that was just started.
func own(cmd *exec.Cmd, config Config) (*Process, error) {
	pid := cmd.Process.Pid
	leader, err := readProc(pid)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("identify process %d: %w", pid, err)
	}
	p := &Process{
		cmd: cmd,
		info: results.Process{
			PID:       pid,
			StartTime: leader.StartTime,
			BootID:    bootID(),
			Session:   pid, // setsid makes the leader's pid the session's number
			Cookie:    config.Cookie,
			Argv:      slices.Clone(config.Argv),
		},
		tree: tree{
			leader:  leader.key(),
			session: pid,
			cookie:  config.Cookie,
			seen:    make(map[procKey]bool),
		},
		done:  make(chan struct{}),
		hurry: make(chan struct{}),
		gone:  make(chan struct{}),
	}
	go func() {
		defer close(p.done)
		// The only error is that the child is not ours to wait for; it is.
		p.exitCode, _ = awaitExit(pid)
	}()
	return p, nil
}

// Info identifies the leader; Port is the caller's to fill in.
func (p *Process) Info() results.Process { return p.info }

// Done is closed when the leader has ended. Its children may live on.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns the leader's exit code, 128+n after signal n; ok is false
// while it runs.
func (p *Process) Exit() (code int, ok bool) {
	select {
	case <-p.done:
		return p.exitCode, true
	default:
		return 0, false
	}
}

// Tree returns the living processes of the tree, ordered by pid. They are
// those of the leader's session, those descending from a member, those that
// carry the cookie, and those that were members when last looked at.
func (p *Process) Tree() ([]Proc, error) {
	select {
	case <-p.gone:
		// The leader is reaped: its session number may be another's now.
		return nil, nil
	default:
	}
	live, _, err := p.tree.members()
	return live, err
}

// Usage is what the tree has consumed so far.
func (p *Process) Usage() (Usage, error) {
	live, err := p.Tree()
	var sum Usage
	for _, member := range live {
		sum.CPU += member.CPU
		sum.ReadBytes += readBytes(member.PID)
	}
	return sum, err
}
