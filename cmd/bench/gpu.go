package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/gpu/capture"
	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/gpu/show"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

const gpuLong = `List the GPUs of this machine: which sampler reads each, one reading, and which
processes hold its memory.

With --capture it writes a folder to attach to a bug report: the output of the
vendors' tools, the files that were read, and what bench made of them. Serial
numbers, unique ids and user names are replaced; capture.json lists the
replacements.`

type gpuOptionsGiven struct {
	sampler string
	watch   bool
	asJSON  bool
	capture string
}

func newGPUCommand(e env) *cobra.Command {
	o := gpuOptionsGiven{sampler: "auto"}
	cmd := &cobra.Command{
		Use: "gpu", Short: "List GPUs, their readings, and which processes hold their memory", Long: gpuLong,
		Example: "  bench gpu\n" +
			"  bench gpu --watch\n" +
			"  bench gpu --sampler nvidia-smi --json\n" +
			"  bench gpu --capture my-box",
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runGPU(cmd.Context(), e, o) },
	}

	flags := cmd.Flags()
	addChoice(cmd, &o.sampler, "sampler", "sampler that reads the GPUs: ", slices.Concat([]string{"auto"},
		gpu.SamplerNames())...)
	flags.BoolVar(&o.watch, "watch", false, "print the readings once a second until Ctrl-C")
	flags.BoolVar(&o.asJSON, "json", false, "print JSON; with --watch a line for each reading")
	flags.StringVar(&o.capture, "capture", "", "new `folder` to write for a bug report")
	return cmd
}

func runGPU(ctx context.Context, e env, o gpuOptionsGiven) error {
	ctx, stop := signal.NotifyContext(ctx, unix.SIGINT, unix.SIGTERM)
	defer stop()

	options := e.GPUOptions()
	if o.capture != "" {
		if o.watch || o.asJSON {
			return usageError(errors.New("--capture cannot be combined with --watch or --json"))
		}
		return captureGPUs(ctx, e, options, o.capture)
	}

	machine, err := gpu.Detect(ctx, options)
	if err != nil {
		return interrupted(ctx, err)
	}

	samplers, notes, err := gpu.Samplers(ctx, options, machine, o.sampler)
	if err != nil {
		return interrupted(ctx, err)
	}
	defer closeAll(samplers)

	if o.watch {
		return show.Watch(ctx, e.stdout, e.width > 0, o.asJSON, machine, samplers)
	}

	view := show.View{
		Inventory: machine, Samplers: []show.Sampler{}, Holders: []results.GPUHolder{},
		Notes: slices.Concat([]string{}, machine.Notes, notes),
	}
	view.Read(ctx, samplers)
	view.ReadHolders(ctx, options)
	if ctx.Err() != nil {
		return interrupted(ctx, ctx.Err())
	}
	if o.asJSON {
		return printJSON(e, view)
	}

	return view.Print(e.stdout)
}

// interrupted gives Ctrl-C its exit code.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return codeError{code: exitInterrupted}
	}
	return err
}

func closeAll(samplers []device.Sampler) {
	for _, sampler := range samplers {
		_ = sampler.Close() // nothing was written
	}
}

func captureGPUs(ctx context.Context, e env, options device.Options, folder string) error {
	captured, err := capture.Write(ctx, options, folder)
	if err != nil {
		return interrupted(ctx, err)
	}
	fmt.Fprintf(e.stdout, "%s: output of %s, %s, %s\n", folder, text.Count(len(captured.Commands), "command"),
		text.Count(len(captured.Files), "file"), text.Count(len(captured.Readings), "reading"))
	writeList(e.stdout, "missing", captured.Missing)
	writeList(e.stdout, "replaced", captured.Removed)
	fmt.Fprintln(e.stdout, "Look through it before you send it.")
	return nil
}

func writeList(w io.Writer, head string, items []string) {
	for _, item := range items {
		fmt.Fprintf(w, "%s: %s\n", head, item)
	}
}
