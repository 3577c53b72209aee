package direct

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/load/agent"
	"github.com/benchrig/bench/load/agent/remote"
	"github.com/benchrig/bench/load/vllmcli"
)

// driverFor is the client that the flags ask for: this process, or agents,
// which it starts.
func driverFor(ctx context.Context, p machine.Process, f *vllmcli.Flags) (step.Driver, error) {
	if len(f.Agents)+len(f.AgentCommands) == 0 {
		if f.CopyBench {
			return nil, usage.Errorf("--copy-bench: it goes with --agent")
		}
		return session.NewClient(p.Stderr), nil
	}

	var places []agent.Place
	for _, host := range f.Agents {
		place, err := remote.Host(host, f.AgentBench, f.CopyBench)
		if err != nil {
			return nil, usage.Mark(err)
		}
		places = append(places, place)
	}

	for i, line := range f.AgentCommands {
		argv := strings.Fields(line)
		if len(argv) == 0 {
			return nil, usage.Errorf("--agent-command %q: want a command and its arguments", line)
		}
		places = append(places, remote.Command(fmt.Sprintf("command-%d", i+1), argv))
	}

	d, err := session.Agents(ctx, p, places)
	if err != nil {
		return nil, err
	}
	if len(f.Agents) > 0 && loopback(f.Base()) {
		fmt.Fprintf(p.Stderr, "note: %s is each agent's own host; --base-url names another\n", f.Base())
	}

	return d, nil
}

func loopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := u.Hostname()
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}
