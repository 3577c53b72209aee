package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/harness/cluster"
	"github.com/benchrig/bench/harness/screen"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/live"
	"github.com/benchrig/bench/report/live/web"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

const watchLong = `Show a run from another terminal, in progress or ended: all steps, the current
one, the GPUs, the server's log. DIR is a run folder, a folder with runs (the newest
is shown), or the word latest: the newest run in results/. Every command that takes
a run accepts latest.

watch only reads; stop and start it at any time. Without a terminal it prints a line
for each event until the run ends. Its exit code is that of the run if the run has
ended; with --once it is always 0.

With --http it serves the view as a web page, and metrics for Prometheus under
/metrics, until Ctrl-C. Any address but loopback requires an access token.`

type watchOptions struct {
	plainFlags
	once  bool
	http  string
	token string
	otlp  string
}

func newWatchCommand(e env) *cobra.Command {
	var o watchOptions
	cmd := &cobra.Command{
		Use: "watch DIR", Short: "Show a run in progress", Long: watchLong,
		Example: "  bench watch results\n" +
			"  bench watch results/night/20260131-220000-ab12 --once\n" +
			"  bench watch results --http 127.0.0.1:8090",
		ValidArgsFunction: runFolders,
		Args:              args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return runWatch(cmd.Context(), o.of(e), o, given[0])
		},
	}

	o.addFlags(cmd.Flags())
	cmd.Flags().BoolVar(&o.once, "once", false, "print the current state and exit")
	cmd.Flags().StringVar(&o.http, "http", "", "serve a web page and /metrics at this `ADDRESS:PORT`")
	cmd.Flags().StringVar(&o.token, "token", "",
		"with --http: the access `token` that requests must carry; \"new\" makes one; required unless the address is "+
			"loopback")
	cmd.Flags().StringVar(&o.otlp, "otlp", "",
		"also send the metrics to the OpenTelemetry collector at this `URL` (OTLP over HTTP); \"env\": to the one "+
			"that OTEL_EXPORTER_OTLP_ENDPOINT names")
	return cmd
}

func runWatch(ctx context.Context, e env, o watchOptions, dir string) error {
	switch {
	case o.token != "" && o.http == "":
		return usageError(errors.New("--token needs --http"))
	case o.once && o.otlp != "":
		return usageError(errors.New("--once and --otlp cannot be combined"))
	case o.once && o.http != "":
		return usageError(errors.New("--once and --http cannot be combined"))
	}

	dir, err := store.Newest(dir)
	if err != nil {
		return usageError(err)
	}

	follower, err := live.Follow(dir)
	if err != nil {
		return usageError(err)
	}

	ctx, stop := signal.NotifyContext(ctx, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer stop()

	endExport, err := exportMetrics(ctx, e, o.otlp, dir)
	if err != nil {
		return usageError(err)
	}
	defer endExport()

	switch {
	case o.once:
		c := cluster.Cluster{Process: e.Process, Folder: follower.Folder()}
		if follower.Jobs, err = cluster.LiveJobs(ctx, c); err != nil {
			return err
		}
		view, err := follower.View()
		if err != nil {
			return err
		}
		live.Snapshot(e.stdout, view, screen.HasUnicode(e.Lookup))
		return nil
	case o.http != "":
		if err := web.Serve(ctx, e.Stderr, o.http, o.token, follower); err != nil {
			return err
		}
		return codeAtEnd(follower)
	case e.screen.Terminal != nil:
		return showRun(ctx, e, follower)
	}

	return printRun(ctx, e, follower)
}

// exportMetrics sends the metrics of a run to a collector until the end, which it
// waits for; "": to none.
func exportMetrics(ctx context.Context, e env, endpoint, dir string) (end func(), err error) {
	if endpoint == "" {
		return func() {}, nil
	}
	exporter, err := web.NewExporter(endpoint, e.Lookup)
	if err != nil {
		return nil, err
	}
	follower, err := live.Follow(dir)
	if err != nil {
		return nil, err
	}

	stop := exporter.Start(ctx, follower.View)
	return func() { // not before: the view has the terminal
		for _, p := range stop() {
			fmt.Fprintln(e.Stderr, "warning: "+p)
		}
	}, nil
}

// showRun looks at a run on a terminal, until the user leaves.
func showRun(ctx context.Context, e env, follower *live.Follower) error {
	model := live.NewScreen(&live.FolderSource{Follower: follower}, nil, e.screen.Terminal.Unicode)
	terminal := live.Show(context.WithoutCancel(ctx), model, e.screen.Terminal.In, e.screen.Terminal.Out, e.Environ)
	select {
	case <-terminal.Done():
	case <-ctx.Done():
	}
	if err := terminal.Close(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("show run: %w", err)
	}

	return codeAtEnd(follower)
}

// codeAtEnd is the exit code of a run that has ended when the user leaves; nil
// while it continues.
func codeAtEnd(follower *live.Follower) error {
	view, err := follower.View()
	if err != nil || !view.State.IsOver() {
		return err
	}

	return codeOf(view)
}

// printRun prints a run in lines until it ends.
func printRun(ctx context.Context, e env, follower *live.Follower) error {
	dir := follower.Folder().Dir()
	if run, err := store.Read(dir); err == nil && len(run.Manifest.Groups) > 0 {
		c, err := cluster.Open(e.Process, dir, run.Manifest, nil)
		if err != nil {
			return err
		}
		return followCluster(ctx, e, c)
	}

	view, err := follower.PrintUntilEnd(ctx, e.stdout)
	if err != nil || !view.State.IsOver() {
		return err // nil: the run continues
	}
	fmt.Fprintf(e.stdout, "%s: %s\n", dir, view.StateText)
	return codeOf(view)
}

// codeOf is the exit code that the run has, or would have had.
func codeOf(v live.View) error {
	if v.Ended != nil && v.Ended.Class == results.FailInterrupted {
		return codeError{code: exitInterrupted}
	}
	if v.State != live.RunEnded || v.Counts[live.Failed]+v.Counts[live.NotRun] > 0 {
		return codeError{code: exitStepsFailed}
	}
	return nil
}

// followCluster writes lines about jobs until none is left, and prints the
// report. Ctrl-C lets the jobs continue.
func followCluster(ctx context.Context, e env, c cluster.Cluster) error {
	ctx, stop := interruptible(ctx)
	defer stop()

	run, err := c.Follow(ctx)
	if err != nil || run == nil {
		return err
	}
	if err := printReport(e, c.Folder.Dir(), reportOptions{write: true}); err != nil {
		return err
	}

	out, done, open := cluster.Ended(run)
	if done {
		return exitOf(session.Outcome{Outcome: out})
	}

	verb := "are"
	if open == 1 {
		verb = "is"
	}
	fmt.Fprintf(e.Stderr, "bench: no job is left, and %s %s not done; to continue: bench resume %s\n",
		text.Count(open, "step"), verb, c.Folder.Dir())
	return codeError{code: exitStepsFailed}
}
