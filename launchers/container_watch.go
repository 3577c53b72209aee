package launchers

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

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
func (c *container) watch(ctx context.Context, followed <-chan struct{}) {
	for !c.hasEnded(ctx) {
		if ctx.Err() != nil {
			return
		}
		c.awaitSign(ctx)
	}
	close(c.over)
	timer := time.NewTimer(lastLog)
	defer timer.Stop()
	select {
	case <-followed:
	case <-timer.C:
	case <-ctx.Done():
	}
	close(c.done)
}

// hasEnded asks the engine whether the container is over.
func (c *container) hasEnded(ctx context.Context) bool {
	err := c.look(ctx)
	if err != nil {
		return noSuch(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.state.Running && !c.state.Restarting
}

// awaitSign returns when there may be news: its client says that the container
// has ended, or its first process is gone. It takes at least one pause.
func (c *container) awaitSign(ctx context.Context) {
	if !pause(ctx, c.limits.again) {
		return
	}
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	waited := make(chan struct{})
	c.watching.Go(func() {
		defer close(waited)
		_, _ = c.cli.call(waiting, 0, "wait", c.id) // whether it is true shows next
	})
	tick := time.NewTicker(pidPoll)
	defer tick.Stop()
	for {
		select {
		case <-waited:
			return
		case <-tick.C:
			if c.firstGone() {
				return
			}
		}
	}
}

// firstGone reports whether the first process is known and gone.
func (c *container) firstGone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pid == 0 {
		return false
	}
	start, seen := process.StartTime(c.pid)
	return !seen || start != c.startTime
}

// follow copies the container's log into the server's log until it is over,
// and starts again where the client gives up before.
func (c *container) follow(ctx context.Context) {
	argv := []string{c.cli.program, "logs", "-f"}
	for ctx.Err() == nil {
		client, err := process.Start(process.Config{
			Argv: append(argv, c.id), Env: c.cli.env, Dir: "/", LogPath: c.logPath, Cookie: c.cookie,
		})
		if err != nil {
			return // no program or no memory: the server is judged without its log
		}
		select {
		case <-client.Done():
		case <-ctx.Done():
		}
		_, _ = client.Stop(context.WithoutCancel(ctx), followGrace) // it only reads
		argv = []string{c.cli.program, "logs", "-f", "--since", time.Now().UTC().Format(time.RFC3339Nano)}
		select {
		case <-c.over:
			return
		default:
		}
		if !pause(ctx, c.limits.again) {
			return
		}
		select {
		case <-c.over:
			return
		default:
		}
	}
}

// tryPublished proves that the port leads into the container where the network
// is not the host's, by what the engine publishes for it.
func (c *container) tryPublished(ctx context.Context, port int) step {
	text, err := c.cli.call(ctx, c.limits.ask, "port", c.id)
	switch {
	case err != nil:
		return step{answer: err.Error()}
	case publishes(text, port):
		return step{done: true}
	}
	return step{answer: fmt.Sprintf("%s port: %q does not name port %d", c.cli.engine, shorten(text), port)}
}

// publishes reads lines such as "8000/tcp -> 127.0.0.1:8000".
func publishes(text string, port int) bool {
	for line := range strings.Lines(text) {
		_, outside, found := strings.Cut(strings.TrimSpace(line), " -> ")
		if found && strings.HasSuffix(outside, ":"+strconv.Itoa(port)) {
			return true
		}
	}
	return false
}
