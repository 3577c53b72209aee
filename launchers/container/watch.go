package container

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/process"
)

const (
	pidPoll = 250 * time.Millisecond
	// lastLog is how long the rest of an ended container's log may take.
	lastLog = 2 * time.Second
	// followGrace ends a client that follows a log.
	followGrace = time.Second
)

// watch closes over when the container has ended, and done when its log is
// complete or has had its time. Clients of an engine may end early or lie, so
// only the engine's answer to inspect counts.
func (c *Container) watch(ctx context.Context, followed <-chan struct{}) {
	for !c.hasEnded(ctx) {
		if ctx.Err() != nil {
			return
		}
		c.awaitSign(ctx)
	}

	close(c.over)
	c.awaitReason(ctx)
	select {
	case <-followed:
	case <-time.After(lastLog):
	case <-ctx.Done():
	}

	close(c.done)
}

// hasEnded asks the engine whether the container is over.
func (c *Container) hasEnded(ctx context.Context) bool {
	err := c.look(ctx)
	if err != nil {
		return noSuch(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.state.lives()
}

// awaitReason gives the engine a moment to note that the kernel killed the
// container for lack of memory: docker hears of that on another way than of the
// end, and sometimes later.
func (c *Container) awaitReason(ctx context.Context) {
	const (
		tries      = 4
		killedCode = 128 + int(syscall.SIGKILL)
	)
	unexplained := func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.state.ExitCode == killedCode && !c.state.OOMKilled && c.kills == 0 && !killNoted(c.monitor)
	}

	c.noteKills()
	for range tries {
		if !unexplained() || !sleep.For(ctx, pidPoll) {
			return
		}
		_ = c.look(ctx) // what does not come explains nothing
	}
}

// awaitSign returns when there may be news: its client says that the container
// has ended, or its first process is gone. It takes at least one pause.
func (c *Container) awaitSign(ctx context.Context) {
	tick := time.NewTicker(pidPoll)
	defer tick.Stop()
	if !c.pause(ctx, tick.C) {
		return
	}

	waiting, cancel := context.WithCancel(ctx)
	defer cancel()

	waited := make(chan struct{})
	c.watching.Go(func() {
		defer close(waited)
		_, _ = c.cli.call(waiting, 0, "wait", c.id) // whether it is true shows next
	})

	for {
		select {
		case <-waited:
			return
		case <-tick.C:
			c.noteKills()
			if c.firstGone() {
				return
			}
		}
	}
}

// pause is the time between two tries. It looks for kills at each tick: their counter
// may be gone after it. It reports false if ctx ended.
func (c *Container) pause(ctx context.Context, tick <-chan time.Time) bool {
	over := time.After(c.cli.Limits.Again)
	for {
		select {
		case <-over:
			return true
		case <-tick:
			c.noteKills()
		case <-ctx.Done():
			return false
		}
	}
}

// firstGone reports whether the first process is known and gone.
func (c *Container) firstGone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pid == 0 {
		return false
	}
	start, seen := proc.System.StartTime(c.pid)
	return !seen || start != c.startTime
}

// follow copies the container's log into the server's log until it is over,
// and starts again where the client gives up before.
func (c *Container) follow(ctx context.Context) {
	argv := []string{c.cli.program, "logs", "-f"}
	empty := sizeOf(c.logPath)
	for ctx.Err() == nil {
		client, err := process.Start(process.Config{
			Argv: append(argv, c.id), Env: c.cli.env, Dir: "/", LogPath: c.logPath,
			Cookie: c.cookie + ".log", // the container's processes carry the other, and are not the client's
		})
		if err != nil {
			return // no program or no memory: the server is judged without its log
		}
		select {
		case <-client.Done():
		case <-ctx.Done():
		}
		_, _ = client.Stop(context.WithoutCancel(ctx), followGrace) // it only reads

		argv = append([]string{c.cli.program, "logs", "-f"}, c.goOn(empty)...)
		if c.isOver() || !sleep.For(ctx, c.cli.Limits.Again) || c.isOver() {
			return
		}
	}
}

// isOver reports whether the container has ended.
func (c *Container) isOver() bool {
	select {
	case <-c.over:
		return true
	default:
		return false
	}
}

// goOn are the options that make a client continue after the last line that was
// received; none where the log has not grown since it had the size of empty.
func (c *Container) goOn(empty int64) []string {
	info, err := os.Stat(c.logPath)
	if err != nil || info.Size() == empty {
		return nil
	}
	return []string{"--since", info.ModTime().UTC().Format(time.RFC3339Nano)}
}

// sizeOf is a file's size, 0 if there is none.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// Publishes asks the engine whether the port of this machine leads into the
// container, for one whose network is not the host's. answer says what it saw
// where it does not.
func (c *Container) Publishes(ctx context.Context, port int) (answer string, ok bool) {
	output, err := c.cli.call(ctx, c.cli.Limits.Ask, "port", c.id)
	switch {
	case err != nil:
		return err.Error(), false
	case publishes(output, port):
		return "", true
	}
	return fmt.Sprintf("%s port: %q does not name port %d", c.cli.Engine, text.Shorten(output), port), false
}

// publishes reads lines such as "8000/tcp -> 127.0.0.1:8000".
func publishes(output string, port int) bool {
	for line := range strings.Lines(output) {
		_, outside, found := strings.Cut(strings.TrimSpace(line), " -> ")
		if found && strings.HasSuffix(outside, ":"+strconv.Itoa(port)) {
			return true
		}
	}
	return false
}
