package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/harness/cluster"
	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/launchers/vram"
)

const sweepLong = `End what a server over several nodes has left on this one, and say in a line of
JSON what was found: the processes that carry the cookie, and the memory of the
GPUs that the job may use. 'bench job' starts it by srun on the other nodes of
its job, before a server to read how much memory is in use, and after it to wait
until no more is; by hand it is of no use. SIGUSR1 says that somebody is in a
hurry: what is left gets SIGKILL at once.`

type sweepOptions struct {
	cookie, baseline string
	wait             time.Duration
	tolerance        int64
	hurry            bool
}

func newSweepCommand(e env) *cobra.Command {
	var o sweepOptions
	cmd := &cobra.Command{
		Use: "sweep", Short: "End what a server has left on a node, as a step of a job", Long: sweepLong, Hidden: true,
		Example: "  bench sweep --cookie 0123456789abcdef",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runSweep(cmd.Context(), e, o) },
	}
	fs := cmd.Flags()
	fs.StringVar(&o.cookie, "cookie", "", "value of BENCH_COOKIE of the processes to end")
	fs.StringVar(&o.baseline, "baseline", "", "JSON of the memory in use before; without it that is read")
	fs.DurationVar(&o.wait, "vram-timeout", 0, "longest wait for memory; 0 is the vendor's usual")
	fs.Int64Var(&o.tolerance, "vram-tolerance", 0, "bytes above the baseline that count as back; 0 is the usual")
	fs.BoolVar(&o.hurry, "hurry", false, "SIGKILL at once, as after SIGUSR1")
	return cmd
}

// shortestCookie keeps a cookie from meaning processes of others.
const shortestCookie = 16

func runSweep(ctx context.Context, e env, o sweepOptions) error {
	if len(o.cookie) < shortestCookie {
		return usageError(fmt.Errorf("--cookie %q: want at least %d characters", o.cookie, shortestCookie))
	}
	sweep := cleanup.NodeSweep{Cookie: o.cookie}
	if o.baseline != "" {
		if err := json.Unmarshal([]byte(o.baseline), &sweep.Baseline); err != nil {
			return usageError(fmt.Errorf("--baseline: %w", err))
		}
	}
	sweep.Node, _ = e.Lookup("SLURMD_NODENAME")
	hurried, hurry := signal.NotifyContext(ctx, cluster.KillSignal)
	defer hurry()
	if o.hurry {
		hurry()
	}
	sweep.Hurry = hurried.Done()
	with, free := e.OpenCleaner(ctx, cluster.GrantedTo(e.Process))
	defer free()
	with.VRAM = vram.Policy{Timeout: o.wait, Tolerance: o.tolerance}
	return json.NewEncoder(e.stdout).Encode(with.Sweep(ctx, sweep))
}
