package mlflow

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/internal/usage"
)

// markName is the file by which a folder is known as one of this package. MLflow
// reads folders alone there.
const markName = ".bench-export"

const markText = "MLflow runs that bench export has written; further exports add to them.\n"

// Store is a folder of experiments.
type Store struct {
	path string // absolute
	root *os.Root
}

// Open opens a folder of experiments. It makes one where nothing has the name, or
// an empty folder; anything else is refused, an mlruns folder of others included.
func Open(name string) (*Store, error) {
	absolute, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(absolute, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}

	root, err := os.OpenRoot(absolute)
	if err != nil {
		return nil, usage.Errorf("write MLflow runs to %s: it is not a folder; name a new one", name)
	}
	s := &Store{path: absolute, root: root}
	if err := s.claim(name); err != nil {
		_ = root.Close() // nothing was written
		return nil, err
	}
	return s, nil
}

// claim marks a folder that is empty, and refuses one that holds things without a
// mark.
func (s *Store) claim(name string) error {
	if s.has(markName) {
		return nil
	}

	dir, err := s.root.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // it was only read
	switch entries, err := dir.ReadDir(1); {
	case len(entries) > 0:
		return usage.Errorf("write MLflow runs to %s: the folder holds files that bench export has not written; "+
			"name a new folder, or an empty one", name)
	case err != nil && !errors.Is(err, io.EOF):
		return err
	}

	return s.write(markName, markText)
}

// Close closes the folder.
func (s *Store) Close() error { return s.root.Close() }

// uri is the address of a file or folder of the store, as MLflow notes it.
func (s *Store) uri(name string) string {
	return (&url.URL{Scheme: "file", Path: path.Join(filepath.ToSlash(s.path), name)}).String()
}

// has reports whether something has the name, a link included.
func (s *Store) has(name string) bool {
	_, err := s.root.Lstat(name)
	return err == nil
}

// write makes a file, which must not exist, and the folders that contain it.
func (s *Store) write(name, content string) error {
	if err := s.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, content)
	return errors.Join(err, f.Close())
}

// read is the content of a short file; "" where there is none.
func (s *Store) read(name string) (string, error) {
	f, err := inside.Open(s.path, name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read

	const enough = 4096
	data, err := io.ReadAll(io.LimitReader(f, enough))
	return string(data), err
}

// experimentID is the id of an experiment: 18 digits of a hash of its name, as many
// as MLflow gives.
func experimentID(name string) string {
	const (
		least = 100_000_000_000_000_000
		span  = 9 * least
	)
	sum := sha256.Sum256([]byte("bench experiment\n" + name))
	return strconv.FormatUint(least+binary.BigEndian.Uint64(sum[:8])%span, 10)
}

// runID is the id of a run: 32 hexadecimal digits of a hash of what it is of.
func runID(of string) string {
	sum := sha256.Sum256([]byte("bench run\n" + of))
	return hex.EncodeToString(sum[:16])
}

// Add writes a run to the experiment of a name, which it makes where it is
// missing. added is false where the run is there in the same version, whatever
// MLflow has changed in it since.
func (s *Store) Add(experiment string, r Run) (added bool, err error) {
	experiment = cut(experiment, maxExperiment)
	id := experimentID(experiment)
	if s.has(path.Join(".trash", id)) {
		return false, usage.Errorf("write MLflow runs: experiment %q was deleted in MLflow; restore it "+
			"(mlflow experiments restore -x %s), or name another folder", experiment, id)
	}
	if meta := path.Join(id, metaName); !s.has(meta) {
		if err := s.write(meta, experimentMeta(id, experiment, s.uri(id), r.StartMS)); err != nil {
			return false, fmt.Errorf("write MLflow experiment: %w", err)
		}
	}

	folder := path.Join(id, runID(r.Of))
	if s.has(path.Join(folder, metaName)) {
		written, err := s.read(path.Join(folder, versionName))
		if err != nil || written == r.Version {
			return false, err
		}
	}

	// A run without its meta.yaml is what an export that was interrupted has left.
	if err := s.root.RemoveAll(folder); err != nil {
		return false, err
	}
	if err := s.addRun(id, folder, r); err != nil {
		return false, fmt.Errorf("write MLflow run: %w", err)
	}
	return true, nil
}

// addRun writes the files of a run, meta.yaml last.
func (s *Store) addRun(experiment, folder string, r Run) error {
	for _, name := range []string{"metrics", "params", "tags", "artifacts"} {
		if err := s.root.MkdirAll(path.Join(folder, name), 0o755); err != nil {
			return err
		}
	}

	files := r.files()
	files = append(files, file{versionName, r.Version})
	files = append(files, file{metaName, r.meta(experiment, s.uri(path.Join(folder, "artifacts")))})
	for _, f := range files {
		if err := s.write(path.Join(folder, f.name), f.content); err != nil {
			return err
		}
	}
	return nil
}
