package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/benchrig/bench/harness/progress"
	"github.com/benchrig/bench/harness/suite"
	"github.com/benchrig/bench/harness/suite/rounds"
	"github.com/benchrig/bench/scenarios"
)

const suiteLong = `Run a fixed set of rounds against a server that is already running. Each round
sends a number of requests at once. bench prints the result block of each round and
a table at the end, and writes a folder: engine_params.txt, mem_usage.txt if the
server's GPUs are in this machine, and MODEL_IN-OUT_N.json for each round.

A failed round becomes a row with the reason, and the others run. Existing files
with the same names are replaced. The server is neither started nor stopped.`

// suiteOptions are the flags of both suites.
type suiteOptions struct {
	baseURL, model, tokenizer, output, apiKeyEnv string
	maxModelLen                                  int
	profiles                                     []string
	imageSize                                    string // of vision
	seed                                         uint64
	quiet                                        bool
}

func newSuiteCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "suite", Short: "Run a fixed set of load profiles against a running server",
		Long: suiteLong,
	}
	cmd.AddCommand(
		newOneSuiteCommand(e, "text", "Text only: profiles high, mid and low", suite.Text()),
		newOneSuiteCommand(e, "vision", "An image with each request: profiles vision-a and vision-b", suite.Vision()),
	)
	for _, sub := range cmd.Commands() {
		sub.Long = sub.Short + ".\n\n" + suiteLong
	}
	return cmd
}

func newOneSuiteCommand(e env, name, short string, all []string) *cobra.Command {
	var o suiteOptions
	cmd := &cobra.Command{
		Use: name + " --base-url URL", Short: short,
		Example: "  bench suite " + name + " --base-url http://127.0.0.1:8000",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("seed") {
				o.seed = uint64(time.Now().UnixMilli()) % 1_000_000_000
			}
			wish, err := o.wish(all)
			if err != nil {
				return usageError(err)
			}
			return runSuite(cmd.Context(), e, o, wish)
		},
	}

	o.addFlags(cmd.Flags(), all)
	completeValues(cmd, "profiles", all...)
	return cmd
}

func (o *suiteOptions) addFlags(fs *pflag.FlagSet, all []string) {
	fs.SortFlags = false
	fs.StringVar(&o.baseURL, "base-url", "", "`URL` of the server")
	fs.StringVar(&o.model, "model", "", "`name` of the model in requests (default: the first that the server lists)")
	fs.StringVar(&o.output, "output-dir", "output", "`folder` for the files")
	fs.IntVar(&o.maxModelLen, "max-model-len", 0,
		"longest context of the server in `tokens` (default: as the server reports)")
	fs.StringSliceVar(&o.profiles, "profiles", all, "profiles to run, in this order")
	if suite.IsVision(all[0]) {
		fs.StringVar(&o.imageSize, "image-size", "512x512", "`WIDTHxHEIGHT` of the images, in pixels")
	}

	fs.Uint64Var(&o.seed, "seed", 0, "seed of the prompts (default: a new one each time, so that no prefix cache "+
		"holds them)")
	fs.StringVar(&o.tokenizer, "tokenizer", "",
		"tokenizer.json, its folder, or a GGUF `file` (default: the model's, else the server's /tokenize); none: do "+
			"not count")
	fs.StringVar(&o.apiKeyEnv, "api-key-env", "OPENAI_API_KEY", "`variable` that holds the server's key")
	fs.BoolVar(&o.quiet, "no-progress", false, "show no progress")
}

// wish checks the flags.
func (o *suiteOptions) wish(all []string) (suite.Wish, error) {
	w := suite.Wish{Profiles: o.profiles, MaxModelLen: o.maxModelLen, Seed: o.seed}
	switch {
	case o.baseURL == "":
		return w, errors.New("--base-url is missing: give the server's address, such as http://127.0.0.1:8000")
	case o.maxModelLen < 0:
		return w, fmt.Errorf("--max-model-len %d: want at least 1", o.maxModelLen)
	case len(o.profiles) == 0:
		return w, errors.New("--profiles is empty: name at least one")
	}

	for _, name := range o.profiles {
		if suite.IsVision(name) != suite.IsVision(all[0]) {
			return w, fmt.Errorf("--profiles %s: unknown in this suite, which has %v", name, all)
		}
	}

	if o.imageSize != "" {
		var ok bool
		if w.Image, ok = scenarios.ParseImageSize(strings.ToLower(o.imageSize)); !ok {
			return w, fmt.Errorf("--image-size %q: want WIDTHxHEIGHT in pixels, such as 512x512", o.imageSize)
		}
	}
	if _, err := suite.Plan(w); err != nil {
		return w, fmt.Errorf("--profiles: %w", err)
	}

	return w, nil
}

func runSuite(ctx context.Context, e env, o suiteOptions, wish suite.Wish) error {
	ctx, stop := interruptible(ctx)
	defer stop()

	target, err := rounds.Find(ctx, e.Process, rounds.Options{
		BaseURL: o.baseURL, Model: o.model, Tokenizer: o.tokenizer, Output: o.output,
		APIKeyEnv: o.apiKeyEnv, ImageSize: o.imageSize,
		Progress: func() rounds.Progress {
			p := progress.OfLoad(e.Stderr, e.screen.Rewriting, o.quiet)
			return rounds.Progress{Update: p.Update, End: p.End}
		},
	})
	if err != nil {
		return err
	}
	if wish.MaxModelLen == 0 {
		wish.MaxModelLen = target.MaxLen()
	}

	planned, err := suite.Plan(wish)
	if err != nil {
		return usageError(err)
	}

	target.Describe(e.Stderr, wish)

	rows, err := target.Run(ctx, e.stdout, planned)
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return codeError{code: exitInterrupted}
	case slices.ContainsFunc(rows, func(r suite.Row) bool { return r.Problem != "" }):
		return codeError{code: exitStepsFailed}
	}

	return nil
}
