package live

import (
	"context"
	"io"

	tea "charm.land/bubbletea/v2"
)

// framesPerSecond is how often at most a terminal is drawn. A key is seen
// within a tenth of a second, and nothing is drawn where nothing changed.
const framesPerSecond = 10

// Terminal shows a Screen until it is closed or its user leaves. It takes no
// signal: those are its caller's.
type Terminal struct {
	program *tea.Program
	done    chan struct{}
	err     error
}

// Show begins to show a screen. in and out are a terminal; environ says what it
// can do.
func Show(ctx context.Context, screen Screen, in io.Reader, out io.Writer, environ []string) *Terminal {
	t := &Terminal{done: make(chan struct{})}
	t.program = tea.NewProgram(screen, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out),
		tea.WithEnvironment(environ),
		tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond))
	go func() {
		defer close(t.done)
		_, t.err = t.program.Run()
	}()
	return t
}

// Done is closed when the terminal is as it was before.
func (t *Terminal) Done() <-chan struct{} { return t.done }

// Close ends the view and gives the terminal back as it was. The error says
// why the view had ended before.
func (t *Terminal) Close() error {
	t.program.Quit()
	<-t.done
	return t.err
}
