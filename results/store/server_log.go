package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/results"
)

// ServerLogName is the name of a replica's log in the folder of its life;
// ".zst" is added when the life has ended.
func ServerLogName(replica int) string { return fmt.Sprintf("server-%d.log", replica) }

// OpenServerLog opens a replica's log of a life that runs or has ended.
func (f *Folder) OpenServerLog(life string, replica int) (io.ReadCloser, error) {
	return openLines(filepath.Join(f.LifeDir(life), ServerLogName(replica)))
}

// NewLife makes the folder of a server life, as planned or with a number where
// there was one of that name before, and returns its name. Exactly one process
// can make it, on network file systems too.
func (f *Folder) NewLife(planned string) (string, error) {
	if err := checkName(planned); err != nil {
		return "", fmt.Errorf("make the folder of a server start: %w", err)
	}

	id := planned
	for i := 2; ; i++ {
		err := inside.Mkdir(f.dir, filepath.Join(results.LivesName, id))
		if errors.Is(err, fs.ErrNotExist) {
			if err = f.makeDir(filepath.Dir(f.LifeDir(id))); err == nil {
				continue
			}
		}
		if !errors.Is(err, fs.ErrExist) {
			return id, err
		}
		id = fmt.Sprintf("%s.%d", planned, i)
	}
}

// PlainServerLogs lists the logs of a life that are not closed yet.
func (f *Folder) PlainServerLogs(life string) []string {
	return Matching(f.LifeDir(life), "server-*.log")
}

// Lives lists the server lives that have a folder, in the order of their names.
func (f *Folder) Lives() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(f.dir, results.LivesName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list server starts: %w", err)
	}
	var lives []string
	for _, entry := range entries {
		if entry.IsDir() {
			lives = append(lives, entry.Name())
		}
	}
	return lives, nil
}

// CloseServerLog compresses the log at path, of a server that has ended, and
// removes the plain file. Every line goes through hide. Of a log of more than
// limit bytes the first and the last limit/2 are kept, with a line between
// that says how much is left out; 0 keeps all. What cannot be written leaves
// the plain file as it is.
func CloseServerLog(path string, limit int64, hide func(string) string) error {
	in, err := OpenPlain(path)
	if err != nil {
		return fmt.Errorf("close server log: %w", err)
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return fmt.Errorf("close server log: %w", err)
	}
	err = writeStep(path+compressedSuffix, func(w io.Writer) error {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		return errors.Join(copyEnds(z, in, info.Size(), limit, hide), z.Close())
	})
	if err != nil {
		return fmt.Errorf("close server log: %w", err)
	}
	if err := removeOwn(path, info); err != nil {
		return fmt.Errorf("close server log: %w", err)
	}

	return nil
}

// copyEnds copies a file of size bytes, or its ends if that is more than limit.
func copyEnds(w io.Writer, in io.ReaderAt, size, limit int64, hide func(string) string) error {
	if limit <= 0 || size <= limit {
		return copyHidden(w, io.NewSectionReader(in, 0, size), hide)
	}
	end := limit / 2
	if err := copyHidden(w, io.NewSectionReader(in, 0, limit-end), hide); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "\n[bench: %d bytes of this log are left out here]\n", size-limit); err != nil {
		return err
	}
	return copyHidden(w, io.NewSectionReader(in, size-end, end), hide)
}

// copyHidden copies line by line through hide.
func copyHidden(w io.Writer, r io.Reader, hide func(string) string) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, readErr := in.ReadString('\n')
		if _, err := io.WriteString(w, secrets.Known().Text(hide(line))); err != nil {
			return err
		}
		if errors.Is(readErr, io.EOF) {
			return nil
		}
		if readErr != nil {
			return readErr
		}
	}
}
