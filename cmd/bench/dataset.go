package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/internal/userfile"
	"github.com/benchrig/bench/load/vllmcli"
	"github.com/benchrig/bench/report/prompts"
)

const datasetLong = `Write prompts to a file, and describe such a file. 'bench load --dataset-name frozen
--dataset-path FILE' sends its prompts unchanged, and so does a scenario with
dataset: {kind: frozen, path: FILE}.`

func newDatasetCommand(e env) *cobra.Command {
	cmd := &cobra.Command{Use: "dataset", Short: "Write prompts to a file, and describe such a file", Long: datasetLong}
	cmd.AddCommand(newDatasetBuildCommand(e), newDatasetShowCommand(e))
	return cmd
}

func newDatasetBuildCommand(e env) *cobra.Command {
	return &cobra.Command{
		Use: "build [flags] -o FILE", Short: "Write prompts to a file",
		Long: "Make the prompts that bench load would send with the same flags, and write them\nto a " +
			"file with their hash.",
		Example: "  bench dataset build --dataset-name sharegpt --dataset-path ShareGPT.json --tokenizer " +
			"tokenizer.json --num-prompts 500 -o prompts.jsonl",
		DisableFlagParsing: true, // see bench load
		RunE: func(cmd *cobra.Command, given []string) error {
			var f vllmcli.DatasetFlags
			fs := pflag.NewFlagSet("build", pflag.ContinueOnError)
			fs.Usage = func() {} // help prints it
			out := fs.StringP("output", "o", "", "`file` to write; - is stdout")
			f.AddFlags(fs)
			switch err := f.Parse(fs, given); {
			case errors.Is(err, pflag.ErrHelp):
				return help(e, cmd, fs)
			case err != nil:
				return usageError(fmt.Errorf("%w (see 'bench dataset build --help')", err))
			case *out == "":
				return usageError(errors.New("--output is missing: name the file to write, or - for stdout"))
			}

			return buildDataset(cmd.Context(), e, &f, *out)
		},
	}
}

func buildDataset(ctx context.Context, e env, f *vllmcli.DatasetFlags, out string) error {
	spec, err := f.Spec()
	if err != nil {
		return usageError(err)
	}

	counter, err := step.Counter(ctx, f.Tokenizer, nil)
	if err != nil {
		return usageError(err)
	}

	set, err := dataset.Build(ctx, spec, counter.Tokenizer)
	if err != nil {
		return usageError(err)
	}

	meta := dataset.Meta{Spec: spec, Tokenizer: counter.Name, TokenizerSHA256: counter.SHA256}
	if out == "-" {
		return dataset.Write(e.stdout, set, meta)
	}

	err = userfile.Write(out, func(w io.Writer) error { return dataset.Write(w, set, meta) })
	if err != nil {
		return fmt.Errorf("write prompts: %w", err)
	}

	prompts.Describe(e.Stderr, out, set)
	return nil
}

func newDatasetShowCommand(e env) *cobra.Command {
	return &cobra.Command{
		Use: "show FILE", Short: "Describe a file of prompts",
		Long: "Print the number of prompts in a frozen set, their lengths, and the hash, which\nis checked.",
		Args: args(cobra.ExactArgs(1)), Example: "  bench dataset show prompts.jsonl",
		RunE: func(cmd *cobra.Command, given []string) error { return showDataset(cmd.Context(), e, given[0]) },
	}
}

func showDataset(ctx context.Context, e env, path string) error {
	set, meta, err := dataset.Frozen(ctx, path)
	if err != nil {
		return err
	}
	prompts.Describe(e.stdout, path, set)
	prompts.DescribeOrigin(e.stdout, meta)
	return nil
}
