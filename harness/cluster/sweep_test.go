package cluster

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/results"
)

func TestSweptBy(t *testing.T) {
	const line = `{"node":"n2","pids_ended":[7],"signals":["TERM"],"pids_gone":true,"vram":[]}`
	for _, test := range []struct {
		name, out string
		clean     bool
		fails     bool
	}{
		{"a line", line + "\n", true, false},
		{"after a note of the site", "welcome to n2\n" + line + "\n", true, false},
		{"processes that stay", strings.Replace(line, "true", "false", 1), false, false},
		{"nothing", "", false, true},
		{"no JSON", "bench: not found\n", false, true},
	} {
		got, err := parseSweep(test.out)
		if (err != nil) != test.fails || got.Clean() != test.clean {
			t.Errorf("%s: parseSweep(%q) = %+v, %v, want clean %v, error %v", test.name, test.out, got, err,
				test.clean, test.fails)
		}
	}
}

// A request to kill now is passed to a sweep that runs, and again until it ends.
func TestKillNowIsForwarded(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sh", "-c",
		`trap 'n=$((n+1)); [ $n -lt 2 ] || exit 7' USR1; echo; i=0; while [ $i -lt 3000 ]; do i=$((i+1)); sleep 0.1; done`)
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	killNow := make(chan struct{})
	go func() {
		_, _ = bufio.NewReader(said).ReadString('\n') // the trap is set
		close(killNow)
	}()
	began := time.Now()
	_ = runAndForwardKill(cmd, killNow)
	if code, took := cmd.ProcessState.ExitCode(), time.Since(began); code != 7 || took > 2*time.Minute {
		t.Errorf("runAndForwardKill() ended with code %d after %v, want 7 by the second signal", code, took)
	}
	if err := runAndForwardKill(exec.CommandContext(t.Context(), "true"), nil); err != nil {
		t.Errorf("runAndForwardKill() without a request to kill = %v", err)
	}
}

// Jobs of one array have as many nodes; a cluster allows so many in one.
func TestArrays(t *testing.T) {
	groups := []results.Group{{ID: "a"}, {ID: "b", Nodes: 2}, {ID: "c", Nodes: 1}, {ID: "d"}, {ID: "e", Nodes: 2}}
	var got []string
	for _, array := range arrays(groups, 2) {
		got = append(got, strings.Join(array.ids(), " "))
	}
	if diff := cmp.Diff([]string{"a c", "d", "b e"}, got); diff != "" {
		t.Errorf("arrays() differs (-want +got):\n%s", diff)
	}
}
