package main

import (
	"context"
	"os/signal"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/launchers/simserver"
	"github.com/benchrig/bench/launchers/simserver/simengine"
	"github.com/benchrig/bench/launchers/simserver/simflags"
)

const simulateLong = `Serve HTTP like an inference server, to try scenarios and to test: continuous
batching, prefill and decode times, KV blocks, prefix cache, speculative decoding,
faults on demand.

It loads no model, and its figures say nothing about any engine. Engine flags have
vLLM's names; flags of the simulator itself begin with sim-.`

func newSimulateCommand(e env) *cobra.Command {
	var cfg simengine.Config
	cmd := &cobra.Command{
		Use: "simulate", Short: "Serve as a simulated inference engine", Long: simulateLong,
		Example: "  bench simulate --port 8000 --model meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 8\n" +
			"  bench simulate --sim-fault crash@10 --sim-speed 10",
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runSimulate(cmd.Context(), e, cfg) },
	}
	simflags.Register(cmd.Flags(), &cfg)
	return cmd
}

func runSimulate(ctx context.Context, e env, cfg simengine.Config) error {
	cfg.Exit = e.exit
	cfg.CacheRoot, _ = e.Lookup("VLLM_CACHE_ROOT")
	ctx, stop := signal.NotifyContext(ctx, unix.SIGINT, unix.SIGTERM)
	defer stop()
	if cfg.IgnoresTerm() {
		ctx = context.WithoutCancel(ctx)
	}
	return simserver.Run(ctx, cfg, e.Stderr)
}
