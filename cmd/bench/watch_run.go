package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/harness/progress"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/live"
	"github.com/benchrig/bench/results/store"
)

// screen is a terminal that a live view can have for itself.
type screen struct {
	in, out *os.File
	unicode bool
}

// screenOf is the terminal of two files; nil: they are not a terminal, or it is not ours
// to read, because bench runs in the background.
func screenOf(in, out *os.File, lookup func(string) (string, bool)) *screen {
	if !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return nil
	}
	if kind, _ := lookup("TERM"); kind == "dumb" || kind == "" {
		return nil
	}
	if group, err := unix.IoctlGetInt(int(in.Fd()), unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		return nil
	}
	return &screen{in, out, hasUnicode(lookup)}
}

// hasUnicode reports whether the locale writes UTF-8.
func hasUnicode(lookup func(string) (string, bool)) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value, _ := lookup(name); value != "" {
			value = strings.ToLower(value)
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return false
}

// plainFlags ask for plain line output also on a terminal.
type plainFlags struct{ plain bool }

func (o *plainFlags) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.plain, "plain", false, "plain line output, also on a terminal")
}

// of is the environment of a command with these flags.
func (o plainFlags) of(e env) env {
	if o.plain {
		e.screen = nil
	}
	return e
}

// runView shows a run on a terminal while it is carried out by this process.
// What others write to stderr meanwhile is kept, and written when the view has
// ended.
type runView struct {
	e        env // of before
	terminal *live.Terminal

	mu   sync.Mutex // guards what follows
	gone bool       // the terminal is as it was before
	kept bytes.Buffer
	last string // line that was not shown yet
}

// show shows a run of this process: its signals, its progress in lines, and on a
// terminal the live view.
func (e env) show(ctx context.Context, r session.Running) (context.Context, session.Shown) {
	shown, view := watchRun(ctx, e, r.Folder, r.Live, r.Control)
	ctx, stop := watchSignals(ctx, shown, r.Log, r.KillNow)
	updates := progress.New(shown.Stderr, shown.errTTY, r.Log, r.Folder.Dir(), view.shown)
	return ctx, session.Shown{
		Process: shown.Process, Observe: updates.Observe, Waiting: updates.Waiting,
		Close: func() { stop(); view.close() },
	}
}

// watchRun shows the run of a folder, where there is a terminal for it. The
// environment that it gives is to be used until close is called; both may be
// called on a run that is not shown.
func watchRun(ctx context.Context, e env, folder *store.Folder, l *status.Live, control *harness.Control) (env,
	*runView,
) {
	v := &runView{e: e, gone: true}
	if e.screen == nil {
		return e, v
	}

	follower, err := live.Follow(folder.Dir())
	if err != nil {
		return e, v // the run itself will tell
	}

	follower.Live = l.Snapshot
	source := &live.FolderSource{Follower: follower, Hide: l.Hide, Notes: v.note}
	v.gone = false
	model := live.NewScreen(source, runActions{l, control}, e.screen.unicode)
	v.terminal = live.Show(context.WithoutCancel(ctx), model, e.screen.in, e.screen.out, e.Environ)
	go func() {
		<-v.terminal.Done()
		v.leave()
	}()
	e.Stderr, e.errTTY = v, false
	return e, v
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
		return v.e.Stderr.Write(p)
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
		_, _ = v.e.Stderr.Write(v.kept.Bytes()) // the terminal may have gone
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
