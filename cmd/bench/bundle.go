package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results/bundle"
	"github.com/benchrig/bench/results/store"
)

const bundleLong = `Export a run, finished or not, as one zip file: scenario, plan, environment,
journal, results, records, telemetry, server logs, prompts and reports, with an
index of hashes. The same folder gives the same bytes.

Secrets are removed and counted by kind: values of variables, headers and arguments
with the name of a secret, tokens of known form, private keys, passwords in URLs,
and the values of secret variables of this shell. Prompts that contain a secret are
left out, because a changed prompt is another prompt.

--check compares every file of a bundle with its index.`

type bundleOptions struct {
	bundle.Options
	output string
	force  bool
	check  bool
}

func newBundleCommand(e env) *cobra.Command {
	var o bundleOptions
	cmd := &cobra.Command{
		Use: "bundle DIR", Short: "Export a run as one file, without its secrets", Long: bundleLong,
		Example: "  bench bundle results/night/20260131-220000-ab12\n" +
			"  bench bundle DIR --output night.zip --without-records --anonymize\n" +
			"  bench bundle --check night.zip",
		ValidArgsFunction: runFolders,
		Args:              args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			if o.check {
				return checkBundle(cmd.Context(), e, given[0])
			}
			return makeBundle(cmd.Context(), e, o, given[0])
		},
	}

	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "`FILE` to write (default: SCENARIO-RUN.zip in the current folder)")
	f.BoolVar(&o.WithoutLogs, "without-logs", false, "leave out server logs and bench.log")
	f.BoolVar(&o.WithoutRecords, "without-records", false,
		"leave out records of requests, telemetry and server metrics; keep figures")
	f.BoolVar(&o.Anonymize, "anonymize", false, "replace user names in paths, and machine names")
	f.BoolVar(&o.force, "force", false, "overwrite FILE")
	f.BoolVar(&o.check, "check", false, "check a bundle instead of making one")
	return cmd
}

func makeBundle(ctx context.Context, e env, o bundleOptions, dir string) error {
	dir, err := runFolder(e, dir)
	if err != nil {
		return err
	}
	run, err := store.Read(dir)
	if err != nil {
		return err
	}
	if o.output == "" {
		o.output = run.Manifest.Scenario + "-" + run.Manifest.Run + ".zip"
	}

	o.Bench, o.Secrets = version, secrets.Of(e.Environ)
	index, err := bundle.Save(ctx, o.output, dir, o.force, o.Options)
	if errors.Is(err, fs.ErrExist) {
		return usageError(fmt.Errorf("%s exists already; --force overwrites it", o.output))
	}
	if err != nil {
		return err
	}

	return printBundle(e, o.output, index)
}

func printBundle(e env, path string, index *bundle.Index) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s: %s, %d bytes\n", path, text.Count(len(index.Members), "file"), info.Size())
	if !index.Finished {
		fmt.Fprintln(e.stdout, "the run is not finished: the bundle holds what exists so far")
	}
	index.Describe(e.stdout)
	return nil
}

func checkBundle(ctx context.Context, e env, path string) error {
	r, err := bundle.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read

	if err := r.Check(ctx); err != nil {
		return fmt.Errorf("check %s: %w", path, err)
	}

	state := "finished"
	if !r.Index.Finished {
		state = "not finished"
	}

	fmt.Fprintf(e.stdout, "%s: ok: %s %s (%s), %s, all match the index\n",
		path, text.Clean(r.Index.Scenario), text.Clean(r.Index.Run), state, text.Count(len(r.Index.Members), "file"))
	r.Index.Describe(e.stdout)
	return nil
}
