package process

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/proc"
)

func TestMain(m *testing.M) {
	fakeengine.Main()
	harnessMain()
	stopperMain()
	limitedMain()
	if err := BecomeSubreaper(); err != nil {
		panic(err)
	}
	// These tests wait for processes most of the time.
	flag.Parse()
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// start starts a fake engine that serves nothing but has children, and waits
// until they are all there.
func start(t *testing.T, engine fakeengine.Config) *Process {
	t.Helper()
	return startIn(t, engine, true)
}

// startIn is start with or without a control group.
func startIn(t *testing.T, engine fakeengine.Config, group bool) *Process {
	t.Helper()
	return startWith(t, engine, group, rand.Text()) // this test may run twice on a machine
}

func startWith(t *testing.T, engine fakeengine.Config, group bool, cookie string) *Process {
	t.Helper()
	engine.Silent = true
	engine.Lines = append(engine.Lines, "children are up")
	log := filepath.Join(t.TempDir(), "server.log")
	p, err := Start(Config{
		Argv:    []string{os.Args[0], "--port", "0"},
		Env:     []string{"PATH=" + os.Getenv("PATH"), engine.Env(), "GORACE=" + fakeengine.PromptExit},
		LogPath: log,
		Cookie:  cookie,
		Cgroup:  group,
	})
	if err != nil {
		t.Fatalf("Start() = %v", err)
	}
	t.Cleanup(func() {
		p.KillNow()
		if _, err := p.Stop(t.Context(), 0); err != nil {
			t.Errorf("Stop() at the end = %v", err)
		}
	})
	await(t, "the engine's first line", func() bool {
		text, _ := os.ReadFile(log)
		return strings.Contains(string(text), "children are up")
	})
	return p
}

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(90 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited 90 s for %s", what)
		}
	}
}

func treeSize(t *testing.T, p *Process) int {
	t.Helper()
	procs, err := p.Tree()
	if err != nil {
		t.Fatalf("Tree() = %v", err)
	}
	return len(procs)
}

func carries(pid int, text string) bool {
	found, _ := cookie{text: text}.carriedBy(proc.System, pid)
	return found
}

// carriers counts living processes that carry the tree's cookie.
func carriers(t *testing.T, p *Process) int {
	t.Helper()
	procs, err := proc.System.Processes(0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, other := range procs {
		if !other.Zombie() && carries(other.PID, p.Info().Cookie) {
			n++
		}
	}
	return n
}

func TestStop(t *testing.T) {
	t.Parallel()
	group, session, daemon := fakeengine.Child{Group: true}, fakeengine.Child{Session: true},
		fakeengine.Child{Daemon: true, Session: true}
	stubborn := fakeengine.Child{IgnoreTerm: true}
	cases := []struct {
		name    string
		engine  fakeengine.Config
		grace   time.Duration
		size    int // of the tree before the stop
		code    int
		signals []string
		left    int
	}{
		{"alone", fakeengine.Config{}, 5 * time.Second, 1, 0, []string{"TERM"}, 0},
		{"exit code", fakeengine.Config{TermCode: 7}, 5 * time.Second, 1, 7, []string{"TERM"}, 0},
		{"drains", fakeengine.Config{Drain: 200 * time.Millisecond}, 5 * time.Second, 1, 0, []string{"TERM"}, 0},
		{
			"ignores TERM",
			fakeengine.Config{IgnoreTerm: true},
			100 * time.Millisecond, 1, 137,
			[]string{"TERM", "KILL"},
			0,
		},
		{
			"plain child",
			fakeengine.Config{Children: []fakeengine.Child{{}}},
			5 * time.Second, 2, 0,
			[]string{"TERM"},
			1,
		},
		{
			"child in its own group",
			fakeengine.Config{Children: []fakeengine.Child{group}},
			5 * time.Second, 2, 0,
			[]string{"TERM"},
			1,
		},
		{
			"child in its own session",
			fakeengine.Config{Children: []fakeengine.Child{session}},
			5 * time.Second, 2, 0,
			[]string{"TERM"},
			1,
		},
		{"daemon", fakeengine.Config{Children: []fakeengine.Child{daemon}}, 5 * time.Second, 2, 0, []string{"TERM"}, 1},
		{
			"session child without environment",
			fakeengine.Config{Children: []fakeengine.Child{{Session: true, ClearEnv: true}}},
			5 * time.Second, 2, 0,
			[]string{"TERM"},
			1,
		},
		{
			"session child with another name, command line and environment",
			fakeengine.Config{Children: []fakeengine.Child{{Session: true, Clobber: true, Name: "kworker/0:1"}}},
			5 * time.Second, 2, 0,
			[]string{"TERM"},
			1,
		},
		{
			"daemon with another name",
			fakeengine.Config{Children: []fakeengine.Child{{Session: true, Daemon: true, Name: "systemd"}}},
			5 * time.Second, 2, 0,
			[]string{"TERM"},
			1,
		},
		{
			"all of them",
			fakeengine.Config{IgnoreTerm: true, Children: []fakeengine.Child{group, session, daemon, {}}},
			100 * time.Millisecond, 5, 137,
			[]string{"TERM", "KILL"},
			0,
		},
		{
			"child ignores TERM",
			fakeengine.Config{Children: []fakeengine.Child{stubborn}},
			5 * time.Second, 2, 0,
			[]string{"TERM", "KILL"},
			1,
		},
	}
	for i, c := range append(cases, cases...) { // with and without a control group: the number of cases is odd
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := startIn(t, c.engine, i%2 == 0)
			if size := treeSize(t, p); size != c.size {
				t.Errorf("Tree() has %d processes, want %d", size, c.size)
			}
			proof, err := p.Stop(t.Context(), c.grace)
			if err != nil {
				t.Fatalf("Stop() = %v", err)
			}
			if proof.ExitCode == nil || *proof.ExitCode != c.code {
				t.Errorf("exit code = %v, want %d", proof.ExitCode, c.code)
			}
			if !slices.Equal(proof.Signals, c.signals) || proof.LeftBehind != c.left || !proof.PIDsGone {
				t.Errorf("Stop() = %+v, want signals %q, %d left behind", proof, c.signals, c.left)
			}
			if n := carriers(t, p); n != 0 {
				t.Errorf("%d processes carry the cookie after Stop, want 0", n)
			}
			again, err := p.Stop(t.Context(), c.grace)
			if err != nil || again.StopS != proof.StopS {
				t.Errorf("Stop() again = %+v, %v, want the same proof", again, err)
			}
		})
	}
}

func TestStopAfterLeaderDied(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		code   int
	}{{"killed from outside", syscall.SIGKILL, 137}, {"ended", syscall.SIGTERM, 0}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := start(t, fakeengine.Config{Children: []fakeengine.Child{
				{},
				{Session: true},
				{Daemon: true, Session: true},
			}})
			if size := treeSize(t, p); size != 4 {
				t.Fatalf("Tree() has %d processes, want 4", size)
			}
			if err := syscall.Kill(p.Info().PID, c.signal); err != nil {
				t.Fatal(err)
			}
			<-p.Done()
			if code, ok := p.Exit(); code != c.code || !ok {
				t.Errorf("Exit() = %d, %v, want %d, true", code, ok, c.code)
			}
			if size := treeSize(t, p); size != 3 {
				t.Errorf("Tree() without leader has %d processes, want 3", size)
			}
			proof, err := p.Stop(t.Context(), time.Minute)
			if err != nil || !proof.PIDsGone || proof.LeftBehind != 3 {
				t.Errorf("Stop() = %+v, %v, want 3 left behind and all gone", proof, err)
			}
			if n := carriers(t, p); n != 0 {
				t.Errorf("%d processes carry the cookie after Stop, want 0", n)
			}
		})
	}
}

func TestKillNowCutsGraceShort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		killNow func(*Process, context.CancelFunc)
	}{
		{"by KillNow", func(p *Process, _ context.CancelFunc) { p.KillNow(); p.KillNow() }},
		{"by the context", func(_ *Process, cancel context.CancelFunc) { cancel() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := start(t, fakeengine.Config{
				IgnoreTerm: true,
				Children:   []fakeengine.Child{{Session: true, IgnoreTerm: true}},
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(50*time.Millisecond, func() { c.killNow(p, cancel) })
			began := time.Now()
			proof, err := p.Stop(ctx, 10*time.Minute)
			if err != nil || !proof.PIDsGone || !slices.Contains(proof.Signals, "KILL") {
				t.Errorf("Stop() = %+v, %v, want all gone after KILL", proof, err)
			}
			if took := time.Since(began); took > 5*time.Minute {
				t.Errorf("Stop() took %v in a killNow", took)
			}
		})
	}
}

// A process that looks just like ours but was started by somebody else lives.
func TestStopSparesBystander(t *testing.T) {
	t.Parallel()
	p := start(t, fakeengine.Config{})
	bystander := exec.Command(os.Args[0], "--port", "0")
	bystander.Env = []string{fakeengine.Config{Silent: true}.Env()}
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- bystander.Wait() }()
	if _, err := p.Stop(t.Context(), time.Second); err != nil {
		t.Fatalf("Stop() = %v", err)
	}
	select {
	case err := <-ended:
		t.Errorf("the bystander ended with Stop: %v", err)
	case <-time.After(100 * time.Millisecond):
		_ = bystander.Process.Kill()
		if err := <-ended; err == nil {
			t.Error("the bystander ended with code 0, want the kill's signal")
		}
	}
}

func TestStartErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	log := filepath.Join(dir, "log")
	for _, c := range []struct {
		name     string
		config   Config
		notFound bool
	}{
		{"no argv", Config{LogPath: log}, false},
		{"empty name", Config{Argv: []string{""}, LogPath: log}, true},
		{
			"not in PATH",
			Config{Argv: []string{"no-such-engine"}, Env: []string{"PATH=/bin:/usr/bin"}, LogPath: log},
			true,
		},
		{"PATH is the child's", Config{Argv: []string{"sh"}, Env: []string{"PATH=" + dir}, LogPath: log}, true},
		{"no such file", Config{Argv: []string{"./none"}, Dir: dir, LogPath: log}, true},
		{"folder", Config{Argv: []string{dir}, LogPath: log}, true},
		{"not executable", Config{Argv: []string{write("plain", "", 0o644)}, LogPath: log}, true},
		{
			"interpreter missing",
			Config{Argv: []string{write("script", "#!/no/such/python\n", 0o755)}, LogPath: log},
			true,
		},
		{"not a program", Config{Argv: []string{write("garbage", "\x00\x01", 0o755)}, LogPath: log}, true},
		{"log cannot be made", Config{Argv: []string{"/bin/true"}, LogPath: filepath.Join(dir, "none", "log")}, false},
	} {
		p, err := Start(c.config)
		if err == nil {
			_, _ = p.Stop(t.Context(), 0)
			t.Errorf("%s: Start() started, want an error", c.name)
			continue
		}
		if errors.Is(err, ErrNotFound) != c.notFound {
			t.Errorf("%s: Start() = %q, is ErrNotFound = %v, want %v", c.name, err, !c.notFound, c.notFound)
		}
	}
}

func TestStartIdentity(t *testing.T) {
	t.Parallel()
	p := start(t, fakeengine.Config{})
	info := p.Info()
	now, err := proc.System.Process(info.PID)
	if err != nil {
		t.Fatal(err)
	}
	if info.Session != info.PID || now.Session != info.PID {
		t.Errorf("session = %d (really %d), want the leader's pid %d", info.Session, now.Session, info.PID)
	}
	if info.StartTime != now.StartTime || info.BootID == "" || info.Cookie == "" {
		t.Errorf("Info() = %+v, want start time %d, a boot id and the cookie", info, now.StartTime)
	}
	if _, ok := p.Exit(); ok {
		t.Error("Exit() says ok while the process runs")
	}
}

func TestUsageGrowsWithWork(t *testing.T) {
	t.Parallel()
	p, err := Start(Config{
		Argv:    []string{"sh", "-c", "while :; do :; done"},
		Env:     []string{"PATH=" + os.Getenv("PATH")},
		LogPath: filepath.Join(t.TempDir(), "log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	await(t, "CPU time", func() bool {
		usage, err := p.Usage()
		return err == nil && usage.CPU >= 50*time.Millisecond
	})
	if _, err := p.Stop(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	if usage, err := p.Usage(); err != nil || usage.CPU != 0 {
		t.Errorf("Usage() after Stop = %+v, %v, want nothing", usage, err)
	}
}

// A tree whose cookie is the beginning of another's, as that of a hook in a
// run with servers, ends alone.
func TestStopSparesLongerCookie(t *testing.T) {
	t.Parallel()
	server := start(t, fakeengine.Config{})
	hook, err := Start(Config{
		Argv: []string{"/bin/sh", "-c", "exit 0"}, LogPath: filepath.Join(t.TempDir(), "log"),
		Cookie: server.Info().Cookie[:10],
	})
	if err != nil {
		t.Fatal(err)
	}
	longer := startWith(t, fakeengine.Config{}, true, hook.Info().Cookie+".server")
	<-hook.Done()
	if _, err := hook.Stop(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*Process{"server": server, "server of the run": longer} {
		if treeSize(t, p) != 1 {
			t.Errorf("the %s ended with the hook", name)
		}
	}
}
