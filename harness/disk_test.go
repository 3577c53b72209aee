package harness

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

func TestFullDiskEndsTheRun(t *testing.T) {
	tests := []struct {
		name  string
		after time.Duration // until the disk is full
		want  []string
		story string
	}{
		{
			"during a step", 15 * time.Minute,
			[]string{"a_c1_r1 ok", "a_c2_r1 failed disk", "b_c1_r1 not run disk", "b_c2_r1 not run disk"},
			"launch 01-a, stop 01-a",
		},
		{
			"before the start", 0,
			[]string{"a_c1_r1 not run disk", "a_c2_r1 not run disk", "b_c1_r1 not run disk", "b_c2_r1 not run disk"},
			"",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
				sc.Repeats, sc.Disk.MinFree = 1, 100
				began := time.Now()
				w := &world{each: 10 * time.Minute, free: func(string) (int64, error) {
					if time.Since(began) >= tt.after {
						return 99, nil
					}
					return 100, nil
				}}
				run, outcome := w.run(t.Context(), t, sc)
				if got := verdicts(run); !slices.Equal(got, tt.want) {
					t.Errorf("verdicts = %q, want %q", got, tt.want)
				}
				if got := strings.Join(w.story, ", "); got != tt.story {
					t.Errorf("story = %s, want %s", got, tt.story)
				}
				if outcome.Ended == nil || outcome.Ended.Class != results.FailDisk {
					t.Errorf("the run was ended by %v, want disk", outcome.Ended)
				}
				if _, err := os.Lstat(filepath.Join(run.Dir, reserveName)); err == nil {
					t.Error("the reserve is left in the folder")
				}
			})
		})
	}
}

func TestDiskThatCannotBeLookedAtEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.Repeats, sc.Disk.MinFree = 1, 100
		w := &world{free: func(string) (int64, error) { return 0, errors.New("no such call") }}
		if _, outcome := w.run(t.Context(), t, sc); outcome.OK != 4 {
			t.Errorf("outcome = %+v, want 4 ok", outcome)
		}
	})
}

func TestFreeSpace(t *testing.T) {
	if free, err := freeSpace(t.TempDir()); err != nil || free <= 0 {
		t.Errorf("freeSpace = %d, %v", free, err)
	}
	if _, err := freeSpace("/no/such/folder"); err == nil {
		t.Error("freeSpace of a folder that is not there: no error")
	}
}

// A server goes on writing to a log whose middle is taken away: head and end
// stay, and the disk that it takes is bounded.
func TestCapLog(t *testing.T) {
	const limit = 256 << 10
	dir := t.TempDir()
	folder, err := store.Create(dir, "s", "r")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder.LifeDir("01-a"), store.ServerLogName(0))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	write := func(text string) {
		if _, err := log.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write("first words\n")
	for i := range 40 {
		write(strings.Repeat("a line of the middle, written by a flood\n", 2000))
		if err := capLog(path, limit); errors.Is(err, unix.EOPNOTSUPP) {
			t.Skip("the file system has no holes")
		} else if err != nil {
			t.Fatalf("capLog, round %d: %v", i, err)
		}
	}
	write("last words\n")
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		t.Fatal(err)
	}
	if taken := stat.Blocks * 512; taken > 2*limit {
		t.Errorf("the log takes %d bytes of %d, want about %d", taken, stat.Size, limit)
	}
	if err := CloseLogs(folder, "01-a", limit, nil); err != nil {
		t.Fatal(err)
	}
	in, err := folder.OpenServerLog("01-a", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	text, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(text, []byte("first words\n")) || !bytes.HasSuffix(text, []byte("flood\nlast words\n")) {
		t.Errorf("the closed log has lost its head or end: %.40q ... %.40q", text, text[max(0, len(text)-40):])
	}
	if bytes.IndexByte(text, 0) >= 0 {
		t.Error("the closed log has a hole in it")
	}
	if !bytes.Contains(text, []byte("bytes of this log are left out here")) {
		t.Error("the closed log does not say that something is left out")
	}
}

func TestWatchDiskEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := &Runner{Scenario: &scenarios.Scenario{}}
		ended := make(chan struct{})
		go func() {
			r.watchDisk(ctx, nil, func(error) { t.Error("ended without a limit") })
			close(ended)
		}()
		time.Sleep(time.Minute)
		cancel()
		<-ended
	})
}

func TestSize(t *testing.T) {
	for _, tt := range []struct {
		in   int64
		want string
	}{{0, "0 B"}, {1023, "1023 B"}, {1024, "1 KiB"}, {1536, "1.5 KiB"}, {1 << 30, "1 GiB"}, {1 << 50, "1024 TiB"}} {
		if got := size(tt.in); got != tt.want {
			t.Errorf("size(%d) = %s, want %s", tt.in, got, tt.want)
		}
	}
}
