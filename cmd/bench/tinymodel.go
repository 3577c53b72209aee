package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/internal/tinygguf"
	"github.com/benchrig/bench/internal/userfile"
)

const tinyModelLong = `Write a llama-architecture GGUF model with random weights: a real model for a real
llama-server, made in milliseconds, whose answers are meaningless. It is for tests
and for scenarios/llamacpp-cpu.yaml; its speed says nothing about useful models.`

type tinyModelOptions struct {
	size, weights, output string
	seed                  uint64
	stops                 bool
}

func newTinyModelCommand(e env) *cobra.Command {
	o := tinyModelOptions{size: "tiny"}
	cmd := &cobra.Command{
		Use: "tiny-model", Short: "Write a small random GGUF model", Long: tinyModelLong,
		Example: "  bench tiny-model --output tiny.gguf\n" +
			"  bench tiny-model --size small --type q8_0 --output small-q8_0.gguf",
		Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error { return runTinyModel(e, o) },
	}
	addChoice(cmd, &o.size, "size", "size of the model, 0.6 M or 35 M parameters: ", tinygguf.Sizes()...)
	cmd.Flags().StringVar(&o.weights, "type", "f16", "`type` of the weights: f32, f16, q8_0 or q4_0")
	cmd.Flags().StringVar(&o.output, "output", "", "`file` to write (required)")
	cmd.Flags().Uint64Var(&o.seed, "seed", 0, "seed of the weights")
	cmd.Flags().BoolVar(&o.stops, "natural-stops", false, "end answers after a few dozen tokens")
	return cmd
}

func runTinyModel(e env, o tinyModelOptions) error {
	if o.output == "" {
		return usageError(errors.New("--output is missing: name the file to write"))
	}
	options, err := tinygguf.Size(o.size)
	if err != nil {
		return usageError(err)
	}
	options.Type, options.Seed, options.NaturalStops = o.weights, o.seed, o.stops
	err = userfile.Write(o.output, func(w io.Writer) error { return tinygguf.Write(w, options) })
	if err != nil {
		return fmt.Errorf("write model: %w", err)
	}
	fmt.Fprintf(e.stdout, "%s: %s, %s, random weights\n", o.output, o.size, o.weights)
	return nil
}
