package store

import (
	"fmt"
	"io"
	"os"

	"github.com/benchrig/bench/internal/inside"
)

// writeAtomic makes the file name of a run folder hold what write produces, or
// leaves it as it was. Missing parent folders are made.
func writeAtomic(root, name string, write func(io.Writer) error) error {
	if err := inside.Replace(root, name, write); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// syncDir makes the names in dir survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	return nil
}
