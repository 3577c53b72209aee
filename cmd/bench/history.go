package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/history"
	"github.com/benchrig/bench/metrics/versus"
	historyreport "github.com/benchrig/bench/report/history"
	"github.com/benchrig/bench/results/store"
)

const historyLong = `Follow figures over time: the same variant and load point of one scenario, measured
again for new engine versions and on other days. Where a recorded setting changes
(engine version, arguments, driver, ...), bench compares the runs before and after.
Among eight or more runs with the same settings it also looks for a change of level
that nothing recorded explains.

FOLDER is a run folder or a folder with runs, at most two levels down.`

type historyOptions struct {
	figures, variants, points []string
	format                    string
	margin                    share
}

func newHistoryCommand(e env) *cobra.Command {
	o := historyOptions{format: historyreport.Formats[0]}
	cmd := &cobra.Command{
		Use: "history FOLDER...", Short: "Follow figures over engine versions and days",
		Long: historyLong,
		Example: "  bench history results/nightly\n" +
			"  bench history results/nightly --figures output_throughput,p99_ttft_s --variants tp8\n" +
			"  bench history results/nightly --format html > history.html",
		ValidArgsFunction: runFolders,
		Args:              args(cobra.MinimumNArgs(1)),
		RunE:              func(_ *cobra.Command, given []string) error { return showHistory(e, given, o) },
	}

	f := cmd.Flags()
	f.StringSliceVar(&o.figures, "figures", []string{"output_throughput"},
		"figures to follow, by their names in summary.csv")
	f.StringSliceVar(&o.variants, "variants", nil, "variants to follow (default: all)")
	f.StringSliceVar(&o.points, "points", nil, "load points to follow (default: all)")
	addChoice(cmd, &o.format, "format", "", historyreport.Formats...)
	f.Var(&o.margin, "smallest-difference", "smallest relative change of interest (default: 3%)")
	completeValues(cmd, "figures", catalog.ConditionNames()...)
	return cmd
}

func showHistory(e env, folders []string, o historyOptions) error {
	rule := compare.DefaultRule()
	rule.Margin = cmp.Or(float64(o.margin), rule.Margin)
	paths, err := store.Runs(folders)
	if err != nil {
		return err
	}
	sides, err := versus.ReadSides(paths, store.ReadAny)
	if err != nil {
		return err
	}
	_, figures, err := versus.FiguresOf(sides, o.figures)
	if err != nil {
		return usageError(fmt.Errorf("--figures: %w", err))
	}

	all := history.Of(sides, history.Wanted{Variants: o.variants, Points: o.points, Figures: figures, Rule: rule})
	if len(all) == 0 {
		return errors.New("no variant and load point was measured in two of these runs of one scenario")
	}
	return historyreport.Write(e.stdout, all, rule, o.format, e.tables())
}
