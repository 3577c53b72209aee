package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"benchrig/report"
	"benchrig/results"
)

const reportLong = `Print the report of a results folder, finished or not. It is made from the
files alone: the same folder gives the same report, on any machine, years later.`

type reportOptions struct {
	step   string
	format string
	write  bool // write report.md, summary.csv and the result blocks
}

func newReportCommand(e env) *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use: "report DIR", Short: "Print the report of a results folder", Long: reportLong,
		Example: "  bench report results/quickstart/20261127-210000-1a2b\n  bench report DIR --format markdown\n  bench report DIR --step tp4_c16_r1",
		Args:    args(cobra.ExactArgs(1)),
		RunE:    func(_ *cobra.Command, given []string) error { return printReport(e, given[0], o) },
	}
	cmd.Flags().StringVar(&o.step, "step", "", "show one step: result block, warnings, failure, log tail")
	cmd.Flags().StringVar(&o.format, "format", "text", "text, markdown or csv")
	cmd.Flags().BoolVar(&o.write, "write", false, "also write report.md, summary.csv and the result blocks into the folder")
	return cmd
}

func printReport(e env, dir string, o reportOptions) error {
	run, err := results.Read(dir)
	if err != nil {
		return err
	}
	if o.write {
		if err := report.WriteFiles(run); err != nil {
			return err
		}
	}
	switch {
	case o.step != "":
		return report.Step(e.stdout, run, o.step)
	case o.format == "markdown":
		return report.Markdown(e.stdout, run)
	case o.format == "csv":
		return report.CSV(e.stdout, run)
	case o.format == "", o.format == "text":
		return report.Write(e.stdout, run, report.Options{Width: e.width, Color: e.width > 0})
	}
	return usageError(fmt.Errorf("--format %q: want text, markdown or csv", o.format))
}
