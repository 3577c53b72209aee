package main

import (
	"strconv"

	"github.com/spf13/cobra"
)

const blameLong = `Find which settings make the difference between two variants of a scenario. bench
starts servers with mixtures of the two variants' settings (a fractional factorial),
several times each in a random order. The report gives the effect of each setting
with an interval, the interactions of pairs, and settings with which servers do not
start.

'bench run' does the same if the scenario has the keys blame.from and blame.to.`

func newBlameCommand(e env) *cobra.Command {
	cmd := newStudyCommand(e, "blame")
	cmd.Short, cmd.Long = "Find which settings make the difference between two variants", blameLong
	cmd.Example = "  bench blame my.yaml old new\n  bench blame my.yaml old new --figure p99_ttft_s --plan"
	return cmd
}

const bisectLong = `Find the version with which a figure changed. The variants of the scenario are the
versions, in order. Each round starts the two versions between which the change lies
and one in between, until a sequential test tells on which side that one is. A
version that does not start is skipped and listed.

'bench run' does the same if the scenario has the keys bisect.from and bisect.to.`

func newBisectCommand(e env) *cobra.Command {
	cmd := newStudyCommand(e, "bisect")
	cmd.Short, cmd.Long = "Find the version with which a figure changed", bisectLong
	cmd.Example = "  bench bisect my.yaml v0.15.0 v0.19.0\n  bench bisect my.yaml a1f3 b77c --figure p99_ttft_s --plan"
	return cmd
}

// newStudyCommand runs a scenario with a block of this name, from one variant to
// another.
func newStudyCommand(e env, block string) *cobra.Command {
	var o runOptions
	var figure string
	var plan bool

	cmd := &cobra.Command{
		Use: block + " SCENARIO FROM TO", ValidArgsFunction: scenarioFiles, Args: args(cobra.ExactArgs(3)),
		RunE: func(cmd *cobra.Command, given []string) error {
			o.set = append(o.set, block+".from="+strconv.Quote(given[1]), block+".to="+strconv.Quote(given[2]))
			if figure != "" {
				o.set = append(o.set, block+".figure="+strconv.Quote(figure))
			}
			if plan {
				return runPlan(cmd.Context(), e, planOptions{scenarioOptions: o.scenarioOptions}, given[0])
			}
			return runRun(cmd.Context(), o.of(e), o, given[0])
		},
	}

	o.addFlags(cmd)
	cmd.Flags().StringVar(&figure, "figure", "", "`name` of the figure (default: that of the scenario)")
	cmd.Flags().BoolVar(&plan, "plan", false, "only show what would be run")
	return cmd
}
