// Package screen shows the run that this process carries out: live on a terminal,
// in lines elsewhere. It passes the user's signals and keys on to the run.
//
// What goes in: a terminal, a run about to begin. What comes out: a context that
// ends when the user asks for the end of the run. It measures nothing and never
// fails a run.
package screen

import (
	"context"
	"os"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/benchrig/bench/harness/progress"
	"github.com/benchrig/bench/harness/session"
)

// Terminal is a terminal that a live view can have for itself.
type Terminal struct {
	In, Out *os.File
	Unicode bool
}

// TerminalOf is the terminal of two files; nil: they are not a terminal, or it is
// not ours to read, because bench runs in the background.
func TerminalOf(in, out *os.File, lookup func(string) (string, bool)) *Terminal {
	if !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return nil
	}
	if kind, _ := lookup("TERM"); kind == "dumb" || kind == "" {
		return nil
	}
	if group, err := unix.IoctlGetInt(int(in.Fd()), unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		return nil
	}
	return &Terminal{in, out, HasUnicode(lookup)}
}

// HasUnicode reports whether the locale writes UTF-8.
func HasUnicode(lookup func(string) (string, bool)) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value, _ := lookup(name); value != "" {
			value = strings.ToLower(value)
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return false
}

// Screen is where runs of this process are shown.
type Screen struct {
	Terminal  *Terminal // nil: runs are shown in lines
	Rewriting bool      // lines on stderr can be rewritten

	Begun func(dir string) // is called with the folder of each run; nil: nothing
}

// Show implements session.Show.
func (s Screen) Show(ctx context.Context, r session.Running) (context.Context, session.Shown) {
	if s.Begun != nil {
		s.Begun(r.Folder.Dir())
	}
	view := s.watch(ctx, r)
	shown, rewriting := r.Process, s.Rewriting
	if view.terminal != nil {
		shown.Stderr, rewriting = view, false
	}

	ctx, stop := watchSignals(ctx, shown.Stderr, r.Log, r.KillNow)
	updates := progress.New(shown.Stderr, rewriting, r.Log, r.Folder.Dir(), view.shown)
	return ctx, session.Shown{
		Process: shown, Observe: updates.Observe, Waiting: updates.Waiting,
		Close: func() { stop(); view.close() },
	}
}
