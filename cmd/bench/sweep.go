package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/harness/slurm"
	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/vram"
	"github.com/benchrig/bench/results"
)

const sweepLong = `End what a server over several nodes has left on this one, and say in a line of
JSON what was found: the processes that carry the cookie, and the memory of the
GPUs that the job may use. 'bench job' starts it by srun on the other nodes of
its job, before a server to read how much memory is in use, and after it to wait
until no more is; by hand it is of no use. SIGUSR1 says that somebody is in a
hurry: what is left gets SIGKILL at once.`

type sweepOptions struct {
	cookie, baseline string
	wait             time.Duration
	tolerance        int64
	hurry            bool
}

func newSweepCommand(e env) *cobra.Command {
	var o sweepOptions
	cmd := &cobra.Command{
		Use: "sweep", Short: "End what a server has left on a node, as a step of a job", Long: sweepLong, Hidden: true,
		Example: "  bench sweep --cookie 0123456789abcdef",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runSweep(cmd.Context(), e, o) },
	}
	fs := cmd.Flags()
	fs.StringVar(&o.cookie, "cookie", "", "value of BENCH_COOKIE of the processes to end")
	fs.StringVar(&o.baseline, "baseline", "", "JSON of the memory in use before; without it that is read")
	fs.DurationVar(&o.wait, "vram-timeout", 0, "longest wait for memory; 0 is the vendor's usual")
	fs.Int64Var(&o.tolerance, "vram-tolerance", 0, "bytes above the baseline that count as back; 0 is the usual")
	fs.BoolVar(&o.hurry, "hurry", false, "SIGKILL at once, as after SIGUSR1")
	return cmd
}

// hurrySignal has a sweep hurry. It is none of those by which srun itself ends.
const hurrySignal = unix.SIGUSR1

// shortestCookie keeps a cookie from meaning processes of others.
const shortestCookie = 16

func runSweep(ctx context.Context, e env, o sweepOptions) error {
	if len(o.cookie) < shortestCookie {
		return usageError(fmt.Errorf("--cookie %q: want at least %d characters", o.cookie, shortestCookie))
	}
	sweep := cleanup.NodeSweep{Cookie: o.cookie}
	if o.baseline != "" {
		if err := json.Unmarshal([]byte(o.baseline), &sweep.Baseline); err != nil {
			return usageError(fmt.Errorf("--baseline: %w", err))
		}
	}
	sweep.Node, _ = e.Lookup("SLURMD_NODENAME")
	hurried, hurry := signal.NotifyContext(ctx, hurrySignal)
	defer hurry()
	if o.hurry {
		hurry()
	}
	sweep.Hurry = hurried.Done()
	with, free := e.OpenCleaner(ctx, grantedTo(e))
	defer free()
	with.VRAM = vram.Policy{Timeout: o.wait, Tolerance: o.tolerance}
	return json.NewEncoder(e.stdout).Encode(with.Sweep(ctx, sweep))
}

// nodeSweeper has the other nodes of a job look at themselves.
type nodeSweeper struct{ e env }

// Limits of a sweep.
const (
	sweepVRAM = 15 * time.Minute // the longest that a vendor's GPUs are waited for
	sweepStep = 2 * time.Minute  // for Slurm to start it and tell of its end, and for what is left to end
)

// Sweep implements cleanup.NodeSweeper.
func (n nodeSweeper) Sweep(ctx context.Context, sweep cleanup.NodeSweep) (results.NodeProof, error) {
	argv := []string{
		"srun", "--overlap", "--nodes=1", "--ntasks=1", "--nodelist=" + sweep.Node, "--cpu-bind=none", "--export=ALL", n.e.Self,
		"sweep", "--cookie", sweep.Cookie,
		"--vram-timeout", sweep.VRAM.Timeout.String(), "--vram-tolerance", strconv.FormatInt(sweep.VRAM.Tolerance, 10),
	}
	limit := sweepStep
	if sweep.Baseline != nil {
		text, err := json.Marshal(sweep.Baseline)
		if err != nil {
			return results.NodeProof{}, err
		}
		argv = append(argv, "--baseline", string(text))
		limit += max(sweepVRAM, sweep.VRAM.Timeout)
	}
	hurry := sweep.Hurry
	select {
	case <-hurry: // it starts so: a signal might come before it can be told
		argv, hurry = append(argv, "--hurry"), nil
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // srun by name, arguments ours
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}     // Ctrl-C is for bench
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := runHurriedBy(cmd, hurry); err != nil {
		return results.NodeProof{}, fmt.Errorf("srun bench sweep: %w: %s", errors.Join(err, ctx.Err()), strings.TrimSpace(stderr.String()))
	}
	return sweptBy(stdout.String())
}

// runHurriedBy runs a sweep by srun, which passes the signal of a hurry on.
func runHurriedBy(cmd *exec.Cmd, hurry <-chan struct{}) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() { tellHurry(cmd.Process, hurry, ended) })
	err := cmd.Wait()
	close(ended)
	telling.Wait()
	return err
}

// hurryPeriod is how often a sweep is told: srun drops what comes before its
// step runs.
const hurryPeriod = time.Second

func tellHurry(p *os.Process, hurry, ended <-chan struct{}) {
	select {
	case <-hurry:
	case <-ended:
		return
	}
	again := time.NewTicker(hurryPeriod)
	defer again.Stop()
	for {
		_ = p.Signal(hurrySignal) // it may just have ended
		select {
		case <-again.C:
		case <-ended:
			return
		}
	}
}

// sweptBy reads what a sweep prints: the last line, since sites print notes of
// their own before.
func sweptBy(out string) (results.NodeProof, error) {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var proof results.NodeProof
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &proof); err != nil {
		return proof, fmt.Errorf("srun bench sweep printed %q: %w", out, err)
	}
	return proof, nil
}

// nodesOfJob are the nodes of this job, this one first, with the addresses by
// which they reach each other; nil where it is alone.
func nodesOfJob(ctx context.Context, e env) ([]recipe.Node, error) {
	if n, _ := e.Lookup("SLURM_JOB_NUM_NODES"); n == "" || n == "1" {
		return nil, nil
	}
	list, _ := e.Lookup("SLURM_JOB_NODELIST")
	self, _ := e.Lookup("SLURMD_NODENAME")
	told, err := slurm.Client{}.Nodes(ctx, list)
	if err != nil {
		return nil, err
	}
	var nodes []recipe.Node
	for _, n := range told {
		nodes = append(nodes, recipe.Node{Name: n.Name, Address: addressOf(ctx, n.Address)})
	}
	at := slices.IndexFunc(nodes, func(n recipe.Node) bool { return n.Name == self })
	if at < 0 {
		return nil, fmt.Errorf("this node, %q by SLURMD_NODENAME, is none of the job's: %s", self, list)
	}
	nodes[0], nodes[at] = nodes[at], nodes[0]
	return nodes, nil
}

// addressOf is a number where the name has one: engines tell nodes apart by it.
func addressOf(ctx context.Context, name string) string {
	if addresses, err := net.DefaultResolver.LookupHost(ctx, name); err == nil && len(addresses) > 0 {
		return addresses[0]
	}
	return name
}
