package screen

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

func TestHasUnicode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		vars map[string]string
		want bool
	}{
		{nil, false},
		{map[string]string{"LANG": "C.UTF-8"}, true},
		{map[string]string{"LANG": "de_DE.utf8"}, true},
		{map[string]string{"LANG": "C.UTF-8", "LC_ALL": "C"}, false},
		{map[string]string{"LANG": "C", "LC_CTYPE": "en_US.UTF-8"}, true},
	} {
		lookup := func(name string) (string, bool) { value, ok := c.vars[name]; return value, ok }
		if got := HasUnicode(lookup); got != c.want {
			t.Errorf("HasUnicode(%v) = %v, want %v", c.vars, got, c.want)
		}
	}
}

func TestFilesAreNoTerminal(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if got := TerminalOf(file, file, os.LookupEnv); got != nil {
		t.Errorf("TerminalOf(plain files) = %v, want nil", got)
	}
}

// The first signal ends the context with the reason, a further one kills the
// servers; a closed terminal does neither.
func TestSignalsReachTheRun(t *testing.T) {
	folder, err := store.Create(t.TempDir(), "night", "20260131-220000-ab12")
	if err != nil {
		t.Fatal(err)
	}
	var stderr lockedBuffer
	killed := make(chan struct{})
	ctx, shown := Screen{}.Show(t.Context(), session.Running{
		Process: machine.Process{Stderr: &stderr}, Folder: folder, Log: zerolog.Nop(),
		KillNow: func() { close(killed) },
	})

	raise(t, unix.SIGHUP)
	raise(t, unix.SIGTERM)
	await(t, ctx.Done())
	why := results.CauseOf(ctx)
	if why.Class != results.FailInterrupted || !strings.Contains(why.Error(), "SIGTERM") {
		t.Errorf("the run ended for %v, want SIGTERM", why)
	}
	raise(t, unix.SIGTERM)
	await(t, killed)

	shown.Close()
	if got := stderr.String(); !strings.Contains(got, "results: "+folder.Dir()) ||
		!strings.Contains(got, "stopping cleanly") {
		t.Errorf("stderr: %q", got)
	}
}

// lockedBuffer is a buffer that a run and its signals may write to.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func raise(t *testing.T, sig unix.Signal) {
	t.Helper()
	if err := unix.Kill(os.Getpid(), sig); err != nil {
		t.Fatal(err)
	}
}

func await(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(5 * time.Minute):
		t.Fatal("did not happen within five minutes")
	}
}
