package device

import (
	"context"
	"errors"
	"os/exec"
	"testing"
)

func TestRunTool(t *testing.T) {
	out, err := RunTool(t.Context(), []string{"echo", "a b"})
	if err != nil || string(out) != "a b\n" {
		t.Errorf("runTool(echo) = %q, %v", out, err)
	}
	if _, err := RunTool(t.Context(), []string{"no-such-program-here"}); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("runTool of a missing program: error %v, want %v", err, exec.ErrNotFound)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := RunTool(ctx, []string{"sleep", "60"}); err == nil {
		t.Error("runTool with a canceled context gave no error")
	}
}
