package launchers

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/freeport"
	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/ports"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/results"
)

// journal records events; it is safe for concurrent use.
type journal struct {
	mu     sync.Mutex
	events []results.Event
}

func (j *journal) write(e results.Event) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, e)
	return nil
}

// kinds is the story in short: "starting spawned ready stopping stopped".
func (j *journal) kinds() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var kinds []string
	for _, e := range j.events {
		kinds = append(kinds, strings.TrimPrefix(string(e.Kind), "life-"))
	}
	return strings.Join(kinds, " ")
}

func (j *journal) last(kind results.EventKind) results.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, event := range slices.Backward(j.events) {
		if event.Kind == kind {
			return event
		}
	}
	return results.Event{}
}

const (
	storyGood = "starting spawned ready stopping stopped"
	storyBad  = "starting spawned failed stopping stopped"
	storyDied = "starting spawned ready failed stopping stopped"
)

// bench is one test's launcher with its surroundings.
type bench struct {
	*Launcher
	journal *journal
	kind    engines.Kind
	spec    recipe.Spec
}

// prepare makes everything ready to launch the kind with the test binary in
// the engine's place.
func prepare(t *testing.T, kind engines.Kind, engine fakeengine.Config) *bench {
	t.Helper()
	spec := recipe.Spec{
		Launcher:  kind.Name,
		Model:     "tiny",
		Binary:    []string{os.Args[0]},
		Env:       map[string]string{},
		Host:      "127.0.0.1",
		Port:      freeport.Take(t, 1),
		LogPath:   filepath.Join(t.TempDir(), "server.log"),
		Ready:     recipe.Ready{Timeout: time.Minute}, // the machine may be busy
		StopGrace: 5 * time.Second,
		Life:      "life-1",
		Replica:   2,
		Cookie:    rand.Text(), // this test may run twice on a machine
	}
	if kind.Name == "command" {
		spec.Binary, spec.Command = nil, []string{os.Args[0], "--port", "${port}"}
	}
	if engine.Model == "" {
		engine.Model = kind.API.ServedName(spec)
	}
	if engine.Paths == (fakeengine.Paths{}) {
		engine.Paths = fakeengine.Paths{
			Health: kind.API.HealthPath, Models: kind.API.ModelsPath, Metrics: kind.MetricsPath,
			Tokenize: kind.API.TokenizePath, Version: kind.API.VersionPath,
		}
	}
	engine.Counters = map[string]string{}
	for ours, theirs := range kind.Counters {
		engine.Counters[ours], _, _ = strings.Cut(theirs[0], "?")
	}
	spec.Env[fakeengine.Variable] = engine.Value()
	spec.Env["GORACE"] = fakeengine.PromptExit
	story := &journal{}
	b := &bench{
		Launcher: &Launcher{Journal: story.write, Environ: os.Environ(), ownEnd: time.Second}, journal: story,
		kind: kind, spec: spec,
	}
	t.Cleanup(func() { b.nothingLeft(t) })
	return b
}

// launch starts the server and stops it at the end of the test.
func (b *bench) launch(t *testing.T) *Server {
	t.Helper()
	server, err := b.Launch(t.Context(), b.kind, b.spec)
	if err != nil {
		t.Fatalf("Launch(%s) = %v", b.kind.Name, err)
	}
	t.Cleanup(func() { _, _ = server.Stop(context.Background()) })
	return server
}

// refuse expects that Launch fails, and returns the failure.
func (b *bench) refuse(t *testing.T, want results.FailureClass) *results.Failure {
	t.Helper()
	server, err := b.Launch(t.Context(), b.kind, b.spec)
	if err == nil {
		_, _ = server.Stop(t.Context())
		t.Fatalf("Launch(%s) = a server, want failure %s", b.kind.Name, want)
	}
	failure := asFailure(err)
	if failure.Class != want {
		t.Fatalf("Launch(%s) = %v, want class %s; log: %q", b.kind.Name, failure, want, failure.LogTail)
	}
	return failure
}

// refuseAndClose expects a launch to fail with a message that contains a text, and
// to leave no life open in the journal.
func (b *bench) refuseAndClose(t *testing.T, class results.FailureClass, message string) {
	t.Helper()
	if failure := b.refuse(t, class); !strings.Contains(failure.Message, message) {
		t.Errorf("failure = %q, want %q in it", failure.Message, message)
	}
	if open := cleanup.OpenLives(b.journal.events); len(open) != 0 {
		t.Errorf("OpenLives() = %+v, want none", open)
	}
}

// story expects a sequence of events in the journal.
func (b *bench) story(t *testing.T, want string) {
	t.Helper()
	if got := b.journal.kinds(); got != want {
		t.Errorf("journal = %q, want %q", got, want)
	}
}

// nothingLeft expects no process with our cookie and a free port.
func (b *bench) nothingLeft(t *testing.T) {
	t.Helper()
	for _, pid := range carriers(b.spec.Cookie) {
		t.Errorf("pid %d is left with the cookie %q", pid, b.spec.Cookie)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if !ports.AwaitFree(context.Background(), b.spec.Host, b.spec.Port) {
		t.Errorf("port %d after the test: %v", b.spec.Port, ports.Check(context.Background(), b.spec.Host, b.spec.Port))
	}
}

// carriers lists living processes that carry the cookie.
func carriers(cookie string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		panic(err)
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		env, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "environ"))
		if bytes.Contains(env, []byte("BENCH_COOKIE="+cookie+".")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func vllm(t *testing.T) engines.Kind {
	t.Helper()
	kind, ok := engines.Lookup("vllm")
	if !ok {
		t.Fatal(`Lookup("vllm") found nothing`)
	}
	return kind
}

func TestServerServes(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{Loading: 300 * time.Millisecond})
	server := b.launch(t)
	info := server.Info()
	var phases []string
	for i, phase := range info.ReadyPhases {
		phases = append(phases, phase.Name)
		if i > 0 && phase.AtS < info.ReadyPhases[i-1].AtS {
			t.Errorf("phase %s at %v s, before the phase below it", phase.Name, phase.AtS)
		}
	}
	if got, want := strings.Join(phases, " "), "alive tcp owner health model token"; got != want {
		t.Errorf("phases = %q, want %q", got, want)
	}
	if last := info.ReadyPhases[len(info.ReadyPhases)-1].AtS; last < 0.3 {
		t.Errorf("token after %v s, want at least the 0.3 s of loading", last)
	}
	if info.Version != "0.0.0-fake" || info.PID == 0 || info.Model != "tiny" || info.Replica != 2 ||
		info.Life != "life-1" {
		t.Errorf("Info() = %+v, want version, pid, model, replica and life", info)
	}
	if n, ok := server.VocabSize(t.Context()); n != 1184 || !ok {
		t.Errorf("VocabSize() = %d, %v, want 1184, true", n, ok)
	}
	if ids, err := server.Tokenize(t.Context(), "three short words", false); err != nil || len(ids) != 3 {
		t.Errorf("Tokenize() = %v, %v, want 3 ids", ids, err)
	}
	counters, err := server.Counters(t.Context())
	if err != nil || counters[scrape.OutputTokensTotal] != 1 {
		t.Errorf("Counters() = %v, %v, want the one token of the ladder", counters, err)
	}
	proof, err := server.Stop(t.Context())
	if err != nil || !proof.Clean() || *proof.ExitCode != 0 {
		t.Errorf("Stop() = %+v, %v, want a clean proof and exit code 0", proof, err)
	}
	if again, err := server.Stop(t.Context()); err != nil || again.StopS != proof.StopS {
		t.Errorf("Stop() again = %+v, %v, want the same proof", again, err)
	}
	select {
	case <-server.Done():
		t.Errorf("Done() is closed by Stop: %v", server.Failure())
	default:
	}
	b.story(t, storyGood)
	b.checkJournal(t, info)
}

// checkJournal looks at what the events carry.
func (b *bench) checkJournal(t *testing.T, info results.Server) {
	t.Helper()
	before, after := b.journal.last(results.LifeStarting), b.journal.last(results.LifeSpawned)
	if before.Process == nil || !strings.HasPrefix(before.Process.Cookie, b.spec.Cookie) ||
		before.Process.Port != b.spec.Port {
		t.Errorf("event before the spawn = %+v, want cookie and port", before.Process)
	}
	if after.Process == nil || after.Process.PID != info.PID || after.Process.StartTime == 0 ||
		after.Life != "life-1" || after.Replica != 2 {
		t.Errorf("event after the spawn = %+v, want the process's identity", after)
	}
	if proof := b.journal.last(results.LifeStopped).Proof; proof == nil || !proof.Clean() {
		t.Errorf("event after the stop has proof %+v, want a clean one", proof)
	}
}

func TestPortTaken(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{})
	taken, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", b.spec.Port))
	if err != nil {
		t.Fatal(err)
	}
	failure := b.refuse(t, results.FailPortInUse)
	_ = taken.Close()
	for _, part := range []string{fmt.Sprintf("port %d", b.spec.Port), fmt.Sprintf("pid %d", os.Getpid())} {
		if !strings.Contains(failure.Message, part) {
			t.Errorf("failure = %q, want it to name %q", failure.Message, part)
		}
	}
	b.story(t, "")
}

// A socket that is bound and does not listen refuses connections, as vLLM's
// does while it loads; yet the port is taken.
func TestPortBoundWithoutListening(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{})
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: b.spec.Port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if failure := b.refuse(t, results.FailPortInUse); !strings.Contains(failure.Message, "bound") {
		t.Errorf("failure = %q, want it to say that the port is bound", failure.Message)
	}
	_ = syscall.Close(fd)
}

func TestLaunchRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*recipe.Spec)
		want   results.FailureClass
		says   string
	}{
		{"recipe", func(s *recipe.Spec) { s.Model = "" }, results.FailBadRecipe, "model"},
		{"program", func(s *recipe.Spec) { s.Binary = []string{"no-such-engine"} }, results.FailNotFound, "binary:"},
		{"folder", func(s *recipe.Spec) { s.Dir = "/no/such/folder" }, results.FailBadRecipe, "/no/such/folder"},
		{"host", func(s *recipe.Spec) { s.Host = "192.0.2.1" }, results.FailBadRecipe, "192.0.2.1"},
		{"port", func(s *recipe.Spec) { s.Port = 70000 }, results.FailBadRecipe, "70000"},
	} {
		b := prepare(t, vllm(t), fakeengine.Config{})
		spec := b.spec
		c.change(&b.spec)
		failure := b.refuse(t, c.want)
		b.spec = spec
		if !strings.Contains(failure.Message, c.says) {
			t.Errorf("%s: failure = %q, want it to name %q", c.name, failure.Message, c.says)
		}
		b.story(t, "")
	}
}

func TestSecretsStayHidden(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{Lines: []string{"using s3cr3t-value"}, ExitAtOnce: new(3)})
	b.spec.Secrets = []string{"s3cr3t-value"}
	b.spec.Env["HF_TOKEN"] = "s3cr3t-value"
	failure := b.refuse(t, results.FailExited)
	text := fmt.Sprintf("%+v %+v %+v", failure, b.journal.last(results.LifeSpawned).Process,
		b.journal.last(results.LifeFailed).Failure)
	if strings.Contains(text, "s3cr3t") || !strings.Contains(text, "***") {
		t.Errorf("failure and journal = %s, want the secret replaced", text)
	}
}

func TestJournalErrorStopsServer(t *testing.T) {
	t.Parallel()
	for _, kind := range []results.EventKind{results.LifeStarting, results.LifeSpawned, results.LifeReady} {
		b := prepare(t, vllm(t), fakeengine.Config{})
		b.Journal = func(e results.Event) error {
			if e.Kind == kind {
				return syscall.ENOSPC
			}
			return b.journal.write(e)
		}
		failure := b.refuse(t, results.FailDisk)
		if !strings.Contains(failure.Message, "no space left") {
			t.Errorf("%s: failure = %q, want the disk's error", kind, failure.Message)
		}
	}
}

func TestCancelWhileStarting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		engine  fakeengine.Config
		grace   time.Duration
		killNow bool
	}{
		{"server ends on TERM", fakeengine.Config{Silent: true}, time.Minute, false},
		{"server has children elsewhere", fakeengine.Config{
			Silent:   true,
			Children: []fakeengine.Child{{Session: true}},
		}, time.Minute, false},
		{
			"server ignores TERM, user asks to kill now",
			fakeengine.Config{Silent: true, IgnoreTerm: true},
			time.Minute, true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := prepare(t, vllm(t), c.engine)
			b.spec.StopGrace = c.grace
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(400*time.Millisecond, cancel)
			if c.killNow {
				time.AfterFunc(600*time.Millisecond, b.KillNow)
			}
			_, err := b.Launch(ctx, b.kind, b.spec)
			if err == nil || asFailure(err).Class != results.FailInterrupted {
				t.Fatalf("Launch() = %v, want class %s", err, results.FailInterrupted)
			}
			b.story(t, storyBad)
		})
	}
}

func TestCauseOfCancelIsKept(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{Silent: true})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := b.Launch(ctx, b.kind, b.spec); err == nil || asFailure(err).Class != results.FailDeadline {
		t.Errorf("Launch() past its deadline = %v, want class %s", err, results.FailDeadline)
	}
	b = prepare(t, vllm(t), fakeengine.Config{})
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := b.Launch(ended, b.kind, b.spec); err == nil || asFailure(err).Class != results.FailInterrupted {
		t.Errorf("Launch() after cancel = %v, want class %s", err, results.FailInterrupted)
	}
	b.story(t, "")
}

// A process that looks just like our server but is somebody else's lives on.
func TestBystanderSurvives(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{})
	other := exec.Command(os.Args[0], "serve", "tiny", "--port", strconv.Itoa(freeport.Take(t, 1)))
	other.Env = []string{fakeengine.Config{Model: "tiny", Paths: fakeengine.VLLM()}.Env()}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- other.Wait() }()
	server := b.launch(t)
	if _, err := server.Stop(t.Context()); err != nil {
		t.Errorf("Stop() = %v", err)
	}
	select {
	case err := <-ended:
		t.Errorf("the bystander ended: %v", err)
	case <-time.After(50 * time.Millisecond):
		_ = other.Process.Kill()
		if err := <-ended; err == nil {
			t.Error("the bystander ended with code 0, want the kill's signal")
		}
	}
}

// Servers of one run have one cookie in their Spec; stopping one must not touch the
// others.
func TestStopSparesOtherReplica(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{})
	first := b.launch(t)
	b.spec.Port, b.spec.LogPath = freeport.Take(t, 1), b.spec.LogPath+"-2"
	second := b.launch(t)
	if _, err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-second.Done():
		t.Errorf("the second server ended with the first: %v", second.Failure())
	case <-time.After(400 * time.Millisecond):
	}
	if _, err := second.Stop(t.Context()); err != nil || second.Failure() != nil {
		t.Errorf("Stop() of the second = %v, failure %v, want neither", err, second.Failure())
	}
}

func TestKillNowReachesServers(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{IgnoreTerm: true})
	b.spec.StopGrace = time.Minute
	server := b.launch(t)
	time.AfterFunc(100*time.Millisecond, b.KillNow)
	if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
		t.Errorf("Stop() = %+v, %v, want a clean proof", proof, err)
	}
}

func TestStopIsBoundedByKillNow(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{IgnoreTerm: true})
	b.spec.StopGrace = time.Minute
	server := b.launch(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	proof, err := server.Stop(ctx)
	if err != nil || !proof.Clean() || *proof.ExitCode != 137 {
		t.Errorf("Stop() = %+v, %v, want a clean proof and exit code 137", proof, err)
	}
	if len(carriers(b.spec.Cookie)) != 0 {
		t.Error("processes are left")
	}
}
