package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

const validateLong = `Check scenario files, and list all mistakes with file, line and column. - reads
from standard input.

Something that this machine lacks, such as a dataset or a model file, is a warning,
or with --box an error, as in 'bench run'.`

type validateOptions struct {
	scenarioOptions
	asJSON  bool
	machine bool
}

func newValidateCommand(e env) *cobra.Command {
	var o validateOptions
	cmd := &cobra.Command{
		Use: "validate SCENARIO...", Short: "Check scenario files", Long: validateLong,
		Example: "  bench validate scenarios/*.yaml\n" +
			"  bench init vllm | bench validate -\n" +
			"  bench validate my.yaml --json",
		Args:              args(cobra.MinimumNArgs(1)),
		ValidArgsFunction: scenarioFiles,
		RunE: func(cmd *cobra.Command, given []string) error {
			e.stdin = cmd.InOrStdin()
			return runValidate(cmd.Context(), e, o, given)
		},
	}

	o.addFlags(cmd)
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&o.machine, "box", false, "refuse a scenario if this machine lacks programs, files or GPUs "+
		"that it needs, as run does")
	return cmd
}

// checked is what was found about one file.
type checked struct {
	File     string    `json:"file"`
	OK       bool      `json:"ok"`
	Variants int       `json:"variants"`
	Points   int       `json:"points"`
	Repeats  int       `json:"repeats"`
	Mistakes []mistake `json:"mistakes"`
	Warnings []string  `json:"warnings"`

	err   error
	sc    *scenarios.Scenario
	short []string // points that send fewer prompts than they ask for
}

type mistake struct {
	Line    int    `json:"line"`   // from 1; 0: not of a line
	Column  int    `json:"column"` // likewise
	Message string `json:"message"`
}

func runValidate(ctx context.Context, e env, o validateOptions, paths []string) error {
	bad := 0
	all := []checked{}
	for _, path := range paths {
		c := o.check(ctx, e, path)
		if !c.OK {
			bad++
		}
		all = append(all, c)
		if !o.asJSON {
			c.print(e)
		}
	}

	if o.asJSON {
		if err := printJSON(e, all); err != nil {
			return err
		}
		if bad > 0 {
			return codeError{code: exitUsage}
		}
		return nil
	}

	if bad > 0 {
		return usageError(fmt.Errorf("%d of %s cannot be used", bad, text.Count(len(paths), "scenario")))
	}

	return nil
}

// check reads one file and plans it, as run does before it starts anything.
func (o validateOptions) check(ctx context.Context, e env, path string) checked {
	c := checked{File: path, Mistakes: []mistake{}, Warnings: []string{}}
	o.withoutSecrets = !o.machine
	if c.sc, c.err = o.load(e, path); c.err == nil {
		_, c.err = plan.New(c.sc, plan.Machine{Self: e.Self})
	}
	if c.err == nil && len(c.sc.Blockers()) == 0 { // files that are on this machine can be read as run reads them
		c.short, c.err = step.CheckDatasets(ctx, c.sc)
	}
	if c.err != nil {
		c.Mistakes = mistakesOf(c.err)
		return c
	}

	if o.machine {
		if c.err = o.refuseMissing(ctx, e, c.sc); c.err != nil {
			c.Mistakes = mistakesOf(c.err)
			return c
		}
	}
	c.OK, c.Variants, c.Points, c.Repeats = true, len(c.sc.Variants), len(c.sc.Points), c.sc.Repeats
	c.Warnings = append(session.Warnings(c.sc), c.short...)
	return c
}

func mistakesOf(err error) []mistake {
	listed, ok := errors.AsType[schema.Errors](err)
	if !ok {
		return []mistake{{Message: err.Error()}}
	}
	var out []mistake
	for _, m := range listed {
		out = append(out, mistake{m.Pos.Line, m.Pos.Column, m.Msg})
	}
	return out
}

func (c checked) print(e env) {
	if !c.OK {
		fmt.Fprintln(e.Stderr, c.err)
		return
	}
	session.Warn(e.Stderr, c.sc, c.short...)
	fmt.Fprintf(e.stdout, "%s: ok, %s x %s x %s\n", c.File, text.Count(c.Variants, "variant"),
		text.Count(c.Points, "point"), text.Count(c.Repeats, "repeat"))
}

// refuseMissing is why run refuses a scenario on this machine.
func (o validateOptions) refuseMissing(ctx context.Context, e env, sc *scenarios.Scenario) error {
	s, err := openSession(ctx, e, sc)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.RefuseMissing()
}
