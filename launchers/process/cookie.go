package process

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/proc"
)

// cookie marks the processes of a tree.
type cookie struct {
	text     string // "": none
	wholeRun bool   // also those that begin with text and a point: a run's cookie followed by a server's
}

func (c cookie) is(value string) bool {
	return c.text != "" && (value == c.text || c.wholeRun && strings.HasPrefix(value, c.text+"."))
}

// carriedBy reports whether a process was started with the cookie. readable is
// false if its environment may not be seen.
func (c cookie) carriedBy(fs proc.FS, pid int) (carries, readable bool) {
	values, readable := fs.Variable(pid, CookieVariable)

	return slices.ContainsFunc(values, c.is), readable
}
