package hooks

import (
	"context"
	"fmt"
	"time"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// Runner carries out hooks, checks and notifications. It is safe for
// concurrent use.
type Runner struct {
	Environ []string // of commands, beside the variables of each call
	Dir     string   // working directory of commands; "": ours
	// of the run, so that processes of a command are found should bench be killed; each adds its own
	Cookie  string
	DiskDir string              // what a check of free disk looks at unless it names a path; "": "."
	Root    string              // stands before /proc, /sys and the files of checks; "": this machine
	GPUs    GPUs                // nil: no GPU to look at
	Redact  func(string) string // takes secrets out of texts; nil: there are none
}

// defaultTimeout is that of what a scenario gives no limit.
const defaultTimeout = time.Minute

// Run carries out a hook. The record's level and moment are the caller's to
// fill in.
func (r *Runner) Run(ctx context.Context, hook scenarios.Hook, vars map[string]string) results.HookRecord {
	limit := hook.Timeout
	if limit <= 0 {
		limit = defaultTimeout
	}

	switch {
	case len(hook.Command) > 0:
		return r.timed(hook.Name, func() (string, error) {
			return r.command(ctx, command{argv: hook.Command, vars: vars, limit: limit})
		})
	case hook.HTTP.URL != "":
		return r.timed(hook.Name, func() (string, error) { return call(ctx, hook.HTTP, limit) })
	}

	record := r.check(ctx, hook.Check, limit)
	record.Name = hook.Name
	return record
}

// Undo puts a hook's change back. It works after ctx has ended: what was
// changed must not stay because somebody pressed Ctrl-C.
func (r *Runner) Undo(ctx context.Context, hook scenarios.Hook, vars map[string]string) results.HookRecord {
	limit := hook.Timeout
	if limit <= 0 {
		limit = defaultTimeout
	}
	return r.timed(hook.Name, func() (string, error) {
		return r.command(context.WithoutCancel(ctx), command{argv: hook.Undo, vars: vars, limit: limit})
	})
}

// Check looks at a condition of the machine. OK says that it holds; the message
// what was found.
func (r *Runner) Check(ctx context.Context, check scenarios.Check) results.HookRecord {
	return r.check(ctx, check, defaultTimeout)
}

func (r *Runner) check(ctx context.Context, check scenarios.Check, limit time.Duration) results.HookRecord {
	ctx, cancel := awake.WithTimeout(ctx, limit)
	defer cancel()
	record := r.timed(scenarios.CheckName(check), func() (string, error) { return r.look(ctx, check, limit) })
	record.When = "check"
	return record
}

// timed makes a record of what do did.
func (r *Runner) timed(name string, do func() (string, error)) results.HookRecord {
	began := time.Now()
	said, err := do()
	record := results.HookRecord{
		Name: r.redact(name), OK: err == nil, Message: r.redact(said),
		TookS: time.Since(began).Seconds(),
	}
	if err != nil {
		record.Message = r.redact(err.Error())
		if said != "" {
			record.Message = r.redact(fmt.Sprintf("%v: %s", err, said))
		}
	}
	return record
}

func (r *Runner) redact(s string) string {
	if r.Redact == nil {
		return s
	}
	return r.Redact(s)
}
