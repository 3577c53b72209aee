package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/internal/userfile"
	"github.com/benchrig/bench/report/export"
	"github.com/benchrig/bench/report/export/mlflow"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// exportFormats are the values of bench export --format.
var exportFormats = []string{"parquet", "mlflow"}

const exportLong = `Write a run for other programs.

parquet: one file with a row for each request, for notebooks: step, variant, load point,
repeat, times in seconds, tokens, and why it failed. Unknown values are null.
docs/results-format.md describes the columns.

mlflow: a folder in the layout of MLflow's file store (mlruns), with one MLflow run for each
step: figures as metrics in base units, settings as parameters, verdict and versions as tags.
Several exports can share a folder; existing runs are not written again.`

func newExportCommand(e env) *cobra.Command {
	format, out := exportFormats[0], ""
	cmd := &cobra.Command{
		Use: "export DIR", Short: "Write a run for notebooks or for MLflow", Long: exportLong,
		Example: "  bench export results/night/20261129-010203-ab12 --out requests.parquet\n" +
			"  python -c 'import pandas; print(pandas.read_parquet(\"requests.parquet\").ttft_s.median())'\n" +
			"  bench export results/night/20261129-010203-ab12 --format mlflow --out mlruns",
		ValidArgsFunction: runFolders,
		Args:              args(cobra.ExactArgs(1)),
		RunE:              func(_ *cobra.Command, given []string) error { return runExport(e, given[0], format, out) },
	}
	addChoice(cmd, &format, "format", "", exportFormats...)
	cmd.Flags().StringVar(&out, "out", "", "`file` to write, or folder for mlflow (required)")
	return cmd
}

func runExport(e env, dir, format, out string) error {
	if out == "" {
		return usageError(errors.New("--out is missing: name the file to write, or the folder for mlflow"))
	}
	folder, err := openRun(e, dir)
	if err != nil {
		return err
	}
	run, err := store.Read(folder.Dir())
	if err != nil {
		return err
	}

	if format == "mlflow" {
		return exportMLflow(e, run, out)
	}
	return exportParquet(e, run, folder, out)
}

// exportMLflow adds a run to a folder of MLflow runs.
func exportMLflow(e env, run *results.Run, out string) error {
	runs, err := mlflow.Open(out)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	done, err := export.ToMLflow(runs, run)
	if err := errors.Join(err, runs.Close()); err != nil {
		return fmt.Errorf("export: %w", err)
	}

	fmt.Fprintf(e.stdout, "%s: %s added to experiment %s, %d there before\n", out, text.Count(done.Added, "run"),
		done.Experiment, done.Present)
	if done.Unmeasured > 0 {
		fmt.Fprintf(e.Stderr, "bench: left out, because nothing was measured: %s\n",
			text.Count(done.Unmeasured, "step"))
	}
	return nil
}

// exportParquet writes the requests of a run as one file.
func exportParquet(e env, run *results.Run, folder *store.Folder, out string) error {
	var done export.Written
	err := userfile.Write(out, func(w io.Writer) (err error) {
		done, err = export.Requests(w, run, folder)
		return err
	})
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}

	fmt.Fprintf(e.stdout, "%s: %s of %s\n", out, text.Count(done.Requests, "request"),
		text.Count(len(run.Steps), "step"))
	if done.Unreadable > 0 {
		fmt.Fprintf(e.Stderr, "bench: left out, because they cannot be read: %s\n",
			text.Count(done.Unreadable, "record"))
	}
	return nil
}
