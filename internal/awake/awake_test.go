package awake

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

var errLate = errors.New("late")

// A deadline passes at its time where the program runs.
func TestDeadlinePasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, free := WithTimeoutCause(t.Context(), 90*time.Second, errLate)
		defer free()
		<-ctx.Done()
		if took := time.Since(began); took != 90*time.Second || !errors.Is(context.Cause(ctx), errLate) {
			t.Errorf("the context ended after %v with %v, want 90 s and %v", took, context.Cause(ctx), errLate)
		}
		if _, carries := ctx.Deadline(); carries {
			t.Error("the context carries a deadline, which dialers would report as their own")
		}
	})
}

// A canceled deadline leaves no goroutine, which synctest checks.
func TestDeadlineIsFreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, free := WithTimeoutCause(t.Context(), time.Hour, errLate)
		free()
	})
}

// Looks that come late are pauses; a suspended machine is one of another kind.
func TestStopwatch(t *testing.T) {
	for _, c := range []struct {
		name       string
		gap, slept time.Duration
		ran        time.Duration
		lost       Lost
	}{
		{"in time", 250 * time.Millisecond, 0, 250 * time.Millisecond, Lost{}},
		{"a busy machine", 900 * time.Millisecond, 0, 900 * time.Millisecond, Lost{}},
		{"stopped", 5250 * time.Millisecond, 0, 250 * time.Millisecond, Lost{Stopped: 5 * time.Second}},
		{"suspended", 250 * time.Millisecond, time.Hour, 250 * time.Millisecond, Lost{Asleep: time.Hour}},
		{"clocks that differ a little", 250 * time.Millisecond, 80 * time.Millisecond, 250 * time.Millisecond, Lost{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				before := machineSleep
				defer func() { machineSleep = before }()
				slept := 7 * time.Minute
				machineSleep = func() time.Duration { return slept }

				watch := Start()
				time.Sleep(c.gap)
				slept += c.slept
				if got := watch.Look(); got != c.lost || watch.lost != c.lost || watch.ran != c.ran {
					t.Errorf("lost %+v in all %+v, ran %v, want %+v and %v", got, watch.lost, watch.ran, c.lost, c.ran)
				}
			})
		})
	}
}

// A program that is stopped by SIGSTOP and continued notices it, and its deadline
// has not passed meanwhile.
func TestStoppedProgram(t *testing.T) {
	if os.Getenv("AWAKE_STOPPED") != "" {
		stoppedProgram()
	}

	child := exec.Command(os.Args[0], "-test.run=TestStoppedProgram") //nolint:gosec // this program itself
	child.Env = append(os.Environ(), "AWAKE_STOPPED=1")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}

	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := child.Process.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(stop)
	if err := child.Process.Signal(unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err != nil {
		t.Errorf("the stopped program: %v, want exit code 0: 1 is a deadline that passed, 2 a pause not noticed", err)
	}
}

// stop is longer than the deadline of the program that is stopped.
const stop = 4 * time.Second

// stoppedProgram says that it runs, and ends once it has noticed its pause.
func stoppedProgram() {
	ctx, free := WithTimeoutCause(context.Background(), stop/2, errLate)
	defer free()
	watch := Notice(ctx)
	os.Stdout.WriteString(".") //nolint:errcheck // the parent waits in vain
	for watch.Lost().Stopped < stop/2 {
		if ctx.Err() != nil {
			os.Exit(1)
		}
		time.Sleep(period)
	}
	if ctx.Err() != nil {
		os.Exit(1)
	}
	os.Exit(0)
}
