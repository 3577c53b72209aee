package hooks

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// Undo is what puts the change of a hook back that ran in an earlier life of
// bench.
type Undo struct {
	Level, Name string // of the hook
	Life, Step  string // that it stood before; "" where its level has none
	Dir         string // where it is to run; "" if not known
	Argv        []string
	Vars        map[string]string // BENCH_* variables that the hook had
}

// hidden replaces a secret.
const hidden = "***"

// Redacted says that a secret was taken out of the argv on its way into the
// journal: it cannot be run as it is.
func (u Undo) Redacted() bool {
	return slices.ContainsFunc(u.Argv, func(a string) bool { return strings.Contains(a, hidden) })
}

// OpenUndos are the undos that events promise and do not report, the
// last one first: the order in which they are to be run. An undo that was
// tried counts as told, whatever came of it.
func OpenUndos(events []results.Event) []Undo {
	var open []Undo
	for _, e := range events {
		if e.Hook == nil || len(e.Undo) == 0 {
			continue
		}
		u := Undo{
			Level: e.Hook.Level, Name: e.Hook.Name, Life: e.Life, Step: e.Step, Dir: e.Message, Argv: e.Undo,
			Vars: e.Vars,
		}
		switch e.Kind {
		case results.HookStarted:
			open = append(open, u)
		case results.HookUndone:
			if i := lastOf(open, u); i >= 0 {
				open = slices.Delete(open, i, i+1)
			}
		default: // says nothing about undos
		}
	}

	slices.Reverse(open)
	return open
}

// lastOf finds the youngest undo that is the same; -1 if there is none.
func lastOf(open []Undo, u Undo) int {
	for i, o := range slices.Backward(open) {
		if o.Level == u.Level && o.Name == u.Name && o.Life == u.Life && o.Step == u.Step &&
			slices.Equal(o.Argv, u.Argv) {
			return i
		}
	}
	return -1
}

// PutBack runs an undo of an earlier life of bench and gives the event that says
// of it.
func (r *Runner) PutBack(ctx context.Context, u Undo) results.Event {
	if u.Redacted() {
		return r.NotPutBack(u, "not run: it contains a secret, which is not stored; undo the change by hand")
	}

	in := *r
	in.Dir = u.Dir
	vars := map[string]string{"BENCH_LEVEL": u.Level, "BENCH_LIFE": u.Life, "BENCH_STEP": u.Step}
	maps.Copy(vars, u.Vars)
	vars["BENCH_PHASE"] = whenUndo
	return r.told(u, in.Undo(ctx, scenarios.Hook{Name: u.Name, Undo: u.Argv}, vars))
}

// NotPutBack is the event of an undo that is not run, and why.
func (r *Runner) NotPutBack(u Undo, why string) results.Event {
	return r.told(u, results.HookRecord{Name: u.Name, Message: why})
}

func (r *Runner) told(u Undo, record results.HookRecord) results.Event {
	record.Level, record.When = u.Level, whenUndo
	return results.Event{
		Kind: results.HookUndone, Life: u.Life, Step: u.Step, Message: u.Dir, Undo: r.redacted(u.Argv), Hook: &record,
	}
}

func (r *Runner) redacted(argv []string) []string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = r.redact(a)
	}
	return out
}
