package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/load/agent"
	"github.com/benchrig/bench/load/vllmcli"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// loadDriverFor is the client that the flags ask for: this process, or agents,
// which it starts.
func loadDriverFor(ctx context.Context, e env, f *vllmcli.Flags) (step.Driver, error) {
	if len(f.Agents)+len(f.AgentCommands) == 0 {
		if f.CopyBench {
			return nil, usageError(errors.New("--copy-bench: it goes with --agent"))
		}
		return newLoadDriver(e), nil
	}
	d := &agent.Driver{Version: version}
	for _, host := range f.Agents {
		place, err := hostPlace(host, f.AgentBench, f.CopyBench)
		if err != nil {
			return nil, usageError(err)
		}
		d.Places = append(d.Places, place)
	}
	for i, line := range f.AgentCommands {
		argv := strings.Fields(line)
		if len(argv) == 0 {
			return nil, usageError(fmt.Errorf("--agent-command %q: want a command and its arguments", line))
		}
		d.Places = append(d.Places, place(fmt.Sprintf("command-%d", i+1), argv))
	}
	if err := d.Connect(ctx); err != nil {
		d.Close()
		return nil, err
	}
	fmt.Fprintf(e.Stderr, "load agents: %s\n", strings.Join(d.Hosts(), ", "))
	if len(f.Agents) > 0 && loopback(f.Base()) {
		fmt.Fprintf(e.Stderr, "note: %s is each agent's own host; --base-url names another\n", f.Base())
	}
	return d, nil
}

// clientOf is the load client of a scenario, connected. Its agents run until
// endAgents. Authorities that cannot be read are refused before an agent starts.
func clientOf(ctx context.Context, e env, sc *scenarios.Scenario) (step.Driver, error) {
	c := sc.Client
	if !c.Elsewhere() {
		return newLoadDriver(e), nil
	}
	for _, v := range sc.Variants {
		if _, _, err := step.TLSConfig(v.Server.TLS.CA, v.Server.TLS.Insecure); err != nil {
			return nil, usageError(fmt.Errorf("variant %s: %w", v.Name, err))
		}
	}
	d := &agent.Driver{Version: version}
	for _, host := range c.Hosts {
		place, err := hostPlace(host, c.Bench, c.Copy)
		if err != nil {
			return nil, usageError(err)
		}
		d.Places = append(d.Places, place)
	}
	if err := d.Connect(ctx); err != nil {
		d.Close()
		return nil, err
	}
	fmt.Fprintf(e.Stderr, "load agents: %s\n", strings.Join(d.Hosts(), ", "))
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

// endAgents ends the agents of a driver that has some.
func endAgents(d step.Driver) {
	if agents, ok := d.(*agent.Driver); ok && agents != nil {
		agents.Close()
	}
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

// hostPlace is an agent on a host, by ssh or, for srun:NODE, by srun. All are
// argument lists; the user's ssh configuration decides the rest.
func hostPlace(host, bench string, copied bool) (agent.Place, error) {
	node, isNode := strings.CutPrefix(host, "srun:")
	switch {
	case node == "" || strings.HasPrefix(node, "-"):
		return agent.Place{}, fmt.Errorf("--agent %q: want a host that ssh knows, or srun:NODE", host)
	case isNode && copied:
		return agent.Place{}, fmt.Errorf("--copy-bench: %s has this file system anyway; --agent-bench says where", host)
	case isNode:
		return place(host, []string{"srun", "--nodelist=" + node, "--nodes=1", "--ntasks=1", "--overlap", "--unbuffered", bench, "load-agent"}), nil
	case copied:
		return copyingPlace(host), nil
	}
	return place(host, append(sshTo(host), bench, "load-agent")), nil
}

func sshTo(host string) []string { return []string{"ssh", "-o", "BatchMode=yes", "-T", host} }

// copyingPlace copies this program to the host first. The copy deletes itself
// when it has started.
func copyingPlace(host string) agent.Place {
	return agent.Place{Name: host, Dial: func(ctx context.Context) (io.ReadWriteCloser, error) {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		copied := "/tmp/" + copiedName + rand.Text()
		scp := exec.CommandContext(ctx, "scp", "-q", "-p", "-o", "BatchMode=yes", self, host+":"+copied)
		if said, err := scp.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("copy bench: %w: %s", err, strings.TrimSpace(string(said)))
		}
		return startAgent(ctx, append(sshTo(host), copied, "load-agent", "--delete-copy"))
	}}
}

func place(name string, argv []string) agent.Place {
	return agent.Place{Name: name, Dial: func(ctx context.Context) (io.ReadWriteCloser, error) { return startAgent(ctx, argv) }}
}

// agentProcess is a program whose standard input and output lead to an agent.
type agentProcess struct {
	program string
	cmd     *exec.Cmd
	in      *os.File // what it reads
	out     *os.File // what it says
	errors  *tail
	ended   chan struct{}
}

// startAgent starts a command in a session of its own: Ctrl-C is for bench,
// which then ends the agents in order, so that ctx does not.
func startAgent(ctx context.Context, argv []string) (*agentProcess, error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), in.Close())
	}
	p := &agentProcess{program: argv[0], in: in, out: out, errors: &tail{}, ended: make(chan struct{})}
	p.cmd = exec.CommandContext(context.WithoutCancel(ctx), argv[0], argv[1:]...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirIn, theirOut, p.errors
	p.cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	p.cmd.WaitDelay = agentGrace
	err = p.cmd.Start()
	_ = theirIn.Close() // the program has its own
	_ = theirOut.Close()
	if err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // ProcessState tells
	}()
	return p, nil
}

// agentGrace is how long an agent gets to end when its input has.
const agentGrace = 3 * time.Second

func (p *agentProcess) Write(b []byte) (int, error) { return p.in.Write(b) }

// Read reads what the agent says; at its end the error says how the program
// ended.
func (p *agentProcess) Read(b []byte) (int, error) {
	n, err := p.out.Read(b)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	select {
	case <-p.ended:
		return n, fmt.Errorf("%s ended (%v): %s", p.program, p.cmd.ProcessState, p.errors.text())
	case <-time.After(agentGrace):
		return n, fmt.Errorf("%s says no more: %s", p.program, p.errors.text())
	}
}

// Close ends the agent: its input ends, and it is killed if it stays.
func (p *agentProcess) Close() error {
	_ = p.in.Close() // closing twice does no harm
	select {
	case <-p.ended:
	case <-time.After(agentGrace):
		_ = p.cmd.Process.Kill() // it may just have ended
		<-p.ended
	}
	_ = p.out.Close()
	return nil
}
