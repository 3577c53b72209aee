package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

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

// noteChange reports a file that is not as it was when the run started, or that cannot
// be read.
func noteChange(r *results.Run, name, path, want string) {
	got, err := hashFile(path)
	switch {
	case err != nil && slices.ContainsFunc(r.Problems, func(p string) bool { return strings.HasPrefix(p, name) }):
		// it is reported already
	case err != nil:
		r.Problems = append(r.Problems, fmt.Sprintf("%s: %v", name, err))
	case want == "" || got == want:
	case got == "":
		r.Problems = append(r.Problems, name+": missing")
	default:
		r.Problems = append(r.Problems, name+": changed since the run started")
	}
}
