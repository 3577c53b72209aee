package screen

import (
	"bytes"
	"context"
	"io"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/live"
)

// runView shows a run on a terminal while it is carried out by this process.
// What others write to stderr meanwhile is kept, and written when the view has
// ended.
type runView struct {
	stderr   io.Writer      // of before
	terminal *live.Terminal // nil: the run is not shown

	mu   sync.Mutex // guards what follows
	gone bool       // the terminal is as it was before
	kept bytes.Buffer
	last string // line that was not shown yet
}

// watch begins to show a run, where there is a terminal for it. The view may be
// used and closed also where it is not shown.
func (s Screen) watch(ctx context.Context, r session.Running) *runView {
	v := &runView{stderr: r.Process.Stderr, gone: true}
	if s.Terminal == nil {
		return v
	}

	follower, err := live.Follow(r.Folder.Dir())
	if err != nil {
		return v // the run itself will tell
	}

	follower.Live = r.Live.Snapshot
	source := &live.FolderSource{Follower: follower, Hide: r.Live.Hide, Notes: v.note}
	v.gone = false
	model := live.NewScreen(source, runActions{r.Live, r.Control}, s.Terminal.Unicode)
	v.terminal = live.Show(context.WithoutCancel(ctx), model, s.Terminal.In, s.Terminal.Out, r.Process.Environ)
	go func() {
		<-v.terminal.Done()
		v.leave()
	}()
	return v
}

// shown reports whether the view has the terminal.
func (v *runView) shown() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.gone
}

// Write keeps what would spoil the view.
func (v *runView) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.gone {
		return v.stderr.Write(p)
	}
	if line := text.LastLine(string(p)); line != "" {
		v.last = line
	}
	return v.kept.Write(p)
}

// note is the line that was written last, once.
func (v *runView) note() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	line := v.last
	v.last = ""
	return line
}

// leave writes what was kept.
func (v *runView) leave() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.gone {
		v.gone = true
		_, _ = v.stderr.Write(v.kept.Bytes()) // the terminal may have gone
		v.kept.Reset()
	}
}

// close ends the view. It also works while a panic unwinds.
func (v *runView) close() {
	if v.terminal != nil {
		_ = v.terminal.Close() // the run went on without it
		v.leave()
	}
}

// runActions are the keys of a run that this process carries out.
type runActions struct {
	live    *status.Live
	control *harness.Control
}

func (a runActions) Skip() bool { return a.control.Skip() }

func (a runActions) StopAfterStep(yes bool) {
	a.control.StopAfterStep(yes)
	a.live.EndSoon(yes)
}

// Interrupt sends the signal that Ctrl-C sends where no view has the keyboard.
func (runActions) Interrupt() { _ = unix.Kill(unix.Getpid(), unix.SIGINT) }
