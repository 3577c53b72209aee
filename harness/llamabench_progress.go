package harness

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/internal/llamabench"
	"github.com/benchrig/bench/results"
)

// TestMeasured is a test that llama-bench has measured; Message says which, and
// how fast.
const TestMeasured status.UpdateKind = "test-measured"

// testsPoll is how often the output of a program is looked at that runs.
const testsPoll = time.Second

// followTests reports each test of a program that runs, as soon as it prints
// it. stop ends that and waits.
func (m benchProgram) followTests(ctx context.Context, a attempt, id string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(testsPoll)
		defer ticker.Stop()
		for shown := 0; ; {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}

			for _, row := range m.testsFrom(id, shown) {
				shown++
				m.observeStep(status.Update{
					Kind: TestMeasured, Step: a.StepRef, Life: id,
					Message: fmt.Sprintf("test %d: %s", shown, testLine(row)),
				})
			}
		}
	}()
	return func() { cancel(); <-done }
}

// testsFrom are the tests that the program of a life has printed so far, but for
// the first few.
func (m benchProgram) testsFrom(id string, first int) []results.LlamaBenchRow {
	log, err := m.folder.OpenServerLog(id, 0)
	if err != nil {
		return nil // it has not printed anything
	}

	text, err := io.ReadAll(log)
	_ = log.Close() // it was only read
	if err != nil {
		return nil
	}
	if end := strings.LastIndexByte(string(text), '\n'); end >= 0 {
		text = text[:end+1] // the rest is a line that is being written
	}

	out, err := llamabench.Parse(text)
	if err != nil || len(out.Rows) <= first {
		return nil
	}

	return out.Rows[first:]
}

func testLine(row results.LlamaBenchRow) string {
	return fmt.Sprintf("%s of %s: %.2f tokens/s", row.Test,
		cmp.Or(strings.TrimSuffix(filepath.Base(row.File), ".gguf"), row.Model), row.TokensPerS)
}
