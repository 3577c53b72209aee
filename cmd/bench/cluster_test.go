package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/benchrig/bench/internal/slurmtest"
)

// TestCluster runs scripts side by side against a real Slurm cluster on this
// machine.
func TestCluster(t *testing.T) { runOnTestCluster(t, "testdata/cluster") }

// TestClusterFaults does the same with scripts that take nodes away or wait for
// time limits, which takes minutes.
func TestClusterFaults(t *testing.T) {
	if os.Getenv("BENCH_CHAOS") != "full" {
		t.Skip("takes minutes: make chaos runs it")
	}
	runOnTestCluster(t, "testdata/cluster-faults")
}

func runOnTestCluster(t *testing.T, dir string) {
	t.Helper()
	cluster := slurmtest.Start(t)
	lost := "" // name of the node that was taken away
	testscript.Run(t, testscript.Params{
		Dir:           dir,
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SLURM_CONF", cluster.Conf)
			e.Setenv("BENCH_STATE_DIR", filepath.Join(e.WorkDir, ".state"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"noleftovers": noLeftovers,
			// losenode FILE takes away the node on which the jobs of the run run that
			// is named in FILE.
			"losenode": func(ts *testscript.TestScript, _ bool, args []string) {
				out, err := cluster.Output("squeue", "--noheader",
					"--name=bench-"+strings.TrimSpace(ts.ReadFile(args[0])), "--format=%N")
				ts.Check(err)
				lost = strings.TrimSpace(out)
				cluster.KillNode(lost)
			},
			"bringback": func(*testscript.TestScript, bool, []string) { cluster.StartNode(lost) },
		},
	})
}
