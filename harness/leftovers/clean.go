package leftovers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/benchrig/bench/harness/hooks"
	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// Cleaner removes what runs left behind, or only looks for it.
type Cleaner struct {
	State  *state.Store
	With   cleanup.Cleaner
	Hooks  *hooks.Runner
	DryRun bool // only look
}

// Run is what was found of a run, and what became of it.
type Run struct {
	Dir     string `json:"dir"`
	Skipped string `json:"skipped,omitempty"` // why nothing of the run is touched

	// the run's journal names servers or undos that this machine has not noted
	Unproven bool `json:"unproven,omitempty"`

	Lives []Server `json:"servers"`
	Undos []Undo   `json:"undos"`
	Error string   `json:"error,omitempty"` // of the folder or the journal
}

// Server is one server of a run, or the processes of the run that belong to none.
type Server struct {
	Life       string             `json:"life"` // "": of the run, not of a server that it noted
	Replica    int                `json:"replica"`
	Processes  []int              `json:"processes"`
	Containers []string           `json:"containers"`
	Strangers  []process.Stranger `json:"left_alone"` // look like ours and cannot be shown to be

	// with the run's label and not its name, as a container has that was made of an image of ours
	OtherContainers []results.ContainerInfo `json:"containers_left_alone,omitempty"`

	Rebooted bool           `json:"rebooted"`
	Proof    *results.Proof `json:"proof"` // null: only looked
	Error    string         `json:"error,omitempty"`
}

// Undo is one change of a hook that was undone, or has to be.
type Undo struct {
	Hook    string   `json:"hook"`
	Argv    []string `json:"argv"`
	OK      bool     `json:"ok"`
	Message string   `json:"message"`
}

// Found reports whether there is something to remove or to undo.
func (out Run) Found() bool {
	for _, l := range out.Lives {
		if len(l.Processes)+len(l.Containers) > 0 || l.Error != "" {
			return true
		}
	}
	return len(out.Undos) > 0
}

// Failed reports whether something is still there, or may be.
func (out Run) Failed() bool {
	for _, l := range out.Lives {
		if l.Error != "" {
			return true
		}
	}
	return out.Error != ""
}

// Targets are the registered runs and the given folders, each once.
func (c *Cleaner) Targets(dirs []string) ([]string, error) {
	runs, err := c.State.Runs()
	var targets []string
	for _, run := range runs {
		targets = append(targets, run.Dir)
	}

	for _, dir := range dirs {
		if !slices.ContainsFunc(targets, func(known string) bool { return sameFolder(known, dir) }) {
			targets = append(targets, dir)
		}
	}
	return targets, err
}

func sameFolder(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// Clean looks at one run and, unless it is a dry run, removes what it finds,
// undoes what hooks changed, and takes the run out of the register when nothing
// is left. What a run started and changed is what the register has noted of it:
// its folder, which may come from anybody, only gets events that tell the end.
func (c *Cleaner) Clean(ctx context.Context, dir string) Run {
	out := Run{Dir: dir, Lives: []Server{}, Undos: []Undo{}}
	target, noted := c.State.Lookup(dir)
	if !noted {
		out.notRegistered()
		return out
	}
	if out.Skipped = target.Elsewhere(); out.Skipped != "" {
		return out
	}

	if c.running(dir) {
		out.Skipped = "it is running"
		return out
	}

	journal, closeJournal := c.journal(dir)
	defer closeJournal()

	if err := c.registered(ctx, &out, target, journal); err != nil {
		out.Error = strings.TrimPrefix(out.Error+"; "+err.Error(), "; ")
	}
	c.forget(&out)
	return out
}

// notRegistered says what the journal of a folder names that this machine has
// not noted: another machine or user ran it, or somebody else wrote it. None of
// it is touched.
func (out *Run) notRegistered() {
	folder, err := store.Open(out.Dir)
	if err != nil {
		out.Error = err.Error()
		return
	}

	events, err := folder.Events()
	if err != nil {
		out.Error = err.Error()
		return
	}

	if lives, undos := len(cleanup.OpenLives(events)), len(hooks.OpenUndos(events)); lives+undos > 0 {
		out.Unproven = true
		out.Skipped = fmt.Sprintf("its journal names %s without a proof of the end and %s, but this machine has not "+
			"noted the run: run bench clean where it ran", text.Count(lives, "server"), text.Count(undos, "open undo"))
	}
}

// running reports whether a bench writes the run's folder. The register decides
// what is stopped, so that a folder that cannot be read hides nothing.
func (c *Cleaner) running(dir string) bool {
	folder, err := store.Open(dir)
	if err != nil {
		return false
	}
	return folder.Locked()
}

// journal opens the journal of a run's folder, where the end of what is removed
// is told: a folder that is gone or damaged is no reason to leave a server.
func (c *Cleaner) journal(dir string) (appendEvent func(results.Event), closeAll func()) {
	nobody, nothing := func(results.Event) {}, func() {}
	if c.DryRun {
		return nobody, nothing
	}

	folder, err := store.Open(dir)
	if err != nil {
		return nobody, nothing
	}
	lock, err := folder.Lock()
	if err != nil {
		return nobody, nothing
	}

	journal, err := folder.OpenJournal()
	if err != nil {
		return nobody, func() { _ = lock.Release() }
	}
	return func(e results.Event) { _ = journal.Append(e) }, func() {
		_ = journal.Close() // every event is on disk already
		_ = lock.Release()  // the kernel would do it anyway
	}
}

func (c *Cleaner) forget(out *Run) {
	if c.DryRun || out.Failed() {
		return
	}
	if err := c.State.Forget(out.Dir); err != nil {
		out.Error = err.Error()
	}
}

// registered does a run of the register. tell writes into the run's journal.
func (c *Cleaner) registered(ctx context.Context, out *Run, target state.Run, appendEvent func(results.Event)) error {
	events, err := c.State.Notes(target.Dir)
	if err != nil {
		out.sweep(ctx, c, target)
		return err
	}

	told := func(results.Event) error { return nil }
	lives, undos := cleanup.OpenLives(events), hooks.OpenUndos(events)
	if !c.DryRun && len(lives)+len(undos) > 0 {
		notes, err := c.State.OpenNotes(target.Dir)
		if err != nil {
			return err
		}
		defer func() { _ = notes.Close() }() // every event is on disk already
		told = func(e results.Event) error { appendEvent(e); return notes.Append(e) }
	}

	var errs []error
	for _, life := range lives {
		if info := life.Process.Container; info != nil {
			target.Engines = append(target.Engines, info.Engine)
		}
		errs = append(errs, out.life(ctx, c, life, told))
	}

	out.sweep(ctx, c, target)
	for _, undo := range undos {
		errs = append(errs, out.undo(ctx, c, undo, target, told))
	}

	return errors.Join(errs...)
}

// life does one server.
func (out *Run) life(
	ctx context.Context, c *Cleaner, life cleanup.OpenLife, appendEvent func(results.Event) error,
) error {
	left, err := c.With.Find(ctx, life)
	if err != nil {
		return err
	}

	done := describeLeftover(left)
	if c.DryRun {
		out.Lives = append(out.Lives, done)
		return nil
	}

	event := c.end(ctx, left, &done)
	out.Lives = append(out.Lives, done)
	return appendEvent(event)
}

// end ends what is left, notes how that went, and returns the event that says so.
func (c *Cleaner) end(ctx context.Context, left *cleanup.Leftover, done *Server) results.Event {
	proof, err := c.With.End(ctx, left)
	done.Proof = &proof
	if err != nil {
		done.Error = err.Error()
	}
	return left.Stopped(proof, err)
}

// sweep does processes and containers that carry the run's cookie and belong to
// no server that was noted.
func (out *Run) sweep(ctx context.Context, c *Cleaner, target state.Run) {
	if target.Cookie == "" {
		return
	}

	left, err := c.With.FindAll(ctx, target.Cookie, target.Engines, target.Rebooted())
	if err != nil {
		out.Error = err.Error()
		return
	}

	done := describeLeftover(left)
	done.Processes = out.unlisted(done.Processes)
	done.Containers = out.unlistedContainers(done.Containers)
	if len(done.Processes)+len(done.Strangers)+len(done.Containers)+len(done.OtherContainers) == 0 && done.Error == "" {
		return
	}
	if !c.DryRun {
		c.end(ctx, left, &done)
	}

	out.Lives = append(out.Lives, done)
}

// unlisted are the processes that no server before was found to have.
func (out *Run) unlisted(pids []int) []int {
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

// unlistedContainers are the containers that no server before was found to have,
// by name.
func (out *Run) unlistedContainers(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(out.Lives, func(l Server) bool { return slices.Contains(l.Containers, name) })
	})
}

func describeLeftover(left *cleanup.Leftover) Server {
	done := Server{
		Life: left.Life, Replica: left.Replica, Processes: []int{}, Containers: []string{},
		Strangers: left.Strangers(), OtherContainers: left.Others, Rebooted: left.Rebooted(),
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

// undo puts back what one hook has changed, unless the machine was started again
// since: what is there by now was not the hook's doing.
func (out *Run) undo(ctx context.Context, c *Cleaner, undo hooks.Undo, target state.Run,
	appendEvent func(results.Event) error,
) error {
	done := Undo{Hook: undo.Name, Argv: undo.Argv}
	if c.DryRun {
		out.Undos = append(out.Undos, done)
		return nil
	}

	var event results.Event
	if target.Rebooted() {
		event = c.Hooks.NotPutBack(undo, "not run: the machine was rebooted since; if the change is still in effect, "+
			"undo it by hand")
	} else {
		event = c.Hooks.PutBack(ctx, undo)
	}
	done.OK, done.Message = event.Hook.OK, event.Hook.Message
	out.Undos = append(out.Undos, done)
	return appendEvent(event)
}

// RemoveAll removes what earlier runs left on this machine, whose lock the
// caller holds, and notes it on w. The error says what is still there: nothing
// should be measured beside it.
func RemoveAll(ctx context.Context, w io.Writer, register *state.Store, with cleanup.Cleaner, dirs ...string) error {
	c := &Cleaner{State: register, With: with, Hooks: &hooks.Runner{Environ: with.Environ}}
	runs, err := c.Targets(dirs)
	errs := []error{err}
	for _, target := range runs {
		done := c.Clean(ctx, target)
		if done.Found() {
			fmt.Fprintf(w, "bench: an earlier run left something behind: %s\n%s", done.Dir, text.Indent(done.Lines()))
		}
		if done.Unproven {
			fmt.Fprintf(w, "bench: %s\n%s", done.Dir, text.Indent(done.Lines()))
		}
		if done.Failed() {
			errs = append(errs, fmt.Errorf("an earlier run is not cleaned up: %s; see 'bench clean --dry-run'",
				done.Dir))
		}
	}
	return errors.Join(errs...)
}

// Close takes a run out of the register of which nothing is left to remove or to
// undo; a run that may have left something stays in it.
func Close(register *state.Store, dir string) error {
	events, err := register.Notes(dir)
	if err != nil {
		return err
	}
	if len(cleanup.OpenLives(events)) > 0 || len(hooks.OpenUndos(events)) > 0 {
		return nil
	}
	return register.Forget(dir)
}
