package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/harness/session"
)

const validateLong = `Check scenario files. All mistakes are listed, each with file, line and column.
What this machine lacks, such as a dataset or a model file, is a warning.`

func newValidateCommand(e env) *cobra.Command {
	var o scenarioOptions
	cmd := &cobra.Command{
		Use: "validate SCENARIO...", Short: "Check scenario files", Long: validateLong,
		Example: "  bench validate scenarios/*.yaml",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE:    func(_ *cobra.Command, given []string) error { return runValidate(e, o, given) },
	}
	o.addFlags(cmd.Flags())
	return cmd
}

func runValidate(e env, o scenarioOptions, paths []string) error {
	bad := 0
	for _, path := range paths {
		sc, err := o.load(e, path)
		if err != nil {
			fmt.Fprintln(e.Stderr, err)
			bad++
			continue
		}
		session.Warn(e.Stderr, sc)
		fmt.Fprintf(e.stdout, "%s: ok, %d variants x %d points x %d repeats\n", path, len(sc.Variants), len(sc.Points),
			sc.Repeats)
	}

	if bad > 0 {
		return usageError(fmt.Errorf("%d of %d scenarios cannot be used", bad, len(paths)))
	}

	return nil
}
