package reproduce

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// What a killed program had unpacked goes with the next one; what a living one has,
// and what others named alike, stays.
func TestRemoveStale(t *testing.T) {
	const nobody = 1 << 30 // no pid is that large
	dir := t.TempDir()
	want := map[string]bool{
		fmt.Sprintf("%s%d-x", tempName, nobody):      false,
		fmt.Sprintf("%s%d-x", tempName, os.Getpid()): true,
		tempName + "mine":                            true,
		"bench-other-1-x":                            true,
	}
	for name := range want {
		if err := os.MkdirAll(filepath.Join(dir, name, "prompts"), 0o700); err != nil {
			t.Fatal(err)
		}
	}

	removeStale(dir)
	for name, stays := range want {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: %v, want that it stays: %v", name, err, stays)
		}
	}
}
