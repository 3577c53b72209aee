package harness

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/benchrig/bench/launchers"
	"github.com/benchrig/bench/results"
)

// writeCommands leaves the command of each server in the life's folder, as
// text to paste into a shell. It is for reading: nothing of ours runs it.
func (r *Runner) writeCommands(life string, servers []PlannedServer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", HygieneNote())
	for _, s := range servers {
		for _, p := range s.Beside {
			fmt.Fprintf(&b, "%s   # %s\n", p.CommandLine(), p.Note())
		}
		if len(s.Unset) > 0 {
			fmt.Fprintf(&b, "# and not %s\n", strings.Join(s.Unset, " "))
		}
		fmt.Fprintln(&b, CommandLine(s))
	}
	if err := r.Folder.WriteFile("lives/"+life+"/"+results.CommandName, []byte(b.String())); err != nil {
		return results.Failf(results.FailDisk, "%v", err)
	}
	return nil
}

// HygieneNote says what holds for the environment of every server.
func HygieneNote() string {
	set, unset := launchers.Hygiene()
	var words []string
	for _, name := range slices.Sorted(maps.Keys(set)) {
		words = append(words, name+"="+set[name])
	}
	return fmt.Sprintf("every server gets %s and does not inherit %s", strings.Join(words, " "), strings.Join(unset, " "))
}

// CommandLine shows how a server is launched, quoted for a POSIX shell: the
// variables set for it and its argv. What it does not inherit is in Unset.
func CommandLine(s PlannedServer) string {
	if len(s.Argv) == 0 {
		return "# already running at " + s.BaseURL
	}
	return commandLine(s.Env, s.Argv)
}

func commandLine(env map[string]string, argv []string) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		words = append(words, name+"="+quote(env[name]))
	}
	for _, word := range argv {
		words = append(words, quote(word))
	}
	return strings.Join(words, " ")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

func quote(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
