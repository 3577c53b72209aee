package life

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results/store"
)

const (
	logBlock = 4096 // holes begin and end at multiples of it
	logSlack = 8    // a log is cut when it is over its limit by this part of it
)

// CapLogs bounds the logs of the servers that run.
func (s *Starter) CapLogs() {
	limit := s.Scenario.Disk.MaxLog
	life, ok := s.running.Load().(string)
	if limit <= 0 || !ok || life == "" {
		return
	}
	for _, path := range s.Folder.PlainServerLogs(life) {
		_ = capLog(path, limit) // the limit of free disk still holds
	}
}

// capLog gives back the disk that the middle of a log takes once it has more
// than limit bytes. The server writes straight into the file and continues doing
// so: the file keeps its length, and its head and end stay where they are, so
// that no last word can be lost between two files. File systems without holes
// say so by an error.
func capLog(path string, limit int64) error {
	root, name := inside.Split(path)
	f, err := inside.Open(root, name, os.O_RDWR, 0)
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
func CloseLogs(folder *store.Folder, life string, limit int64, values []string) error {
	var errs []error
	hide := recipe.Redactor(values)
	for _, path := range folder.PlainServerLogs(life) {
		errs = append(errs, plainOnly(store.CloseServerLog(path, limit, hide)))
	}
	return errors.Join(errs...)
}

// redactLogs takes the secrets out of the logs of a life that has ended:
// engines print their arguments. It is for folders that are passed on; while
// the server runs its log holds what it wrote.
func redactLogs(dir string, values []string) error {
	if len(values) == 0 && secrets.Known().Empty() {
		return nil
	}

	own := recipe.Redactor(values)
	hide := func(line string) string { return secrets.Known().Text(own(line)) }
	var err error
	for _, log := range store.Matching(dir, "server-*.log") {
		err = errors.Join(err, plainOnly(redactFile(log, hide)))
	}
	return err
}

// plainOnly is err, or nil where something else than a plain file is in a log's
// place: a server may put anything there, and the report says so.
func plainOnly(err error) error {
	if errors.Is(err, inside.ErrNotPlain) {
		return nil
	}
	return err
}

func redactFile(path string, hide func(string) string) error {
	root, name := inside.Split(path)
	in, err := inside.Open(root, name, os.O_RDONLY, 0)
	if err != nil {
		return fmt.Errorf("redact %s: %w", path, err)
	}
	defer in.Close()

	changed := false
	err = inside.Replace(root, name, func(out io.Writer) error {
		changed, err = secrets.Copy(out, in, hide)
		if err == nil && !changed {
			err = errUnchanged
		}
		return err
	})
	if err != nil && !errors.Is(err, errUnchanged) {
		return fmt.Errorf("redact %s: %w", path, err)
	}
	return nil
}

// errUnchanged leaves a log as it is: a server may still write to it.
var errUnchanged = errors.New("no secret in it")
