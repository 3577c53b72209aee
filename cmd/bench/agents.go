package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/load/agent"
	"github.com/benchrig/bench/load/agent/remote"
	"github.com/benchrig/bench/load/vllmcli"
	"github.com/benchrig/bench/results"
)

// loadDriverFor is the client that the flags ask for: this process, or agents,
// which it starts.
func loadDriverFor(ctx context.Context, e env, f *vllmcli.Flags) (step.Driver, error) {
	if len(f.Agents)+len(f.AgentCommands) == 0 {
		if f.CopyBench {
			return nil, usageError(errors.New("--copy-bench: it goes with --agent"))
		}
		return session.NewClient(e.Stderr), nil
	}
	var places []agent.Place
	for _, host := range f.Agents {
		place, err := remote.Host(host, f.AgentBench, f.CopyBench)
		if err != nil {
			return nil, usageError(err)
		}
		places = append(places, place)
	}
	for i, line := range f.AgentCommands {
		argv := strings.Fields(line)
		if len(argv) == 0 {
			return nil, usageError(fmt.Errorf("--agent-command %q: want a command and its arguments", line))
		}
		places = append(places, remote.Command(fmt.Sprintf("command-%d", i+1), argv))
	}
	d, err := session.Agents(ctx, e.Process, places)
	if err != nil {
		return nil, err
	}
	if len(f.Agents) > 0 && loopback(f.Base()) {
		fmt.Fprintf(e.Stderr, "note: %s is each agent's own host; --base-url names another\n", f.Base())
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

// tellAgents says what each agent did and how well its clock is known.
func tellAgents(e env, result *results.Result) {
	if result.Client == nil {
		return
	}
	for _, a := range result.Client.Agents {
		limit := ""
		if a.MaxConcurrency > 0 {
			limit = fmt.Sprintf(", at most %d at once", a.MaxConcurrency)
		}
		fmt.Fprintf(e.Stderr, "agent %s on %s: %d requests%s, clock known within %.3f ms\n", a.Name, a.Host, a.Requests, limit, a.OffsetBoundS*1000)
	}
}
