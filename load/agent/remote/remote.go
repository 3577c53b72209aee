// Package remote starts load agents on other hosts: by ssh, by srun, or by a
// command of the user's.
//
// A host's name goes in, a stream to an agent comes out. Programs are started
// from argument lists, never through a shell. It knows nothing of load.
package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/benchrig/bench/load/agent"
)

// CopyPrefix begins the name of a copy of bench on another host. Such a copy
// removes itself when it has started.
const CopyPrefix = "bench-load-agent-"

// Host is an agent on a host, reached by ssh, or by srun for srun:NODE. bench is
// the program there; copied has this program copied to it first. The user's ssh
// configuration decides how the host is reached.
func Host(host, bench string, copied bool) (agent.Place, error) {
	node, isNode := strings.CutPrefix(host, "srun:")
	switch {
	case node == "" || strings.HasPrefix(node, "-"):
		return agent.Place{}, fmt.Errorf("--agent %q: want a host that ssh knows, or srun:NODE", host)
	case isNode && copied:
		return agent.Place{}, fmt.Errorf("--copy-bench: %s has this file system anyway; --agent-bench says where", host)
	case isNode:
		return Command(host, []string{
			"srun", "--nodelist=" + node, "--nodes=1", "--ntasks=1", "--overlap",
			"--unbuffered", bench, "load-agent",
		}), nil
	case copied:
		return copyingPlace(host), nil
	}
	return Command(host, append(sshTo(host), bench, "load-agent")), nil
}

// sshTo begins a command line on a host. ssh ends a connection that has been dead for
// 15 s, so that a host off the network does not hold up a pass.
func sshTo(host string) []string {
	return []string{
		"ssh", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=2", "-T", host,
	}
}

// copyingPlace copies this program to the host first. The copy deletes itself
// when it has started; one that cannot start is removed from here.
func copyingPlace(host string) agent.Place {
	return agent.Place{Name: host, Dial: func(ctx context.Context) (io.ReadWriteCloser, error) {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		path := "/tmp/" + CopyPrefix + rand.Text()
		scp := exec.CommandContext(ctx, "scp", "-q", "-p", "-o", "BatchMode=yes", self, host+":"+path)
		scp.WaitDelay = grace // a connection that ssh keeps for later (ControlPersist) holds the pipe
		if said, err := scp.CombinedOutput(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
			removeCopy(ctx, host, path) // of which a part may be there
			return nil, fmt.Errorf("copy bench: %w: %s", err, strings.TrimSpace(string(said)))
		}

		p, err := start(ctx, append(sshTo(host), path, "load-agent", "--delete-copy"))
		if err != nil {
			removeCopy(ctx, host, path)
			return nil, err
		}
		return &copied{process: p, remove: func() { removeCopy(ctx, host, path) }}, nil
	}}
}

// copied is an agent whose program was copied to its host.
type copied struct {
	*process

	remove  func()
	started bool // it has said something, and so deleted itself
}

// Read implements io.Reader.
func (c *copied) Read(b []byte) (int, error) {
	n, err := c.process.Read(b)
	if n > 0 {
		c.started = true
	}
	if err != nil && !c.started {
		c.remove()
		c.started = true
	}
	return n, err
}

// removeCopy removes a copy that did not remove itself, as well as can be done.
func removeCopy(ctx context.Context, host, path string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTime)
	defer cancel()
	rm := exec.CommandContext(ctx, "ssh", append(sshTo(host)[1:], "rm", "-f", path)...)
	rm.WaitDelay = grace
	_ = rm.Run() // the host may be gone
}

// removeTime bounds the removal of a copy.
const removeTime = 10 * time.Second

// Command is an agent that a command starts.
func Command(name string, argv []string) agent.Place {
	return agent.Place{Name: name, Dial: func(ctx context.Context) (io.ReadWriteCloser,
		error,
	) {
		return start(ctx, argv)
	}}
}
