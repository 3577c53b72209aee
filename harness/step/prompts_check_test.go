package step

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrig/bench/scenarios"
)

// A length that only the running server knows does not make a readable file
// look broken.
func TestCheckDatasetsWithLengthOfServer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text.txt")
	if err := os.WriteFile(path, []byte(strings.Repeat("a text of words. ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	point := scenarios.Load{
		ContextReserve: 64, OutputLen: 8, NumPrompts: 4,
		Dataset: scenarios.Dataset{Kind: "text", Path: path},
	}
	if err := CheckDatasets(t.Context(), &scenarios.Scenario{Points: []scenarios.Load{point}}); err != nil {
		t.Errorf("CheckDatasets = %v, want the file accepted", err)
	}
	point.ContextReserve = 0
	if err := CheckDatasets(t.Context(), &scenarios.Scenario{Points: []scenarios.Load{point}}); err == nil {
		t.Error("CheckDatasets accepts text prompts without a length")
	}
}
