package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/profiles"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/parse"
)

func newSchemaCommand(e env) *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of scenario files",
		Long: "Print the JSON Schema of scenario files, for editors: completion, descriptions, checks.",
		Example: "  bench schema > bench.schema.json\n" +
			"  # first line of a scenario:\n" +
			"  # yaml-language-server: $schema=bench.schema.json",
		Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := e.stdout.Write(parse.Schema(profiles.Names()...))
			return err
		},
	}
}

func newInitCommand(e env) *cobra.Command {
	kinds := strings.Join(scenarios.TemplateKinds(), ", ")
	var image bool
	cmd := &cobra.Command{
		Use: "init KIND", Short: "Write a commented starter scenario to stdout",
		Long: "Write a commented starter scenario to stdout. KIND is one of " + kinds + ".\nWith --container its " +
			"server is an image, which " + strings.Join(scenarios.ImageKinds(), ", ") +
			" have.\nKIND may also name a " +
			"scenario that comes with bench: " + strings.Join(scenarios.ExampleNames(), ", ") + ".",
		Example: "  bench init quickstart > my.yaml\n  bench init vllm --container > my.yaml\n  bench validate " +
			"my.yaml",
		Args:      args(cobra.ExactArgs(1)),
		ValidArgs: append(scenarios.TemplateKinds(), scenarios.ExampleNames()...),
		RunE: func(_ *cobra.Command, given []string) error {
			text, err := scenarios.Template(given[0], image)
			if err != nil {
				return usageError(err)
			}
			_, err = e.stdout.Write(text)
			return err
		},
	}
	cmd.Flags().BoolVar(&image, "container", false, "run the server in a container")

	return cmd
}

func newVersionCommand(e env) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Long: "Print the version.",
		Example: "  bench version", Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(e.stdout, version)
			return err
		},
	}
}
