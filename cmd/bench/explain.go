package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/results/codes"
)

const explainLong = `Explain a code of a warning or a failure, as reports name them: what it means, why
it matters for the figures, and what to do. Without a code all are listed.`

func newExplainCommand(e env) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "explain [CODE...]", Short: "Explain a code of a warning or a failure", Long: explainLong,
		Example:   "  bench explain client-limit\n  bench explain",
		ValidArgs: codes.Names(),
		RunE:      func(_ *cobra.Command, given []string) error { return runExplain(e, given, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func runExplain(e env, given []string, asJSON bool) error {
	entries := codes.All()
	if len(given) > 0 {
		entries = nil
	}

	for _, code := range given {
		found := codes.Find(code)
		if len(found) == 0 {
			return unknownCode(code)
		}
		entries = append(entries, found...)
	}

	switch {
	case asJSON:
		return printJSON(e, entries)
	case len(given) == 0:
		return listCodes(e, entries)
	}

	for _, entry := range entries {
		entry.Write(e.stdout)
	}

	return nil
}

func unknownCode(code string) error {
	near := codes.Like(code)
	if len(near) == 0 {
		return usageError(fmt.Errorf("unknown code %q: bench explain lists all", code))
	}
	return usageError(fmt.Errorf("unknown code %q: did you mean %s?", code, strings.Join(near, ", ")))
}

func listCodes(e env, entries []codes.Entry) error {
	table := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for _, entry := range entries {
		fmt.Fprintf(table, "%s\t%s\t%s\n", entry.Code, entry.Severity, entry.Meaning)
	}
	return table.Flush()
}

// printJSON prints a value for programs.
func printJSON(e env, value any) error {
	encoder := json.NewEncoder(e.stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
