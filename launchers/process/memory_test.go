package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/results"
)

// limitedVariable names a memory group, which this program enters before it
// starts a tree.
const limitedVariable = "BENCH_TEST_MEMORY_GROUP"

// limitedMain starts an engine that takes more memory than the group of
// limitedVariable has, and says what is known of its end.
func limitedMain() {
	group, found := os.LookupEnv(limitedVariable)
	if !found {
		return
	}
	_ = os.Unsetenv(limitedVariable)
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}

	p, err := Start(Config{
		Argv: []string{os.Args[0]}, Env: append(os.Environ(), fakeengine.Config{Silent: true, Eat: 512 << 20}.Env()),
		LogPath: filepath.Join(os.TempDir(), "limited.log"),
	})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	<-p.Done()
	code, _ := p.Exit()
	class, reason := p.Explain()
	fmt.Println(code, class, reason)
	os.Exit(0)
}

// memoryGroup makes a group with a limit; the test is skipped where it cannot.
func memoryGroup(t *testing.T, limit int64) string {
	t.Helper()
	const version1 = proc.Cgroups + "/memory"
	own := ""
	text, err := proc.System.CgroupText("self")
	for line := range strings.Lines(text) {
		if _, path, found := strings.Cut(strings.TrimSpace(line), ":memory:"); found {
			own = path
		}
	}
	if err != nil || own == "" {
		t.Skipf("no memory group of version 1 here: %q, %v", text, err)
	}

	group := filepath.Join(version1, own, "bench-test-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skipf("no memory group can be made here: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(group); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(group, "memory.limit_in_bytes"),
		[]byte(strconv.FormatInt(limit, 10)), 0o600); err != nil {
		t.Skipf("no limit can be set here: %v", err)
	}
	// without swap, which not every kernel counts
	_ = os.WriteFile(filepath.Join(group, "memory.memsw.limit_in_bytes"), []byte(strconv.FormatInt(limit, 10)), 0o600)

	return group
}

// A server that the kernel kills as its job has no memory left says so in no log.
func TestExplainOutOfMemory(t *testing.T) {
	t.Parallel()
	group := memoryGroup(t, 128<<20)
	log := filepath.Join(t.TempDir(), "log")
	p, err := Start(Config{
		Argv: []string{os.Args[0]}, LogPath: log,
		Env: append(os.Environ(), limitedVariable+"="+group, "TMPDIR="+t.TempDir()),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = p.Stop(t.Context(), 0) })
	<-p.Done()

	said, err := os.ReadFile(log)
	want := "137 " + string(results.FailOutOfMemory) +
		" the kernel killed for lack of memory in its control group (oom_kill 1)"
	if err != nil || !strings.Contains(string(said), want) {
		t.Errorf("limited tree: %q, %v, want %q", said, err, want)
	}
}
