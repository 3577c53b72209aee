package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"benchrig/internal/slurmtest"
)

// TestCluster runs scripts against a real Slurm cluster on this machine. Those
// that take minutes run where BENCH_CHAOS is "full", as make chaos sets it.
func TestCluster(t *testing.T) {
	cluster := slurmtest.Start(t)
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/cluster",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SLURM_CONF", cluster.Conf)
			e.Setenv("BENCH_STATE_DIR", filepath.Join(e.WorkDir, ".state"))
			return nil
		},
		Condition: func(cond string) (bool, error) { return cond == "long" && os.Getenv("BENCH_CHAOS") == "full", nil },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"noleftovers": noLeftovers,
			"killnode": func(_ *testscript.TestScript, _ bool, args []string) {
				cluster.KillNode(args[0])
			},
			"startnode": func(_ *testscript.TestScript, _ bool, args []string) {
				cluster.StartNode(args[0])
			},
		},
	})
}
