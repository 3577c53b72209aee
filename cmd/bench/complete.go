package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/benchrig/bench/internal/offer"
	"github.com/benchrig/bench/internal/userfile"
	"github.com/benchrig/bench/load/vllmcli"
	"github.com/benchrig/bench/scenarios/parse"
)

// scenarioFiles completes the path of a scenario.
func scenarioFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// runFolders completes the folder of a run: the newest runs below results/, the
// word latest, or any other folder.
func runFolders(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	out := offer.Runs(begun)
	if len(out) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}

	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// complete has the shell offer what begun can become; given are the arguments.
func complete(cmd *cobra.Command, flag string, offers func(given []string, begun string) []string) {
	err := cmd.RegisterFlagCompletionFunc(flag,
		func(_ *cobra.Command, given []string, begun string) ([]string, cobra.ShellCompDirective) {
			how := cobra.ShellCompDirectiveNoFileComp
			found := offers(given, begun)
			if slices.ContainsFunc(found, func(s string) bool { return strings.ContainsAny(s[len(s)-1:], ".=<>:") }) {
				how |= cobra.ShellCompDirectiveNoSpace // more follows
			}
			return found, how
		})
	if err != nil {
		panic("bug: complete a flag before it is defined: " + err.Error())
	}
}

// completeValues has the shell offer the values of a flag, which may be a list
// separated by commas.
func completeValues(cmd *cobra.Command, flag string, values ...string) {
	complete(cmd, flag, func(_ []string, begun string) []string {
		before := begun[:strings.LastIndex(begun, ",")+1]
		var out []string
		for _, value := range values {
			out = append(out, before+value)
		}
		return out
	})
}

// completeSets has the shell offer the keys of scenarios, and the variables of
// the one that the command names.
func completeSets(cmd *cobra.Command) {
	complete(cmd, "set", func(given []string, begun string) []string {
		var source []byte
		if len(given) > 0 && strings.HasSuffix(given[0], "ml") { // .yaml, .yml: no bundle
			source, _ = userfile.Read(given[0], userfile.MaxText) // what cannot be read names no variable
		}
		return parse.OfferSets(source, begun)
	})
}

// loadFlags completes the flags of bench load, which cobra does not parse, and
// the values of --backend.
func loadFlags(_ *cobra.Command, given []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(given) > 0 && given[len(given)-1] == "--backend" {
		return strings.Split(vllmcli.BackendNames(), ", "), cobra.ShellCompDirectiveNoFileComp
	}
	if !strings.HasPrefix(begun, "-") {
		return nil, cobra.ShellCompDirectiveDefault
	}

	var f vllmcli.Flags
	fs := pflag.NewFlagSet("load", pflag.ContinueOnError)
	f.AddFlags(fs)
	var names []string
	fs.VisitAll(func(flag *pflag.Flag) { names = append(names, "--"+flag.Name) })
	return names, cobra.ShellCompDirectiveNoFileComp
}
