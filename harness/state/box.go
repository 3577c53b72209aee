package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Store is the state of one machine. A home folder may be shared by several
// machines, hence a folder for each.
type Store struct{ dir string }

// Open opens the state of this machine below root, which is made if need be.
func Open(root string) (*Store, error) {
	host, err := hostname()
	if err != nil {
		return nil, err
	}
	return open(root, host)
}

func hostname() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("open the state folder: %w", err)
	}
	return host, nil
}

func open(root, host string) (*Store, error) {
	b := &Store{dir: filepath.Join(root, folderName(host))}
	if err := os.MkdirAll(filepath.Join(b.dir, runsName), 0o700); err != nil {
		return nil, fmt.Errorf("open the state folder: %w; set BENCH_STATE_DIR to a folder that can be written", err)
	}
	return b, nil
}

const (
	lockName = "box.lock"
	runsName = "runs"
)

// Queue opens the state of this machine's queue, with a lock of its own for who
// carries it out.
func (b *Store) Queue() (*Store, error) { return open(b.dir, "queue") }

// Dir is where the state is.
func (b *Store) Dir() string { return b.dir }

// folderName makes a host's name a folder's.
func folderName(host string) string {
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == 0 {
			return '_'
		}
		return r
	}, host)
	if strings.Trim(name, ".") == "" {
		return "localhost"
	}
	return name
}

// Replace writes a file whole or not at all, and waits until it is on disk.
func Replace(path string, data []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // gone already once renamed

	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return err
	}

	return syncDir(filepath.Dir(path))
}

// syncDir makes the names in dir survive a power cut. Some file systems have
// no such thing; there it is done already or nothing can do it.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
