package hooks

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/launchers/recipe"
)

const (
	// termTime is what a command gets between SIGTERM and SIGKILL when the
	// run was interrupted. One that is over its limit gets none.
	termTime = 2 * time.Second
	// drainTime bounds the wait for the last words of a command that is gone.
	drainTime = time.Second
)

// command is a program to run once.
type command struct {
	argv  []string
	vars  map[string]string
	stdin string // at most what a pipe holds, 60 KiB
	limit time.Duration
}

// command runs a program and returns its last lines, as one text. When it returns,
// nothing of the program is left, whatever it started included.
func (r *Runner) command(ctx context.Context, c command) (said string, err error) {
	tail, err := r.output(ctx, c)
	return lastLines(tail), err
}

// output is command, with the last part of what the program wrote as it is.
func (r *Runner) output(ctx context.Context, c command) (tail string, err error) {
	if ctx.Err() != nil {
		return "", errors.New("not run: interrupted")
	}

	output, input, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("run %s: %w", c.argv[0], err)
	}
	defer output.Close()

	started, err := r.start(c, input)
	_ = input.Close() // the program has its own
	if err != nil {
		return "", err
	}

	words := make(chan string, 1)
	go func() { words <- tailOf(output) }()
	err = wait(ctx, started, c.limit)
	_ = output.SetReadDeadline(time.Now().Add(drainTime))
	return <-words, err
}

// start spawns the program with both its outputs going to input.
func (r *Runner) start(c command, input *os.File) (*process.Process, error) {
	config := process.Config{
		Argv: c.argv, Env: r.environ(c.vars), Dir: r.Dir, Cookie: strings.TrimPrefix(r.Cookie+"."+rand.Text(), "."),
		Output: input,
	}

	if c.stdin != "" {
		from, to, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", c.argv[0], err)
		}
		defer from.Close()
		_, err = to.WriteString(c.stdin[:min(len(c.stdin), 60<<10)])
		if err := errors.Join(err, to.Close()); err != nil {
			return nil, fmt.Errorf("run %s: %w", c.argv[0], err)
		}
		config.Stdin = from
	}

	return process.Start(config)
}

// environ is the inherited environment with the variables of a call.
func (r *Runner) environ(vars map[string]string) []string {
	env := slices.DeleteFunc(slices.Clone(r.Environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, ours := vars[name]
		return ours || name == process.CookieVariable
	})
	return append(env, recipe.Assignments(vars)...)
}

// errTooLong ends the wait for a program.
var errTooLong = errors.New("time limit of a hook")

// wait waits for the program's end, at most until limit or ctx, and then ends
// the whole tree.
func wait(ctx context.Context, p *process.Process, limit time.Duration) error {
	limited, free := awake.WithTimeoutCause(ctx, limit, errTooLong)
	defer free()

	var why error
	select {
	case <-p.Done():
	case <-limited.Done():
		why = errors.New("ended: interrupted")
		if errors.Is(context.Cause(limited), errTooLong) {
			why = fmt.Errorf("killed after its time limit of %s", limit)
			p.KillNow()
		}
	}

	if _, err := p.Stop(context.WithoutCancel(ctx), termTime); err != nil {
		return errors.Join(why, err)
	}
	if why != nil {
		return why
	}
	if code, _ := p.Exit(); code != 0 {
		return fmt.Errorf("exit status %d", code)
	}

	return nil
}
