package nvidia

import (
	"os"
	"path/filepath"
	"testing"
)

const captures = "../testdata/captures"

// capture is the text of a capture of a vendor's tool.
func capture(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(captures, name))
	if err != nil {
		t.Fatal(err)
	}

	return string(data)
}
