package harness

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"benchrig/results"
)

// writeCommands leaves the command of each server in the life's folder, as
// text to paste into a shell. It is for reading: nothing of ours runs it.
func (r *Runner) writeCommands(life string, servers []PlannedServer) error {
	var b strings.Builder
	for _, s := range servers {
		fmt.Fprintln(&b, CommandLine(s))
	}
	if err := r.Folder.WriteFile("lives/"+life+"/"+results.CommandName, []byte(b.String())); err != nil {
		return results.Failf(results.FailDisk, "%v", err)
	}
	return nil
}

// CommandLine shows how a server is launched, quoted for a POSIX shell.
func CommandLine(s PlannedServer) string {
	if len(s.Argv) == 0 {
		return "# already running at " + s.BaseURL
	}
	var words []string
	if len(s.Env)+len(s.Unset) > 0 {
		words = append(words, "env")
	}
	for _, name := range s.Unset {
		words = append(words, "-u", quote(name))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		words = append(words, name+"="+quote(s.Env[name]))
	}
	for _, word := range s.Argv {
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
