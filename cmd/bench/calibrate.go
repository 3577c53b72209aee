package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/load/calibrate"
)

const calibrateLong = `Measure how much CPU time the load client needs on this machine and how accurate
its time stamps are, compared with a bare reader of sockets on loopback. It takes
about a minute, with --full five; leave the machine idle meanwhile.

The result is stored, and later runs use it in their warnings. docs/performance.md
explains how to read it.`

type calibrateOptions struct {
	widths []int
	tokens int
	rounds int
	full   bool
	output string
	client string
	feeder bool
}

func newCalibrateCommand(e env) *cobra.Command {
	var o calibrateOptions
	cmd := &cobra.Command{
		Use: "calibrate", Short: "Measure the limits of the load client on this machine", Long: calibrateLong,
		Example: "  bench calibrate\n" +
			"  bench calibrate --full\n" +
			"  bench calibrate --streams 64,512 --output calibration.json\n" +
			"  bench calibrate --client 'my-client --url {url} --concurrency {streams}'",
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runCalibrate(cmd.Context(), e, o) },
	}

	cmd.Flags().IntSliceVar(&o.widths, "streams", []int{64, 512, 2048}, "numbers of concurrent streams")
	cmd.Flags().IntVar(&o.tokens, "tokens", 50, "tokens in each stream, 20 ms apart")
	cmd.Flags().IntVar(&o.rounds, "rounds", 3, "repetitions; their medians are reported")
	cmd.Flags().BoolVar(&o.full, "full", false,
		"also 8192 streams, and Go's own HTTP client for comparison, without and with TLS")
	cmd.Flags().StringVar(&o.client, "client", "", "measure this `command` of another client; see docs/performance.md")
	cmd.Flags().StringVar(&o.output, "output", "",
		"`file` to write (default: calibration.json in the user's cache folder)")
	cmd.Flags().BoolVar(&o.feeder, "feeder", false, "serve the measured streams")
	_ = cmd.Flags().MarkHidden("feeder") // it exists
	return cmd
}

func runCalibrate(ctx context.Context, e env, o calibrateOptions) error {
	if o.feeder {
		return calibrate.Serve(ctx, os.Stdin, e.stdout)
	}

	for _, n := range o.widths {
		if n < 1 || n > 20000 {
			return usageError(fmt.Errorf("--streams %d: want 1 to 20000", n))
		}
	}

	if o.tokens < 1 || o.rounds < 1 {
		return usageError(fmt.Errorf("--tokens %d, --rounds %d: want 1 or more", o.tokens, o.rounds))
	}

	ctx, stop := signal.NotifyContext(ctx, unix.SIGINT, unix.SIGTERM)
	defer stop()

	options := calibrate.Options{
		Widths: o.widths, Tokens: o.tokens, Rounds: o.rounds,
		Feeder: func(ctx context.Context) *exec.Cmd {
			return exec.CommandContext(ctx, e.Self, "calibrate", "--feeder")
		},
		Said: func(words string) { fmt.Fprintln(e.Stderr, words) },
	}

	if o.client != "" {
		err := calibrate.CompareClient(ctx, e.stdout, options, o.client)
		if ctx.Err() != nil {
			return codeError{code: exitInterrupted, err: err}
		}
		return err
	}
	if o.full {
		options.Widths = append(options.Widths, 8192)
		options.Readers = calibrate.Readers()
	}

	path := o.output
	if path == "" {
		var err error
		if path, err = calibrate.DefaultPath(); err != nil {
			return fmt.Errorf("%w; name a file with --output", err)
		}
	}

	cal, err := calibrate.Measure(ctx, options)
	if ctx.Err() != nil {
		return codeError{code: exitInterrupted, err: err}
	}
	if err != nil {
		return err
	}
	if err := calibrate.WriteTables(e.stdout, cal); err != nil {
		return err
	}
	if err := calibrate.Save(path, cal); err != nil {
		return err
	}

	fmt.Fprintf(e.stdout, "\nstored in %s\n", path)
	return nil
}
