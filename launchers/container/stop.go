package container

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/results"
)

// vanishPoll is between two looks for processes of a removed container.
const vanishPoll = 100 * time.Millisecond

// Stop ends the container: stop, kill, removal, each with a time limit of its
// own, until the engine no longer knows it and its processes are gone.
// A done ctx means KillNow, not giving up. PortFree is the caller's to prove.
func (c *Container) Stop(ctx context.Context, grace time.Duration) (results.Proof, error) {
	unhook := context.AfterFunc(ctx, c.KillNow)
	defer unhook()

	c.stopMu.Lock()
	defer c.stopMu.Unlock()

	if c.gone {
		return c.proof, nil
	}

	began, base := time.Now(), context.WithoutCancel(ctx)
	_, _ = c.Tree() // to know its processes when it does not any more
	signals := c.stopOrKill(base, grace)
	err := c.cli.remove(base, c.id)
	c.quit()
	c.watching.Wait()
	c.proof = results.Proof{Signals: signals, StopS: time.Since(began).Seconds()}
	if err != nil {
		return c.proof, fmt.Errorf("stop container %s: %w", c.identity.Container.Name, err)
	}

	c.proof.ExitCode = c.exitCode(signals)
	left := c.awaitVanished(base)
	c.proof.StopS = time.Since(began).Seconds()
	if len(left) > 0 {
		c.proof.Unkillable = left
		return c.proof, fmt.Errorf("stop container %s: %s says that it was removed, but its processes %v are "+
			"still running",
			c.identity.Container.Name, c.cli.Engine, left)
	}

	removeMonitorDir(c.monitor)
	c.proof.PIDsGone, c.gone = true, true
	return c.proof, nil
}

// stopOrKill asks the container to end and then makes it, and returns the signals
// that took.
func (c *Container) stopOrKill(ctx context.Context, grace time.Duration) (signals []string) {
	running := func() bool {
		err := c.look(ctx)
		c.mu.Lock()
		defer c.mu.Unlock()
		return err != nil && !noSuch(err) || err == nil && c.state.lives()
	}

	if !running() {
		return nil
	}
	if c.isPaused() {
		_, _ = c.cli.call(ctx, c.cli.Limits.Kill, "unpause", c.id) // else podman neither stops nor kills it
	}
	if asking, cancel := sleep.UnlessClosed(ctx, c.killNow); asking.Err() == nil {
		signals = append(signals, "TERM")
		_, _ = c.cli.call(asking, grace+c.cli.Limits.Kill, "stop", "-t", seconds(grace), c.id) // it shows in its state
		cancel()
	} else {
		cancel()
	}

	if running() {
		signals = append(signals, "KILL")
		_, _ = c.cli.call(ctx, c.cli.Limits.Kill, "kill", c.id) // as above
		_ = c.look(ctx)
	}

	return signals
}

// isPaused reports whether somebody has paused the container, by what is known of it.
func (c *Container) isPaused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.Paused
}

// Terminate sends SIGTERM to the container's first process, for one that may have
// lost it during a Stop.
func (c *Container) Terminate() {
	_, _ = c.cli.call(context.Background(), c.cli.Limits.Kill, "kill", "--signal", "TERM", c.id) // its end shows it
}

// exitCode is that of the first process; null where the engine never said.
func (c *Container) exitCode(signals []string) *int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.lives() || len(signals) == 0 && c.state == (state{}) {
		return nil
	}
	code := c.state.ExitCode
	return &code
}

// awaitVanished waits until no process that was seen in the container is
// there, and returns the pids of those that stay.
func (c *Container) awaitVanished(ctx context.Context) []int {
	deadline := time.Now().Add(c.cli.Limits.Vanish)
	for {
		left := c.remaining()
		if len(left) == 0 || time.Now().After(deadline) || !sleep.For(ctx, vanishPoll) {
			return left
		}
	}
}

func (c *Container) remaining() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	var left []int
	for pid, start := range c.known {
		if now, seen := proc.System.StartTime(pid); seen && now == start {
			left = append(left, pid)
		}
	}
	slices.Sort(left)
	return left
}
