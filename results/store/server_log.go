package store

import (
	"bytes"
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

// OpenServerLog opens a replica's log of a life that runs or has ended: of one that is
// not compressed, at most its last inside.MaxWhole bytes.
func (f *Folder) OpenServerLog(life string, replica int) (io.ReadCloser, error) {
	in, err := OpenLines(filepath.Join(f.LifeDir(life), ServerLogName(replica)))
	plain, ok := in.(*os.File)
	if err != nil || !ok {
		return in, err
	}

	info, err := plain.Stat()
	if err == nil && info.Size() > inside.MaxWhole {
		_, err = plain.Seek(-inside.MaxWhole, io.SeekEnd)
	}
	if err != nil {
		return nil, errors.Join(err, plain.Close())
	}
	return plain, nil
}

// ReadOutput is what a program has written into a file of a life's folder; nil if
// there is none, or it is larger than what is known to write.
func (f *Folder) ReadOutput(life, name string) []byte {
	const most = 64 << 20
	file, err := inside.Open(f.dir, filepath.Join(results.LivesName, life, name), os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }() // it is only read

	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil || len(data) > most {
		return nil
	}
	return data
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
	known := func(line string) string { return secrets.Known().Text(hide(line)) }
	if limit <= 0 || size <= limit {
		_, err := secrets.Copy(w, io.NewSectionReader(in, 0, size), known)
		return err
	}

	end := limit / 2
	window := min(cutWindow, end/2)
	head, err := lineEnd(in, limit-end-window, window, bytes.LastIndexByte, known)
	if err != nil {
		return err
	}
	tail, err := lineEnd(in, size-end, window, bytes.IndexByte, known)
	if err != nil {
		return err
	}

	_, err = secrets.Copy(w, io.NewSectionReader(in, 0, head), known)
	if err == nil {
		_, err = fmt.Fprintf(w, "\n[bench: %d bytes of this log are left out here]\n", tail-head)
	}
	if err == nil {
		_, err = secrets.Copy(w, io.NewSectionReader(in, tail, size-tail), known)
	}
	return err
}

// cutWindow is how far a log's cut is moved to the end of a line, in bytes.
const cutWindow = 64 << 10

// lineEnd is a place within a window of a log: behind the line end that find finds,
// else where no secret stands across it.
func lineEnd(
	in io.ReaderAt, from, length int64, find func([]byte, byte) int, hide func(string) string,
) (int64, error) {
	window := make([]byte, length)
	n, err := in.ReadAt(window, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if i := find(window[:n], '\n'); i >= 0 {
		return from + int64(i) + 1, nil
	}
	return from + int64(secrets.Cut(string(window[:n]), hide)), nil
}
