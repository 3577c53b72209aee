package store

import (
	"fmt"
	"io"
	"os"

	"github.com/benchrig/bench/internal/inside"
)

// OpenPlain opens a plain file of a run folder for reading: nothing through a
// symbolic link, no pipe (internal/inside).
func OpenPlain(path string) (*os.File, error) {
	root, name := inside.Split(path)
	return inside.Open(root, name, os.O_RDONLY, 0)
}

// ReadPlain returns the content of a plain file of a run folder, of at most
// inside.MaxWhole bytes.
func ReadPlain(path string) ([]byte, error) {
	f, err := OpenPlain(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read

	data, err := inside.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
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
