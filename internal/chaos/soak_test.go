package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/results"
)

// footprint is what bench itself holds of the machine.
type footprint struct{ rssKB, files, threads int }

func (f footprint) String() string {
	return fmt.Sprintf("%.1f MB, %d files, %d threads", float64(f.rssKB)/1000, f.files, f.threads)
}

// TestSoak has one run start BENCH_SOAK servers one after the other, and compares
// the least that bench holds in the second tenth of them with the least in the
// last: between collections of garbage the heap grows.
func TestSoak(t *testing.T) {
	starts, err := strconv.Atoi(os.Getenv("BENCH_SOAK"))
	if err != nil || starts < 20 {
		t.Skip("set BENCH_SOAK to a number of server starts, 20 or more (make soak)")
	}

	w := newWorld(t)
	w.limit = time.Duration(starts) * patience
	night := w.night(nil, block{
		"repeats": starts / 2, "restart": "step",
		"load": block{"num-prompts": 2, "max-concurrency": 1},
	})
	var began, ended footprint
	ready := 0
	got := w.call(call{args: []string{"run", night, "--plain"}, once: func(p *os.Process) {
		for pause(context.Background(), 200*time.Millisecond) {
			ready = 0
			for _, e := range w.events() {
				if e.Kind == results.LifeReady {
					ready++
				}
			}
			now, ok := footprintOf(p.Pid)
			if !ok {
				return
			}
			switch tenth := 10 * ready / starts; {
			case tenth == 1:
				began = least(began, now)
			case tenth >= 9:
				ended = least(ended, now)
			}
		}
	}})

	if got.code != 0 || began == (footprint{}) || ended == (footprint{}) {
		t.Fatalf("exit code %d, %d server starts seen\n%s", got.code, ready, got.stderr)
	}
	growth := float64(ended.rssKB-began.rssKB) / (0.8 * float64(starts))
	t.Logf("%d server starts: %s in the second tenth, %s in the last: %.1f KB a start", starts, began, ended, growth)
	const most, spare = 10, 4 // KB a start; files and threads
	if growth > most || ended.files > began.files+spare || ended.threads > began.threads+spare {
		t.Errorf("it grew by %.1f KB a start, from %s to %s; want at most %d KB, and no more files and threads", growth,
			began, ended, most)
	}
}

// least is what is smaller of each; a zero footprint is not one.
func least(a, b footprint) footprint {
	if a == (footprint{}) {
		return b
	}
	return footprint{min(a.rssKB, b.rssKB), min(a.files, b.files), min(a.threads, b.threads)}
}

// footprintOf reads what a process holds; false once it has ended.
func footprintOf(pid int) (footprint, bool) {
	dir := filepath.Join("/proc", itoa(pid))
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return footprint{}, false
	}

	var f footprint
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		switch fields[0] {
		case "VmRSS:":
			f.rssKB, _ = strconv.Atoi(fields[1])
		case "Threads:":
			f.threads, _ = strconv.Atoi(fields[1])
		}
	}
	files, err := os.ReadDir(filepath.Join(dir, "fd"))
	f.files = len(files)
	return f, err == nil && f.rssKB > 0
}
