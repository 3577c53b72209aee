package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/internal/offer"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/differences"
	"github.com/benchrig/bench/report/export"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results/store"
)

const compareLong = `Compare runs. Variants are matched by name, else by configuration; load points by
label. For every figure the change is printed with its interval and a verdict:
better, worse, no difference, or cannot tell with the number of repeats that would.
CONFIG DELTA lists what else differs between the runs.

A run is a run folder, the folder of one step, or a result.json.

--fail-if takes a figure, by its name in summary.csv, and a limit for its change
against the baseline. If the change is beyond the limit and its verdict is better
or worse, the exit code is 4. A missing figure counts as beyond the limit where
the baseline has it. --fail-if-uncertain also fails if the limit may be exceeded
but the figures cannot tell.`

type compareOptions struct {
	baseline  string
	format    string
	strict    bool
	failIf    []string
	uncertain bool
	figures   []string
	prices    []string
	margin    share
	match     []string
}

func newCompareCommand(e env) *cobra.Command {
	o := compareOptions{format: "table"}
	cmd := &cobra.Command{
		Use: "compare RUN RUN...", Short: "Compare runs: changes with intervals and verdicts", Long: compareLong,
		Example: "  bench compare results/ab/monday results/ab/tuesday\n" +
			"  bench compare A B --fail-if 'output_throughput<-3%' --fail-if 'p99_ttft_ms>10%'\n" +
			"  bench compare A B --format benchstat > ab.txt && benchstat -col run ab.txt",
		ValidArgsFunction: runFolders,
		Args:              args(cobra.MinimumNArgs(1)),
		RunE:              func(_ *cobra.Command, given []string) error { return compareRuns(e, given, o) },
	}

	f := cmd.Flags()
	f.StringVar(&o.baseline, "baseline", "", "`run` that the others are compared with, as given (default: the first)")
	addChoice(cmd, &o.format, "format", "", "table", "markdown", "json", "benchstat")
	f.BoolVar(&o.strict, "strict", false, "refuse to compare if more than one thing differs")
	f.StringArrayVar(&o.failIf, "fail-if", nil,
		"`condition` for exit code 4, such as 'output_throughput<-3%'; repeatable")
	f.BoolVar(&o.uncertain, "fail-if-uncertain", false, "exit code 4 also if it is uncertain whether a condition holds")
	f.StringSliceVar(&o.figures, "figures", nil,
		"figures to compare, by their names in summary.csv; fewer figures need fewer repeats")
	asJSON := f.Bool("json", false, "the same as --format json")
	cmd.PreRun = func(*cobra.Command, []string) {
		if *asJSON {
			o.format = "json"
		}
	}

	completeValues(cmd, "figures", catalog.ConditionNames()...)
	completeValues(cmd, "fail-if", offer.Conditions()...)
	complete(cmd, "baseline", func(given []string, _ string) []string { return given })
	f.StringArrayVar(&o.match, "match", nil,
		"`A=B`: compare the baseline's variant A with B of the other runs; repeatable")
	complete(cmd, "match", offer.Match)
	addPriceFlag(cmd, &o.prices)
	f.Var(&o.margin, "smallest-difference",
		"smallest relative difference of interest, such as 2% (default: that of the baseline's scenario)")
	return cmd
}

func compareRuns(e env, paths []string, o compareOptions) error {
	conditions, err := o.parse()
	if err != nil {
		return usageError(err)
	}

	for i, path := range paths {
		if newest, err := store.Newest(path); err == nil {
			paths[i] = newest
		}
	}

	sides, err := versus.ReadSides(paths, store.ReadAny)
	if err != nil {
		return err
	}

	for _, side := range sides {
		if err := applyPrices(o.prices, side.Run); err != nil {
			return usageError(err)
		}
	}

	if o.format == "benchstat" {
		return export.Benchstat(e.stdout, sides)
	}

	matches, err := versus.ParseMatches(o.match)
	if err != nil {
		return usageError(fmt.Errorf("--match: %w", err))
	}

	comparison, err := versus.Compare(sides, versus.CompareOptions{
		Baseline: o.baseline, Figures: o.figures, Conditions: conditions, Margin: float64(o.margin), Match: matches,
	})
	if err != nil {
		return usageError(err)
	}

	findings, err := comparison.Check(conditions)
	if err != nil {
		return usageError(err)
	}
	if o.strict {
		if err := comparison.Strict(); err != nil {
			return err
		}
	}
	err = differences.WriteComparison(e.stdout, comparison, table.Format(o.format), findings,
		e.tables())
	if err != nil {
		return err
	}

	for _, f := range findings {
		if !f.Uncertain || o.uncertain {
			return codeError{exitChanged, nil}
		}
	}

	return nil
}

func (o compareOptions) parse() ([]versus.Condition, error) {
	var conditions []versus.Condition
	for _, text := range o.failIf {
		c, err := versus.ParseCondition(text)
		if err != nil {
			return nil, fmt.Errorf("--fail-if: %w", err)
		}
		conditions = append(conditions, c)
	}

	switch {
	case o.uncertain && conditions == nil:
		return nil, errors.New("--fail-if-uncertain: give a condition with --fail-if")
	case conditions != nil && o.format == "benchstat":
		return nil, errors.New("--fail-if: --format benchstat leaves the verdicts to benchstat; use another format")
	}

	return conditions, nil
}

// share is a flag that takes a percentage; 0: not given.
type share float64

func (s *share) Set(given string) error {
	v, err := text.ParsePercent(given)
	*s = share(v)
	return err
}

func (s *share) String() string { return "" } // no flag has a default

func (s *share) Type() string { return "percent" }
