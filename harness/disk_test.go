package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/results"
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

func TestWatchDiskEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := &disk{each: func() {}}
		ended := make(chan struct{})
		go func() {
			d.watch(ctx, func(error) { t.Error("ended without a limit") })
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
