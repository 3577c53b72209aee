package proc

import (
	"os"
	"testing"
	"time"
)

func TestRunDelay(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"586234 49253 1\n": 49253, "1 0 0\n": 0, "5 7": 7, "": -1, "1": -1, "1 ": -1, "1 x 2": -1, "1 -4 2": -1,
		"1 99999999999999999999 2": -1,
	} {
		got, ok := RunDelay([]byte(text))
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("RunDelay(%q) = %v, %v, want %v", text, got, ok, want)
		}
	}
	if text, err := os.ReadFile("/proc/thread-self/schedstat"); err == nil {
		if _, ok := RunDelay(text); !ok {
			t.Errorf("RunDelay does not read the kernel's %q", text)
		}
	}
}
