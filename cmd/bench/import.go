package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/internal/importer"
	"github.com/benchrig/bench/internal/importer/save"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/page"
	"github.com/benchrig/bench/results/store"
)

const importLong = `Make a results folder from the results of other programs, for report, compare and
reproduce: JSON files of vLLM and SGLang, result blocks and Markdown tables in logs
and READMEs, llama-bench as json, jsonl, md, csv or sql, exports of AIPerf, GuideLLM
and others, and bench's own result.json and summary.csv.

The format is recognised from the content. Variants are named by --variant or
--variant-pattern, else by labels, headings, table columns and models. Several
results of one variant and load are repeats. Facts that the files do not contain are
unknown unless --set gives them. Lines that were not understood are listed.`

type importOptions struct {
	output, name, variant, pattern, format string
	renames, sets                          []string
}

func newImportCommand(e env) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use: "import FILE...", Short: "Import results of other programs: saved files, logs, tables", Long: importLong,
		Example: "  bench import results/*.json --name a100 --set gpus='8 x A100' --set engine_version=0.10.1\n" +
			"  bench import README.md --name published\n" +
			"  bench import tp*_c*.json --variant-pattern '^(?P<variant>tp\\d+)_(?P<point>c\\d+)'\n" +
			"  kubectl logs bench | bench import - --name pod",
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error { return importFiles(e, cmd.InOrStdin(), given, o) },
	}

	f := cmd.Flags()
	f.StringVar(&o.output, "output", "results", "`folder` for results")
	f.StringVar(&o.name, "name", "", "`name` of the run's scenario (default: that of the first file)")
	f.StringVar(&o.variant, "variant", "", "`name` of the variant of every result")
	f.StringVar(&o.pattern, "variant-pattern", "",
		"regular `expression` for file names; its group (?P<variant>...), or the first, names the variant, "+
			"(?P<point>...) the load point")
	f.StringArrayVar(&o.renames, "rename", nil, "`OLD=NEW`: another name for a variant; repeatable")
	addChoice(cmd, &o.format, "format", "format of all files, in place of detection: ", importer.Formats()...)
	f.StringArrayVar(&o.sets, "set", nil, "`key=value` that the files do not contain: model, engine_version, gpus, "+
		"driver, host, max_concurrency, num_prompts and others")
	return cmd
}

func importFiles(e env, stdin io.Reader, paths []string, o importOptions) error {
	options := importer.Options{Format: o.format, Variant: o.variant, VariantPattern: o.pattern}
	for _, set := range o.sets {
		key, value, ok := strings.Cut(set, "=")
		if !ok {
			return usageError(fmt.Errorf("--set %s: want key=value", set))
		}
		options.Sets = append(options.Sets, importer.Setting{Key: key, Value: value})
	}

	if o.variant != "" && o.pattern != "" {
		return usageError(errors.New("--variant and --variant-pattern cannot be combined"))
	}

	for _, text := range o.renames {
		rename, err := importer.ParseRename(text)
		if err != nil {
			return usageError(fmt.Errorf("--rename: %w", err))
		}
		options.Renames = append(options.Renames, rename)
	}

	var sources []importer.Source
	for _, path := range paths {
		source, err := save.ReadSource(stdin, path)
		if err != nil {
			return err
		}
		sources = append(sources, source)
	}

	read, err := importer.Import(sources, options)
	if err != nil {
		return err
	}

	name := o.name
	if name == "" {
		name = save.FolderName(sources[0].Name)
	}

	save.KeepCopies(read, sources)
	runs := read.Runs(importer.Naming{Name: name, Bench: version, At: time.Now().UTC().Format(time.RFC3339)}, options)
	for _, run := range runs {
		folder, err := save.WriteRun(run, o.output, sources)
		if err != nil {
			return err
		}
		written, err := store.Read(folder.Dir())
		if err != nil {
			return err
		}
		if err := page.WriteFiles(written); err != nil {
			return err
		}
		fmt.Fprintf(e.stdout, "results: %s (%s, method %s)\n", folder.Dir(), text.Count(len(run.Steps), "step"),
			run.Manifest.Method)
	}

	save.Describe(e.stdout, e.Stderr, read)
	return nil
}
