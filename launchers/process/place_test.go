package process

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/benchrig/bench/internal/cpus"
)

// TestPlacedProcess: a program runs on the CPUs and at the nice value asked for; one
// that cannot is not started.
func TestPlacedProcess(t *testing.T) {
	here, err := cpus.Here()
	if err != nil {
		t.Fatal(err)
	}
	last := here.Allowed[len(here.Allowed)-1:]
	p, err := Start(Config{
		Argv: []string{"sleep", "1000"}, Env: os.Environ(), LogPath: filepath.Join(t.TempDir(), "log"),
		Place: cpus.Place{CPUs: last, Nice: 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/" + strconv.Itoa(p.Info().PID) + "/status")
	if err != nil || !strings.Contains(string(status), "Cpus_allowed_list:\t"+last.String()+"\n") {
		t.Errorf("the program's status, %v, has no CPUs %s:\n%s", err, last, status)
	}
	if _, err := p.Stop(t.Context(), 0); err != nil {
		t.Error(err)
	}
	<-p.Done()

	_, err = Start(Config{
		Argv: []string{"sleep", "1000"}, Env: os.Environ(), LogPath: filepath.Join(t.TempDir(), "log"),
		Place: cpus.Place{CPUs: cpus.Set{1023}},
	})
	if err == nil || !strings.Contains(err.Error(), "1023") {
		t.Errorf("on CPU 1023: %v, want an error that names it", err)
	}
	if after, err := cpus.Here(); err != nil || after.Allowed.String() != here.Allowed.String() {
		t.Errorf("bench itself may use CPUs %s now, %v, want %s", after.Allowed, err, here.Allowed)
	}
}
