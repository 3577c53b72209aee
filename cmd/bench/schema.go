package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/profiles"
	"github.com/benchrig/bench/results/jsonschema"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/parse"
)

// scenarioSchema is the kind of file that bench schema shows unless it is given
// another.
const scenarioSchema = "scenario"

func newSchemaCommand(e env) *cobra.Command {
	kinds := append([]string{scenarioSchema}, jsonschema.Names()...)
	return &cobra.Command{
		Use: "schema [KIND]", Short: "Print the JSON Schema of scenario files or of results",
		Long: "Print the JSON Schema of scenario files, for editors: completion, descriptions, checks.\n" +
			"KIND names other files, for programs that read run folders: " + strings.Join(jsonschema.Names(), ", ") +
			" (see docs/results-format.md).",
		Example: "  bench schema > bench.schema.json\n" +
			"  # first line of a scenario:\n" +
			"  # yaml-language-server: $schema=bench.schema.json\n" +
			"  bench schema result > result.schema.json",
		Args:      args(cobra.MaximumNArgs(1)),
		ValidArgs: kinds,
		RunE: func(_ *cobra.Command, given []string) error {
			schema, err := parse.Schema(profiles.Names()...), error(nil)
			if len(given) > 0 && given[0] != scenarioSchema {
				schema, err = jsonschema.Named(given[0])
			}
			if err != nil {
				return usageError(fmt.Errorf("%w, or %s", err, scenarioSchema))
			}

			_, err = e.stdout.Write(schema)
			return err
		},
	}
}

func newInitCommand(e env) *cobra.Command {
	kinds := strings.Join(scenarios.TemplateKinds(), ", ")
	var image bool
	cmd := &cobra.Command{
		Use: "init KIND", Short: "Write a commented scenario to start from",
		Long: "Write a commented scenario to stdout, to edit and run.\n\nKIND is a launcher: " + kinds + ".\n" +
			"--container runs the server in a container (" + strings.Join(scenarios.ImageKinds(), ", ") + ").\n\n" +
			"KIND can also be a complete example: " + strings.Join(scenarios.ExampleNames(), ", ") + ".",
		Example: "  bench init quickstart > my.yaml\n  bench init vllm --container > my.yaml\n" +
			"  bench validate my.yaml",
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
