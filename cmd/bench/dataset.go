package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/load/vllmcli"
	"github.com/benchrig/bench/metrics"
)

const datasetLong = `Make prompt sets without a server, freeze them in a file, and describe them. A
frozen set is sent unchanged by 'bench load --dataset-name frozen --dataset-path
FILE', and by a scenario with dataset: {kind: frozen, path: FILE}.`

func newDatasetCommand(e env) *cobra.Command {
	cmd := &cobra.Command{Use: "dataset", Short: "Freeze prompt sets and describe them", Long: datasetLong}
	cmd.AddCommand(newDatasetBuildCommand(e), newDatasetShowCommand(e))
	return cmd
}

func newDatasetBuildCommand(e env) *cobra.Command {
	return &cobra.Command{
		Use: "build [flags] -o FILE", Short: "Make prompts and freeze them in a file",
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

	file, err := os.Create(out)
	if err != nil {
		return fmt.Errorf("write prompts: %w", err)
	}
	if err := errors.Join(dataset.Write(file, set, meta), file.Close()); err != nil {
		return errors.Join(err, os.Remove(out))
	}

	return describeSet(e.Stderr, out, set)
}

func newDatasetShowCommand(e env) *cobra.Command {
	return &cobra.Command{
		Use: "show FILE", Short: "Describe a frozen prompt set",
		Long: "Print the number of prompts in a frozen set, their lengths, and the hash, which\nis checked.",
		Args: args(cobra.ExactArgs(1)), Example: "  bench dataset show prompts.jsonl",
		RunE: func(cmd *cobra.Command, given []string) error { return showDataset(cmd.Context(), e, given[0]) },
	}
}

func showDataset(ctx context.Context, e env, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()

	meta, err := dataset.ReadFrozen(file)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}

	lines, err := countLines(file)
	if err != nil {
		return err
	}

	set, err := dataset.Build(ctx, dataset.Spec{Kind: "frozen", Path: path, N: max(1, lines-1), NoOversample: true},
		nil)
	if err != nil {
		return err
	}
	if err := describeSet(e.stdout, path, set); err != nil {
		return err
	}

	fmt.Fprintf(e.stdout, "made from      %s %s, seed %d\n", meta.Spec.Kind, meta.Spec.Path, meta.Spec.Seed)
	if meta.Tokenizer != "" {
		fmt.Fprintf(e.stdout, "tokenizer      %s %s\n", meta.Tokenizer, meta.TokenizerSHA256)
	}

	return nil
}

// countLines counts the lines of a whole file.
func countLines(file *os.File) (int, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	n := 0
	for buf := make([]byte, 64<<10); ; {
		read, err := file.Read(buf)
		n += bytes.Count(buf[:read], []byte("\n"))
		switch {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return 0, err
		}
	}
}

// describeSet prints counts, lengths and the hash of a set.
func describeSet(w io.Writer, path string, set *dataset.Set) error {
	var in, out []float64
	images, turns, timed := 0, 0, 0
	for _, p := range set.Prompts {
		if p.InputTokens > 0 {
			in = append(in, float64(p.InputTokens))
		}
		if p.OutputTokens > 0 {
			out = append(out, float64(p.OutputTokens))
		}
		images, turns = images+len(p.Images), turns+len(p.Turns)
		if p.At != nil {
			timed++
		}
	}

	fmt.Fprintf(w, "%s\nprompts        %d\nsha256         %s\n", path, len(set.Prompts), set.SHA256)
	fmt.Fprintf(w, "prompt tokens  %s\nanswer tokens  %s\n", lengths(in, len(set.Prompts)),
		lengths(out, len(set.Prompts)))
	for _, count := range []struct {
		what string
		n    int
	}{{"images", images}, {"further turns", turns}, {"with a time", timed}} {
		if count.n > 0 {
			fmt.Fprintf(w, "%-14s %d\n", count.what, count.n)
		}
	}

	for _, note := range set.Notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}

	return nil
}

// lengths describes token counts, those that are known.
func lengths(known []float64, of int) string {
	if len(known) == 0 {
		return "not known"
	}
	d := metrics.Describe(known, []float64{50, 90, 99})
	var b strings.Builder
	fmt.Fprintf(&b, "min %.0f, mean %.1f, median %.0f", *d.Min, *d.Mean, *d.Median)
	for _, p := range d.Percentiles[1:] {
		fmt.Fprintf(&b, ", %s %.0f", metrics.PercentileName(p.P), *p.Value)
	}
	fmt.Fprintf(&b, ", max %.0f", *d.Max)
	if len(known) < of {
		fmt.Fprintf(&b, " (of the %d that are known)", len(known))
	}
	return b.String()
}
