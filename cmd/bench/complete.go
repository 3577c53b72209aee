package main

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/benchrig/bench/load/vllmcli"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// scenarioFiles completes the path of a scenario.
func scenarioFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// runFolders completes the folder of a run: the newest runs below results/, the
// word latest, or any other folder.
func runFolders(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	const most = 20
	var found []string
	for _, scenario := range store.Matching(store.DefaultDir, "*") {
		for _, dir := range store.Matching(scenario, "*") {
			found = append(found, store.Matching(dir, results.ManifestName)...)
		}
	}
	if len(found) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	slices.SortFunc(found, func(a, b string) int { // their names begin with the time
		return cmp.Compare(filepath.Base(filepath.Dir(b)), filepath.Base(filepath.Dir(a)))
	})

	var out []string
	for _, path := range append([]string{filepath.Join(store.Latest, results.ManifestName)}, found...) {
		if dir := filepath.Dir(path); strings.HasPrefix(dir, begun) && len(out) < most {
			out = append(out, dir)
		}
	}
	if len(out) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}

	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeValues has the shell offer the values of a flag, which may be a list
// separated by commas.
func completeValues(cmd *cobra.Command, flag string, values ...string) {
	offer := func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		before := begun[:strings.LastIndex(begun, ",")+1]
		var out []string
		for _, value := range values {
			out = append(out, before+value)
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	_ = cmd.RegisterFlagCompletionFunc(flag, offer) // the flag was just defined
}

// completeSteps has the shell offer the steps of the run that the command names.
func completeSteps(cmd *cobra.Command, flag string) {
	offer := func(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(given) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		dir, err := store.Newest(given[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		run, err := store.Read(dir)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}

		var ids []string
		for i := range run.Steps {
			ids = append(ids, run.Steps[i].Result.Step.ID)
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}

	_ = cmd.RegisterFlagCompletionFunc(flag, offer) // the flag was just defined
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
