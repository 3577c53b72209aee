package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/results/codes"
)

const explainLong = `Explain a warning or failure code of a report: what it means, why it matters for
the figures, and what to do. It also explains terms such as suspect or "server
start". Without a code it lists all codes.`

func newExplainCommand(e env) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "explain [CODE...]", Short: "Explain a warning or failure code", Long: explainLong,
		Example:   "  bench explain client-limit\n  bench explain suspect\n  bench explain",
		ValidArgs: append(codes.TermNames(), codes.Names()...),
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

	var terms []codes.Term
	for _, code := range given {
		if term, ok := codes.FindTerm(code); ok {
			terms = append(terms, term)
			continue
		}
		found := codes.Find(code)
		if len(found) == 0 {
			return unknownCode(code)
		}
		entries = append(entries, found...)
	}

	switch {
	case asJSON && len(terms) > 0:
		return usageError(errors.New("explain: --json lists codes, not terms"))
	case asJSON:
		return printJSON(e, entries)
	case len(given) == 0:
		return codes.List(e.stdout, entries)
	}

	for _, term := range terms {
		term.Write(e.stdout)
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

// printJSON prints a value for programs.
func printJSON(e env, value any) error {
	encoder := json.NewEncoder(e.stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
