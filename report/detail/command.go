package detail

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// Command is how a server was started, fit for a shell.
type Command struct {
	Title string
	Text  string
	Note  string // "": none
}

// CommandsOf are those of a step's servers, one for each that differs.
func CommandsOf(r *results.Result) []Command {
	servers := r.Servers
	if r.SQZB != nil {
		servers = append(slices.Clone(servers), r.SQZB.OneTokenServer...)
	}

	var all []Command
	for i, s := range servers {
		if len(s.Argv) == 0 {
			continue
		}
		c := Command{Title: fmt.Sprintf("Server %d", s.Replica), Text: shellCommand(s)}
		if i >= len(r.Servers) {
			c.Title += " of the second pass"
		}
		if strings.Contains(c.Text, "***") {
			c.Note = "Secrets are not stored: replace *** with your own."
		}
		if !slices.ContainsFunc(all, func(other Command) bool { return other.Text == c.Text }) {
			all = append(all, c)
		}
	}

	return all
}

// shellCommand is the environment's difference and the argument list, quoted
// for a POSIX shell.
func shellCommand(s results.Server) string {
	var words []string
	if len(s.Env)+len(s.DroppedEnv) > 0 {
		words = append(words, "env")
		for _, name := range s.DroppedEnv {
			words = append(words, "-u", text.QuoteForShell(name))
		}
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			words = append(words, text.QuoteForShell(name+"="+s.Env[name]))
		}
	}
	for _, arg := range s.Argv {
		words = append(words, text.QuoteForShell(arg))
	}
	return strings.Join(words, " ")
}
