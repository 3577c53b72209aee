package session

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The kernel's own table of this process is held against environment.json.
func TestLimitsAreThoseOfThisProcess(t *testing.T) {
	table, err := os.ReadFile("/proc/self/limits")
	if err != nil {
		t.Skip(err)
	}
	_, rest, found := strings.Cut(string(table), "Max open files")
	fields := strings.Fields(rest)
	if !found || len(fields) < 2 {
		t.Fatalf("no open files in %s", table)
	}
	got := limitsBy(syscall.Getrlimit)
	for i, name := range []string{"open_files_soft", "open_files_hard"} {
		if text := strconv.FormatUint(got[name], 10); text != fields[i] {
			t.Errorf("%s = %s, want the kernel's %s", name, text, fields[i])
		}
	}
}

func TestLimitsInEnvironment(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"told", nil, `{"open_files_hard":4096,"open_files_soft":1024}`},
		{"not told", syscall.ENOSYS, `null`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.Marshal(limitsBy(func(resource int, limit *syscall.Rlimit) error {
				if resource == syscall.RLIMIT_NOFILE {
					*limit = syscall.Rlimit{Cur: 1024, Max: 4096}
				}
				return tt.err
			}))
			if err != nil || string(got) != tt.want {
				t.Errorf("limits = %s, %v, want %s", got, err, tt.want)
			}
		})
	}
}
