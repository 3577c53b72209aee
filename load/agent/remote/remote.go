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
// when it has started.
func copyingPlace(host string) agent.Place {
	return agent.Place{Name: host, Dial: func(ctx context.Context) (io.ReadWriteCloser, error) {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		copied := "/tmp/" + CopyPrefix + rand.Text()
		scp := exec.CommandContext(ctx, "scp", "-q", "-p", "-o", "BatchMode=yes", self, host+":"+copied)
		scp.WaitDelay = grace // a connection that ssh keeps for later (ControlPersist) holds the pipe
		if said, err := scp.CombinedOutput(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
			return nil, fmt.Errorf("copy bench: %w: %s", err, strings.TrimSpace(string(said)))
		}
		return start(ctx, append(sshTo(host), copied, "load-agent", "--delete-copy"))
	}}
}

// Command is an agent that a command starts.
func Command(name string, argv []string) agent.Place {
	return agent.Place{Name: name, Dial: func(ctx context.Context) (io.ReadWriteCloser,
		error,
	) {
		return start(ctx, argv)
	}}
}
