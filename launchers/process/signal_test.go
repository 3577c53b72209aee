package process

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/proc"
)

// A signal for a process that is gone must not hit one that got its pid.
func TestSendSignalChecksStartTime(t *testing.T) {
	t.Parallel()
	self, err := proc.System.Process(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	impostor := self
	impostor.StartTime++
	if err := sendSignal(proc.System, impostor, unix.SIGKILL); err != nil {
		t.Errorf("sendSignal(impostor, KILL) = %v, want nil and no effect", err)
	}
	const none = 1 << 22 // above the largest possible pid
	if err := sendSignal(proc.System, proc.Process{PID: none}, unix.SIGKILL); err != nil {
		t.Errorf("sendSignal(no such process) = %v, want nil", err)
	}
}
