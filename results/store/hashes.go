package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/benchrig/bench/results"
)

// hashFile is the SHA-256 of a file, hex; "" where there is none.
func hashFile(path string) (string, error) {
	data, err := ReadPlain(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// noteChange reports a file that is not as it was when the run started.
func noteChange(r *results.Run, name, path, want string) error {
	got, err := hashFile(path)
	switch {
	case err != nil:
		return fmt.Errorf("read run folder: %w", err)
	case want == "" || got == want:
	case got == "":
		r.Problems = append(r.Problems, name+": missing")
	default:
		r.Problems = append(r.Problems, name+": changed since the run started")
	}
	return nil
}
