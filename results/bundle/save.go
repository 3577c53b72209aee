package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/benchrig/bench/internal/newfile"
	"github.com/benchrig/bench/internal/userfile"
)

// Save packs the run folder dir into a file at path, which is complete or absent. Without
// overwrite the file must be new; else the error is fs.ErrExist.
func Save(ctx context.Context, path, dir string, overwrite bool, o Options) (*Index, error) {
	if err := userfile.Writable(path); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path); err == nil && !overwrite {
		return nil, fs.ErrExist // before the work
	}

	file, err := newfile.Beside(path)
	if err != nil {
		return nil, fmt.Errorf("write bundle: %w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // gone already once renamed

	index, err := writeBundle(ctx, file, dir, o)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}

	return index, newfile.Place(file.Name(), path, overwrite)
}
