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

const sweepLong = `Remove what a server over several nodes left on this one, and print a line of
JSON about it: the processes that carry the cookie, and the memory in use on the
GPUs that the job was given. 'bench job' runs it through srun on the other nodes
of its job; it is not meant to be run by hand. On SIGUSR1 what is left is killed at once.`

type sweepOptions struct {
	cookie, baseline, engine string
	wait, grace              time.Duration
	gpus                     []int
	tolerance                int64
	killNow, addresses       bool
	sample                   bool
}

func newSweepCommand(e env) *cobra.Command {
	var o sweepOptions
	cmd := &cobra.Command{
		Use: "sweep", Short: "Remove what a server left on a node, as a step of a job", Long: sweepLong, Hidden: true,
		Example: "  bench sweep --cookie 0123456789abcdef",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runSweep(cmd.Context(), e, o) },
	}
	fs := cmd.Flags()
	fs.StringVar(&o.cookie, "cookie", "", "BENCH_COOKIE of the processes to remove")
	fs.StringVar(&o.baseline, "baseline", "", "memory in use before the server, as JSON; without it, print that")
	fs.BoolVar(&o.addresses, "addresses", false, "remove nothing: print the node's network interfaces and GPUs")
	fs.BoolVar(&o.sample, "sample", false, "remove nothing: print readings of GPUs and host until SIGUSR1")
	fs.StringVar(&o.engine, "engine", "", "docker or podman: remove its containers with the cookie's label, too")
	fs.DurationVar(&o.wait, "vram-timeout", 0, "longest wait until memory is free; 0: the vendor's default")
	fs.Int64Var(&o.tolerance, "vram-tolerance", 0, "bytes above the baseline that count as free; 0: the default")
	fs.DurationVar(&o.grace, "grace", 0, "from SIGTERM to SIGKILL; 0: the default")
	fs.IntSliceVar(&o.gpus, "gpus", nil, "GPUs of the node, by index, whose memory is looked at; all without it")
	fs.BoolVar(&o.killNow, "kill-now", false, "kill at once, as on SIGUSR1")
	return cmd
}

const shortestCookie = 16 // one that is shorter might mean processes of others

func runSweep(ctx context.Context, e env, o sweepOptions) error {
	switch {
	case o.addresses:
		return cluster.PrintFacts(ctx, e.Process, e.stdout)
	case o.sample:
		return cluster.PrintSamples(ctx, e.Process, e.stdout)
	case len(o.cookie) < shortestCookie:
		return usageError(fmt.Errorf("--cookie %q: want at least %d characters", o.cookie, shortestCookie))
	}
	sweep := cleanup.NodeSweep{Cookie: o.cookie, Engine: o.engine}
	if o.baseline != "" {
		if err := json.Unmarshal([]byte(o.baseline), &sweep.Baseline); err != nil {
			return usageError(fmt.Errorf("--baseline: %w", err))
		}
	}

	sweep.Node, _ = e.Lookup("SLURMD_NODENAME")
	asked, killNow := signal.NotifyContext(ctx, cluster.KillSignal)
	defer killNow()
	if o.killNow {
		killNow()
	}
	sweep.KillNow = asked.Done()
	with, free := e.OpenCleaner(ctx, cluster.GrantedAmong(e.Process, o.gpus))
	defer free()
	if o.grace > 0 {
		with.Grace = o.grace
	}
	with.VRAM = vram.Policy{Timeout: o.wait, Tolerance: o.tolerance}
	return json.NewEncoder(e.stdout).Encode(with.Sweep(ctx, sweep))
}
