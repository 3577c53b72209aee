package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/benchrig/bench/harness/hooks"
	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/launchers"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/results"
)

// cleaning ends what runs have left behind, or only looks.
type cleaning struct {
	box    *state.Box
	with   launchers.Cleaner
	hooks  *hooks.Runner
	dryRun bool
}

// cleanedRun is what was found of a run, and what became of it.
type cleanedRun struct {
	Dir     string        `json:"dir"`
	Skipped string        `json:"skipped,omitempty"` // why the run was not looked at
	Lives   []cleanedLife `json:"servers"`
	Undos   []cleanedUndo `json:"undos"`
	Error   string        `json:"error,omitempty"` // of the folder or the journal
}

type cleanedLife struct {
	Life       string             `json:"life"` // "": of the run, not of a server that it noted
	Replica    int                `json:"replica"`
	Processes  []int              `json:"processes"`
	Containers []string           `json:"containers"`
	Strangers  []process.Stranger `json:"left_alone"` // look like ours and cannot be shown to be
	Rebooted   bool               `json:"rebooted"`
	Proof      *results.Proof     `json:"proof"` // null: only looked
	Error      string             `json:"error,omitempty"`
}

type cleanedUndo struct {
	Hook    string   `json:"hook"`
	Argv    []string `json:"argv"`
	OK      bool     `json:"ok"`
	Message string   `json:"message"`
}

// found reports whether there is something to end or to put back.
func (out cleanedRun) found() bool {
	for _, l := range out.Lives {
		if len(l.Processes)+len(l.Containers) > 0 || l.Error != "" {
			return true
		}
	}
	return len(out.Undos) > 0
}

// failed reports whether something is still there, or may be.
func (out cleanedRun) failed() bool {
	for _, l := range out.Lives {
		if l.Error != "" {
			return true
		}
	}
	return out.Error != ""
}

// targets are the noted runs and the given folders, each once.
func (c *cleaning) targets(dirs []string) ([]state.Run, error) {
	runs, err := c.box.Runs()
	for _, dir := range dirs {
		known := false
		for _, run := range runs {
			known = known || sameFolder(run.Dir, dir)
		}
		if !known {
			runs = append(runs, state.Run{Dir: dir})
		}
	}
	return runs, err
}

func sameFolder(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// run looks at one run and, unless it is to look only, ends what it finds,
// puts back what hooks have changed, tells the run's journal, and forgets the
// run when nothing is left.
func (c *cleaning) run(ctx context.Context, target state.Run) cleanedRun {
	out := cleanedRun{Dir: target.Dir, Lives: []cleanedLife{}, Undos: []cleanedUndo{}}
	folder, err := results.Open(target.Dir)
	if err != nil { // the folder was removed, or the run was killed while it made it
		out.sweep(ctx, c, target.Cookie)
		c.forget(&out)
		return out
	}
	lock, err := folder.Lock()
	if errors.Is(err, results.ErrLocked) {
		out.Skipped = "it is running"
		return out
	}
	if err == nil {
		defer func() { _ = lock.Release() }() // the kernel would do it anyway
		err = c.folder(ctx, &out, folder, target.Cookie)
	}
	if err != nil {
		out.Error = err.Error()
	}
	c.forget(&out)
	return out
}

func (c *cleaning) forget(out *cleanedRun) {
	if c.dryRun || out.failed() {
		return
	}
	if err := c.box.Forget(out.Dir); err != nil {
		out.Error = err.Error()
	}
}

// folder does a run whose folder is there.
func (c *cleaning) folder(ctx context.Context, out *cleanedRun, folder *results.Folder, cookie string) error {
	events, err := journalOf(folder)
	if err != nil {
		return err
	}
	tell := func(results.Event) error { return nil }
	lives, undos := launchers.OpenLives(events), hooks.OpenUndos(events)
	if !c.dryRun && len(lives)+len(undos) > 0 {
		journal, err := folder.OpenJournal()
		if err != nil {
			return err
		}
		defer func() { _ = journal.Close() }() // every event is on disk already
		tell = journal.Append
	}
	var errs []error
	for _, life := range lives {
		if cookie == "" {
			cookie = life.RunCookie()
		}
		errs = append(errs, out.life(ctx, c, life, tell))
	}
	out.sweep(ctx, c, cookie)
	for _, undo := range undos {
		errs = append(errs, out.undo(ctx, c, undo, tell))
	}
	return errors.Join(errs...)
}

// life does one server.
func (out *cleanedRun) life(ctx context.Context, c *cleaning, life launchers.OpenLife, tell func(results.Event) error) error {
	left, err := c.with.Find(ctx, life)
	if err != nil {
		return err
	}
	done := describeLeftover(left)
	if c.dryRun {
		out.Lives = append(out.Lives, done)
		return nil
	}
	proof, err := c.with.End(ctx, left)
	done.Proof = &proof
	if err != nil {
		done.Error = err.Error()
	}
	out.Lives = append(out.Lives, done)
	return tell(left.Stopped(proof, err))
}

// sweep does processes that carry the run's cookie and belong to no server
// that the journal knows.
func (out *cleanedRun) sweep(ctx context.Context, c *cleaning, cookie string) {
	if cookie == "" {
		return
	}
	left, err := c.with.FindRun(cookie)
	if err != nil {
		out.Error = err.Error()
		return
	}
	done := describeLeftover(left)
	done.Processes = out.unlisted(done.Processes)
	if len(done.Processes)+len(done.Strangers) == 0 {
		return
	}
	if !c.dryRun {
		proof, err := c.with.End(ctx, left)
		done.Proof = &proof
		if err != nil {
			done.Error = err.Error()
		}
	}
	out.Lives = append(out.Lives, done)
}

// unlisted are the processes that no server before was found to have.
func (out *cleanedRun) unlisted(pids []int) []int {
	listed := map[int]bool{}
	for _, l := range out.Lives {
		for _, pid := range l.Processes {
			listed[pid] = l.Proof == nil // else it was ended, and this is another
		}
	}
	rest := []int{}
	for _, pid := range pids {
		if !listed[pid] {
			rest = append(rest, pid)
		}
	}
	return rest
}

func describeLeftover(left *launchers.Leftover) cleanedLife {
	done := cleanedLife{
		Life: left.Life, Replica: left.Replica, Processes: []int{}, Containers: []string{}, Strangers: left.Strangers(), Rebooted: left.Rebooted(),
	}
	for _, p := range left.Processes() {
		done.Processes = append(done.Processes, p.PID)
	}
	for _, info := range left.Containers {
		done.Containers = append(done.Containers, info.Name)
	}
	if left.Unseen != nil {
		done.Error = left.Unseen.Error()
	}
	return done
}

// undo puts back what one hook has changed.
func (out *cleanedRun) undo(ctx context.Context, c *cleaning, undo hooks.Undo, tell func(results.Event) error) error {
	done := cleanedUndo{Hook: undo.Name, Argv: undo.Argv}
	if c.dryRun {
		out.Undos = append(out.Undos, done)
		return nil
	}
	event := c.hooks.PutBack(ctx, undo)
	done.OK, done.Message = event.Hook.OK, event.Hook.Message
	out.Undos = append(out.Undos, done)
	return tell(event)
}

// endLeftovers ends what earlier runs have left on the box, which the caller
// has, and tells of it. The error says what is still there: nothing should be
// measured beside it.
func endLeftovers(ctx context.Context, e env, box *state.Box, with launchers.Cleaner, dirs ...string) error {
	c := &cleaning{box: box, with: with, hooks: &hooks.Runner{Environ: e.environ}}
	runs, err := c.targets(dirs)
	errs := []error{err}
	for _, target := range runs {
		done := c.run(ctx, target)
		if done.found() {
			fmt.Fprintf(e.stderr, "bench: an earlier run left something behind: %s\n%s", done.Dir, indented(done.lines()))
		}
		if done.failed() {
			errs = append(errs, fmt.Errorf("an earlier run is not cleaned up: %s; see 'bench clean --dry-run'", done.Dir))
		}
	}
	return errors.Join(errs...)
}

func indented(lines []string) string {
	var text strings.Builder
	for _, line := range lines {
		text.WriteString("  " + line + "\n")
	}
	return text.String()
}
