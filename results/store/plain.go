package store

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// A run folder may come from anybody. Nothing in it is opened through a
// symbolic link, which could lead to a file outside, and nothing but plain files:
// a pipe would block whoever reads it.

// OpenPlain opens a plain file of a run folder for reading.
func OpenPlain(path string) (*os.File, error) { return openAs(path, os.O_RDONLY, 0) }

// openAs opens a plain file of a run folder; flag and mode are those of
// os.OpenFile.
func openAs(path string, flag int, mode os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, mode)
	if errors.Is(err, unix.ELOOP) {
		return nil, fmt.Errorf("open %s: it is a symbolic link, which no run folder has; remove it", path)
	}
	if errors.Is(err, unix.ENXIO) {
		return nil, notPlain(path)
	}
	if err != nil {
		return nil, err
	}

	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notPlain(path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func notPlain(path string) error {
	return fmt.Errorf("open %s: it is not a plain file, as all are in a run folder; remove it", path)
}

// ReadPlain returns the content of a plain file of a run folder.
func ReadPlain(path string) ([]byte, error) {
	f, err := OpenPlain(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read

	return io.ReadAll(f)
}

// writeNew makes a file that was not there.
func writeNew(path string, data []byte) error {
	f, err := openAs(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// compressedMagic begins every file that zstd makes.
const compressedMagic = "\x28\xb5\x2f\xfd"

// damagedFiles names the compressed files of a folder that do not begin as such
// files do.
func damagedFiles(dir string) []string {
	var names []string
	for _, path := range Matching(dir, "*"+compressedSuffix) {
		f, err := OpenPlain(path)
		if err != nil {
			names = append(names, path)
			continue
		}
		begin := make([]byte, len(compressedMagic))
		_, err = io.ReadFull(f, begin)
		_ = f.Close() // it was only read
		if err != nil || string(begin) != compressedMagic {
			names = append(names, path)
		}
	}
	return names
}
