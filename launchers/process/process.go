package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/cpus"
	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/results"
)

// Config says what to start.
type Config struct {
	Argv    []string
	Env     []string // the whole environment; Cookie is added to it
	Dir     string   // working directory; "": ours
	Stdin   *os.File // nil: empty
	LogPath string   // stdout and stderr are appended to it, a plain file of a run folder
	Output  *os.File // gets stdout and stderr in place of LogPath; the caller's to close

	// Cookie must be unique to this tree: every process that carries it is
	// taken for a member and ended by Stop. "" to go without.
	Cookie string

	// Cgroup puts the tree into a control group of its own where the machine lets
	// us make one; see Process.CgroupError. It needs a Cookie.
	Cgroup bool

	// Place says on which CPUs the tree runs; zero: where this program does.
	Place cpus.Place

	// OrphanGrace is what members that outlive the leader get after their own
	// SIGTERM; 0: 5 s.
	OrphanGrace time.Duration
}

// Process is a started program with everything that descends from it. Stop
// must be called in any case, also after the program ended by itself: it may
// have left children behind, and its pid stays taken until then.
type Process struct {
	cmd      *exec.Cmd
	info     results.Process
	tree     tree
	groupErr error // why there is no group

	memoryMu sync.Mutex // guards memory
	memory   proc.OOMWatch

	orphanGrace time.Duration // see Config
	place       cpus.Place    // the same

	done     chan struct{} // closed when the leader has ended
	exitCode int           // valid once done is closed

	killNow     chan struct{} // closed by KillNow
	killNowOnce sync.Once

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

// Start runs argv in a session of its own, with both outputs
// going straight to the log file. The error is ErrNotFound if there is no such
// program. Should this program be killed, the leader gets SIGTERM: it can then
// take its children down in its own order, and most do.
func Start(config Config) (*Process, error) {
	if len(config.Argv) == 0 {
		return nil, errors.New("start process: empty argv")
	}
	if err := checkProc(); err != nil {
		return nil, fmt.Errorf("start process: %w", err)
	}

	program, err := LookPath(config.Argv[0], config.Dir, config.Env)
	if err != nil {
		return nil, fmt.Errorf("start process: %w", err)
	}

	log, err := config.output()
	if err != nil {
		return nil, fmt.Errorf("start process: open log: %w", err)
	}
	defer log.Close() // the child has its own descriptor

	memory := proc.System.WatchOOM(os.Getpid(), proc.Cgroups, "")
	group, groupErr := config.makeGroup()
	p, err := config.spawn(program, log, group)
	if err != nil && group != nil { // a kernel or a sandbox without clone3, or the program's own fault
		_ = group.remove()
		group, groupErr = nil, err
		p, err = config.spawn(program, log, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("start process: %w", startError(err))
	}

	p.groupErr, p.memory = groupErr, memory
	return p, p.identify(config, group)
}

// output is what the program writes to; the caller closes it.
func (c Config) output() (*os.File, error) {
	if c.Output == nil {
		root, name := inside.Split(c.LogPath)
		return inside.Open(root, name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	}
	fd, err := unix.FcntlInt(c.Output.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), c.Output.Name()), nil
}

// makeGroup makes the control group; the error says why there is none.
func (c Config) makeGroup() (*cgroup, error) {
	if !c.Cgroup || c.Cookie == "" {
		return nil, errors.New("not asked for")
	}
	return newCgroup(proc.System, cgroupName(c.Cookie))
}

// spawn starts the program in the group.
func (c Config) spawn(program string, log *os.File, group *cgroup) (*Process, error) {
	attributes := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
	if group != nil {
		folder, err := os.Open(group.folder)
		if err != nil {
			return nil, err
		}
		defer folder.Close()
		attributes.UseCgroupFD, attributes.CgroupFD = true, int(folder.Fd())
	}

	env := slices.Clone(c.Env)
	if c.Cookie != "" {
		env = append(env, CookieVariable+"="+c.Cookie)
	}

	p := &Process{
		cmd: &exec.Cmd{
			Path: program, Args: c.Argv, Env: env, Dir: c.Dir, Stdout: log, Stderr: log, SysProcAttr: attributes,
		},
		place: c.Place, done: make(chan struct{}), killNow: make(chan struct{}), gone: make(chan struct{}),
		orphanGrace: c.OrphanGrace,
	}

	if c.Stdin != nil {
		p.cmd.Stdin = c.Stdin
	}

	started := make(chan error, 1)
	go p.live(started)
	if err := <-started; err != nil {
		return nil, err
	}

	return p, nil
}

// live starts the leader and waits for its end, all on one thread: the kernel
// sends the death signal when the thread ends that forked, not when the
// program does.
func (p *Process) live(started chan<- error) {
	runtime.LockOSThread()
	if p.place.Zero() {
		defer runtime.UnlockOSThread() // else the thread, which is where its child is, ends with this function
	}
	err := p.place.Apply()
	if err == nil {
		err = p.cmd.Start()
	}
	if err == nil {
		offerToKernel(p.cmd.Process.Pid)
		allowCore(p.cmd.Process.Pid)
	}
	started <- err
	if err != nil {
		return
	}
	defer close(p.done)
	// The only error is that the child is not ours to wait for; it is.
	p.exitCode, _ = awaitExit(p.cmd.Process.Pid)
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

// identify takes down who was just started.
func (p *Process) identify(config Config, group *cgroup) error {
	pid := p.cmd.Process.Pid
	leader, err := proc.System.Process(pid)
	if err != nil {
		_ = p.cmd.Process.Kill()
		<-p.done
		_ = p.cmd.Wait()
		return fmt.Errorf("identify process %d: %w", pid, err)
	}

	p.info = results.Process{
		PID:       pid,
		StartTime: leader.StartTime,
		BootID:    proc.System.BootID(),
		Session:   pid, // setsid makes the leader's pid the session's number
		Cookie:    config.Cookie,
		Argv:      slices.Clone(config.Argv),
	}

	if group != nil {
		p.info.Cgroup = group.path
	}

	// Nothing that is older than the leader can descend from it.
	p.tree = tree{
		proc: proc.System, leader: leader.Key(), waited: true, since: leader.StartTime, session: pid,
		cookie: cookie{text: config.Cookie}, uid: anyone,
		seen: make(map[proc.Key]bool),
	}

	own := ""
	if group != nil {
		p.tree.groups = cgroups{group}
		own = cgroupName(config.Cookie)
	}

	p.tree.register()
	p.memory = proc.System.WatchOOM(pid, proc.Cgroups, own).Since(p.memory)

	return nil
}

// Info identifies the leader; Port is the caller's to fill in.
func (p *Process) Info() results.Process { return p.info }

// CgroupError says why the tree has no control group; nil: it has one. Without
// one a process escapes that leaves the session, drops its environment and
// loses its parent, all before it was seen once.
func (p *Process) CgroupError() error { return p.groupErr }

// Done is closed when the leader has ended. Its children may live on.
func (p *Process) Done() <-chan struct{} { return p.done }

// Explain reports whether the kernel has killed for lack of memory while the tree
// ran: one of its processes, or of those that share its control group.
func (p *Process) Explain() (class results.FailureClass, reason string) {
	p.memoryMu.Lock()
	defer p.memoryMu.Unlock()
	kills := p.memory.Look()
	if kills == 0 {
		return "", ""
	}

	return results.FailOutOfMemory,
		fmt.Sprintf("the kernel killed for lack of memory in its control group (oom_kill %d)", kills)
}

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
// those of the leader's session and control group, those descending from a
// member, those that carry the cookie, and those that were members when last
// looked at. Dead ones that fell to this program are reaped.
func (p *Process) Tree() ([]proc.Process, error) {
	select {
	case <-p.gone:
		// The leader is reaped: its session number may be another's now.
		return nil, nil
	default:
	}
	live, dead, err := p.tree.members()
	p.tree.reap(dead)
	return live, err
}

// Usage is what the tree has consumed so far.
func (p *Process) Usage() (Usage, error) {
	live, err := p.Tree()
	var sum Usage
	for _, member := range live {
		sum.CPU += member.CPU
		sum.ReadBytes += proc.System.ReadBytes(member.PID)
	}
	return sum, err
}
