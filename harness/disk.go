package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

const (
	diskPeriod   = 2 * time.Second // between two looks at free space and logs
	reserveBytes = 4 << 20         // kept aside so that the last results still fit a full disk
	reserveName  = ".reserve"
	logBlock     = 4096 // holes begin and end at multiples of it
	logSlack     = 8    // a log is cut when it is over its limit by this part of it
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

// diskLow says that too little disk is free for the run to go on. What cannot
// be looked at is no reason to end a run: a write that fails is.
func (r *Runner) diskLow() *results.Failure {
	limit := r.Scenario.Disk.MinFree
	if limit <= 0 {
		return nil
	}
	look := r.Free
	if look == nil {
		look = freeSpace
	}
	if free, err := look(r.Folder.Dir()); err == nil && free < limit {
		return results.Failf(results.FailDisk, "%s free where the results lie, disk.min-free asks for %s: free some and go on with 'bench resume'", size(free), size(limit))
	}
	return nil
}

// watchDisk looks at free space and at the logs of running servers until ctx
// ends or done is closed. Too little space ends ctx: the running step is written
// with what was measured, and nothing more is started.
func (r *Runner) watchDisk(ctx context.Context, done <-chan struct{}, full context.CancelCauseFunc) {
	tick := time.NewTicker(diskPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-done:
			return
		case <-tick.C:
		}
		r.capLogs()
		if low := r.diskLow(); low != nil {
			full(low)
			return
		}
	}
}

// guardDisk keeps some disk aside and watches the rest, until free is called.
// The context that it gives ends when the disk is full.
func (r *Runner) guardDisk(ctx context.Context) (guarded context.Context, free func()) {
	guarded, full := context.WithCancelCause(ctx)
	path := r.Folder.Own(reserveName)
	reserve(path)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		r.watchDisk(guarded, done, func(why error) {
			_ = os.Remove(path)
			full(why)
		})
	}()
	return guarded, func() {
		close(done)
		<-ended
		_ = os.Remove(path)
		full(nil)
	}
}

// reserve makes a file of reserveBytes where the file system can. Removing it
// makes room for the last results.
func reserve(path string) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	_ = unix.Fallocate(int(f.Fd()), 0, 0, reserveBytes) // without it there is no reserve, and nothing else changes
}

// useReserve frees what was kept aside for the last results.
func (r *Runner) useReserve() { _ = os.Remove(r.Folder.Own(reserveName)) }

// onFullDisk does a write that must not be lost. If it fails, the reserve makes
// room for a second try, and nothing more is run.
func (r *Runner) onFullDisk(write func() error) error {
	err := write()
	if err == nil {
		return nil
	}
	r.halted = results.Failf(results.FailDisk, "%v", err)
	r.useReserve()
	return write()
}

// capLogs bounds the logs of the servers that run.
func (r *Runner) capLogs() {
	limit := r.Scenario.Disk.MaxLog
	life, ok := r.life.Load().(string)
	if limit <= 0 || !ok || life == "" {
		return
	}
	for _, path := range r.Folder.PlainServerLogs(life) {
		_ = capLog(path, limit) // the limit of free disk still holds
	}
}

// capLog gives back the disk that the middle of a log takes once it has more
// than limit bytes. The server writes straight into the file and goes on doing
// so: the file keeps its length, and its head and end stay where they are, so
// that no last word can be lost between two files. File systems without holes
// say so by an error.
func capLog(path string, limit int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	var stat unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &stat); err != nil {
		return err
	}
	const statBlock = 512
	if stat.Size <= limit || stat.Blocks*statBlock <= limit+limit/logSlack {
		return nil
	}
	from := (limit - limit/2 + logBlock - 1) / logBlock * logBlock
	to := (stat.Size - limit/2) / logBlock * logBlock
	if to <= from {
		return nil
	}
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, to-from)
}

// CloseLogs compresses the logs of a life whose servers are proven gone, bounds
// them and takes the secrets out of them: engines print their arguments.
func CloseLogs(folder *store.Folder, life string, limit int64, secrets []string) error {
	var errs []error
	hide := recipe.Redactor(secrets)
	for _, path := range folder.PlainServerLogs(life) {
		errs = append(errs, store.CloseServerLog(path, limit, hide))
	}
	return errors.Join(errs...)
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
