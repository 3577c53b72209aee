package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/benchrig/bench/harness/hooks"
	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/launchers"
	"github.com/benchrig/bench/results"
)

// openBox opens what bench remembers of this machine.
func openBox(e env) (*state.Box, error) {
	root, err := stateRoot(e.lookup)
	if err != nil {
		return nil, err
	}
	return state.Open(root)
}

// stateRoot is the folder for state of this user.
func stateRoot(lookup func(string) (string, bool)) (string, error) {
	if dir, _ := lookup("BENCH_STATE_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir, _ := lookup("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "bench"), nil
	}
	if home, _ := lookup("HOME"); home != "" {
		return filepath.Join(home, ".local", "state", "bench"), nil
	}
	return "", errors.New("no folder for what bench remembers of this box: set HOME or BENCH_STATE_DIR")
}

// takeBox takes the box for what is done, and waits for it if asked to.
func takeBox(ctx context.Context, e env, box *state.Box, what string, wait bool) (*state.Lock, error) {
	if !wait {
		return box.Lock(what)
	}
	told := &boxWaiting{e: e, box: box}
	defer told.tell(ctx)()
	return box.WaitLock(ctx, what, told.waiting)
}

// closeRun forgets a run of which nothing is left to be ended or put back; a
// run that may have left something stays noted.
func closeRun(box *state.Box, folder *results.Folder) error {
	events, err := journalOf(folder)
	if err != nil {
		return err
	}
	if len(launchers.OpenLives(events)) > 0 || len(hooks.OpenUndos(events)) > 0 {
		return nil
	}
	return box.Forget(folder.Own(""))
}

// journalOf reads the events of a run, or of one of its jobs; lines that are
// none are left out.
func journalOf(folder *results.Folder) ([]results.Event, error) {
	file, err := os.Open(folder.Journal())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // nothing was started
	}
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	defer file.Close()
	return results.ReadEvents(file)
}
