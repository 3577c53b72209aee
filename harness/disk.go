package harness

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

const (
	diskPeriod   = 2 * time.Second // between two looks at free space and logs
	reserveBytes = 4 << 20         // kept aside so that the last results still fit a full disk
	reserveName  = ".reserve"
)

// freeSpace is the number of bytes that a process of ours may still write into
// the file system of path.
func freeSpace(path string) (int64, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return 0, fmt.Errorf("look at free disk of %s: %w", path, err)
	}
	return int64(fs.Bavail) * int64(fs.Bsize), nil //nolint:unconvert // the types differ between architectures
}

// disk watches the space of the file system that holds a run's folder, and
// keeps some of it aside for the last results.
type disk struct {
	folder  *store.Folder
	minFree int64                       // bytes; 0: no limit
	look    func(string) (int64, error) // bytes free at a path
	each    func()                      // called at every look, to bound logs
}

func newDisk(r *Runner, each func()) *disk {
	d := &disk{folder: r.Folder, minFree: r.Scenario.Disk.MinFree, look: r.Free, each: each}
	if d.look == nil {
		d.look = freeSpace
	}
	return d
}

// low says that too little disk is free for the run to continue. What cannot be
// looked at is no reason to end a run: a write that fails is.
func (d *disk) low() *results.Failure {
	if d.minFree <= 0 {
		return nil
	}

	free, err := d.look(d.folder.Dir())
	if err != nil || free >= d.minFree {
		return nil //nolint:nilerr // see above
	}
	return results.Failf(results.FailDisk,
		"%s free in the results folder, disk.min-free is %s: free some space and continue with 'bench resume'",
		size(free), size(d.minFree))
}

// watch looks until ctx ends. Too little space is full: the running step is written
// with what was measured, and nothing more is started.
func (d *disk) watch(ctx context.Context, full context.CancelCauseFunc) {
	for sleep.For(ctx, diskPeriod) {
		d.each()
		if low := d.low(); low != nil {
			full(low)
			return
		}
	}
}

// guard keeps some disk aside and watches the rest, until free is called. The
// context that it gives ends when the disk is full.
func (d *disk) guard(ctx context.Context) (guarded context.Context, free func()) {
	guarded, full := context.WithCancelCause(ctx)
	reserve(d.folder)

	watched, end := context.WithCancel(guarded)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.watch(watched, func(why error) {
			d.useReserve()
			full(why)
		})
	}()

	return guarded, func() {
		end()
		<-ended
		d.useReserve()
		full(nil)
	}
}

// useReserve frees what was kept aside.
func (d *disk) useReserve() { _ = d.folder.RemoveOwn(reserveName) }

// reserve makes a file of reserveBytes where the file system can. Removing it
// makes room for the last results.
func reserve(folder *store.Folder) {
	_ = folder.RemoveOwn(reserveName) // of a killed run, or a link that is not ours to follow
	f, err := folder.OpenOwn(reserveName, os.O_CREATE|os.O_EXCL|os.O_WRONLY)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	_ = unix.Fallocate(int(f.Fd()), 0, 0, reserveBytes) // without it there is no reserve, and nothing else changes
}

// size writes a number of bytes as people do.
func size(n int64) string {
	const kib = 1 << 10
	value, units := float64(n), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for value >= kib && len(units) > 1 {
		value, units = value/kib, units[1:]
	}
	if value == float64(int64(value)) {
		return fmt.Sprintf("%.0f %s", value, units[0])
	}
	return fmt.Sprintf("%.1f %s", value, units[0])
}
