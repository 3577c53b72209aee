package state

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// holderVariable makes the test binary hold a machine until it is killed.
const holderVariable = "BENCH_TEST_HOLD_BOX"

func TestMain(m *testing.M) {
	if root := os.Getenv(holderVariable); root != "" {
		holdStore(root)
		return
	}
	goleak.VerifyTestMain(m)
}

func holdStore(root string) {
	store, err := Open(root)
	if err != nil {
		os.Exit(3)
	}
	if _, err := store.Lock("/results/night"); err != nil {
		os.Exit(4)
	}
	_, _ = os.Stdout.WriteString("held\n")
	time.Sleep(time.Minute)
}

func openStore(t *testing.T) *Store {
	t.Helper()
	store, err := Open(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// hold starts another process that has the machine.
func hold(t *testing.T, store *Store) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), holderVariable+"="+filepath.Dir(store.Dir()))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("holder says %q, %v", line, err)
	}
	return cmd
}

func TestLockNamesItsOwner(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	if owner, busy := store.Owner(); busy {
		t.Errorf("Owner() of a new box = %v, want nobody", owner)
	}
	holder := hold(t, store)
	_, err := store.Lock("mine")
	busy, ok := errors.AsType[*BusyError](err)
	if !ok || busy.Owner.PID != holder.Process.Pid || busy.Owner.Run != "/results/night" {
		t.Fatalf("Lock() of a held box = %v, want a BusyError naming pid %d", err, holder.Process.Pid)
	}
	for _, part := range []string{"/results/night", "--wait-for-box"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("Lock() = %q, want it to name %q", err, part)
		}
	}
	if owner, ok := store.Owner(); !ok || owner.PID != holder.Process.Pid {
		t.Errorf("Owner() = %v, %v, want pid %d", owner, ok, holder.Process.Pid)
	}
}

// A killed owner gives the machine back without a word.
func TestWaitLockUntilOwnerIsKilled(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	holder := hold(t, store)
	var waitedFor []Owner
	lock, err := store.WaitLock(t.Context(), "mine", func(o Owner) {
		waitedFor = append(waitedFor, o)
		_ = holder.Process.Kill()
	})
	if err != nil {
		t.Fatalf("WaitLock() = %v", err)
	}
	if len(waitedFor) != 1 || waitedFor[0].PID != holder.Process.Pid {
		t.Errorf("waited for %v, want once for pid %d", waitedFor, holder.Process.Pid)
	}
	if owner, ok := store.Owner(); !ok || owner.PID != os.Getpid() || owner.Run != "mine" {
		t.Errorf("Owner() = %v, %v, want this process", owner, ok)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if owner, ok := store.Owner(); ok {
		t.Errorf("Owner() after Release = %v, want nobody", owner)
	}
}

func TestWaitLockEndsWithContext(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	hold(t, store)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := store.WaitLock(ctx, "mine", func(Owner) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("WaitLock() with a done context = %v, want %v", err, context.Canceled)
	}
}

func TestRegister(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	now := time.Now()
	for i, dir := range []string{"/b", "/a", "/c"} {
		if err := store.Register(Run{
			Dir: dir, Cookie: "cookie" + dir,
			Since: now.Add(time.Duration(i) * time.Second),
		}); err != nil {
			t.Fatal(err)
		}
	}
	// Again, with another cookie: no second entry.
	if err := store.Register(Run{Dir: "/b", Cookie: "new", Since: now}); err != nil {
		t.Fatal(err)
	}
	if got, want := dirs(t, store), "/b /a /c"; got != want {
		t.Errorf("Runs() = %s, want %s", got, want)
	}
	if run, ok := store.Lookup("/b"); !ok || run.Cookie != "new" {
		t.Errorf("Lookup(/b) = %+v, %v, want the new cookie", run, ok)
	}
	for range 2 { // the second time there is nothing to forget
		if err := store.Forget("/a"); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := dirs(t, store), "/b /c"; got != want {
		t.Errorf("Runs() = %s, want %s", got, want)
	}
	other, err := open(filepath.Dir(store.Dir()), "other/host")
	if err != nil {
		t.Fatal(err)
	}
	if got := dirs(t, other); got != "" {
		t.Errorf("Runs() of another host = %s, want none", got)
	}
}

func dirs(t *testing.T, store *Store) string {
	t.Helper()
	runs, err := store.Runs()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, run := range runs {
		names = append(names, run.Dir)
	}
	return strings.Join(names, " ")
}

// An entry that cannot be read must not vanish silently, nor hide the others.
func TestDamagedEntryIsReported(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	if err := store.Register(Run{Dir: "/good"}); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(store.Dir(), runsName, "x"+entrySuffix)
	if err := os.WriteFile(bad, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	runs, err := store.Runs()
	if len(runs) != 1 || err == nil || !strings.Contains(err.Error(), bad) {
		t.Errorf("Runs() = %v, %v, want the good run and an error naming %s", runs, err, bad)
	}
}

func TestOpenTellsOfReadOnlyFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file); err == nil || !strings.Contains(err.Error(), "BENCH_STATE_DIR") {
		t.Errorf("Open(a file) = %v, want an error that says what to set", err)
	}
}

func TestFolderName(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"box-1.lan": "box-1.lan", "a/b": "a_b", "": "localhost",
		"..": "localhost",
	} {
		if got := folderName(host); got != want {
			t.Errorf("folderName(%q) = %q, want %q", host, got, want)
		}
	}
}
