package serverlog

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/logs"
	"github.com/benchrig/bench/results"
)

// FatalMatch is a fatal line that was seen.
type FatalMatch struct {
	line string
	kind logs.FatalLine
}

// Failure quotes the line, and the first traceback's cause where the line says
// only that something failed.
func (m *FatalMatch) Failure(cause string) *results.Failure {
	hint := ""
	if vague(m.kind.Class) && cause != "" && !strings.Contains(m.line, cause) {
		hint = fmt.Sprintf("; its first traceback ends with %q", text.Shorten(cause))
	} else if m.kind.Hint != "" {
		hint = ": " + m.kind.Hint
	}
	return results.Failf(m.kind.Class, "server log says %q%s", text.Shorten(m.line), hint)
}

// Ends reports whether no engine continues after such a line.
func (m *FatalMatch) Ends() bool { return m != nil && !m.kind.Passing }

// Vague reports whether the line only says that a part of the engine is gone.
func (m *FatalMatch) Vague() bool { return vague(m.kind.Class) }

// vague reports whether a class only says that the engine is gone, so that a
// later line may say why.
func vague(class results.FailureClass) bool {
	return class == results.FailFatalLine || class == results.FailEngineDied
}

// usageError is how programs name a wrong command line before they end with
// code 2, or 1 for some.
var usageError = regexp.MustCompile(`(?i)^(\S.*: )?error: |^Error: No such option|^usage: .*error: `)
