package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/recipe"
)

// HygieneNote says what holds for the environment of every server.
func HygieneNote() string {
	return fmt.Sprintf("every server gets %s and does not inherit %s",
		strings.Join(recipe.Assignments(recipe.HygieneSet()), " "), strings.Join(recipe.HygieneUnset(), " "))
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
		words = append(words, name+"="+text.QuoteForShell(env[name]))
	}
	for _, word := range argv {
		words = append(words, text.QuoteForShell(word))
	}
	return strings.Join(words, " ")
}
