package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/output"
	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// KillSignal has a sweep on another node kill at once. It is not one of those by
// which srun itself ends.
const KillSignal = unix.SIGUSR1

// nodeSweeper has the other nodes of a job look at themselves.
type nodeSweeper struct{ self string }

// Limits of a sweep.
const (
	sweepVRAM = 15 * time.Minute // the longest that a vendor's GPUs are waited for
	sweepStep = 2 * time.Minute  // for Slurm to start it and report its end, and for what is left to end
)

// Sweep implements cleanup.NodeSweeper.
func (n nodeSweeper) Sweep(ctx context.Context, sweep cleanup.NodeSweep) (results.NodeProof, error) {
	args := []string{
		"--cookie", sweep.Cookie,
		"--vram-timeout", sweep.VRAM.Timeout.String(), "--vram-tolerance", strconv.FormatInt(sweep.VRAM.Tolerance, 10),
	}
	if sweep.Engine != "" {
		args = append(args, "--engine", sweep.Engine)
	}
	if sweep.Grace > 0 {
		args = append(args, "--grace", sweep.Grace.String())
	}
	if sweep.GPUs != nil {
		list, err := recipe.GPUList(sweep.GPUs)
		if err != nil {
			return results.NodeProof{}, err
		}
		args = append(args, "--gpus", list)
	}

	limit := sweepStep + sweep.Grace
	if sweep.Baseline != nil {
		text, err := json.Marshal(sweep.Baseline)
		if err != nil {
			return results.NodeProof{}, err
		}
		args = append(args, "--baseline", string(text))
		limit += max(sweepVRAM, sweep.VRAM.Timeout)
	}

	killNow := sweep.KillNow
	select {
	case <-killNow: // it starts so: a signal might come before it can be forwarded
		args, killNow = append(args, "--kill-now"), nil
	default:
	}

	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	cmd := sweepCommand(ctx, n.self, onlyOn(sweep.Node), args...)
	var stdout bytes.Buffer
	var stderr output.Head
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := runAndForwardKill(cmd, killNow); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return results.NodeProof{}, fmt.Errorf("srun bench sweep: %w: %s", errors.Join(err, ctx.Err()), stderr.String())
	}

	return parseSweep(stdout.String())
}

// onlyOn are the options of srun for a single process on a node.
func onlyOn(node string) []string { return []string{"--nodes=1", "--ntasks=1", "--nodelist=" + node} }

// sweepCommand is "bench sweep" on other nodes of the job, by srun; where are the
// options that choose them.
func sweepCommand(ctx context.Context, self string, where []string, args ...string) *exec.Cmd {
	argv := slices.Concat([]string{"--overlap"}, where, []string{"--cpu-bind=none", "--export=ALL", self, "sweep"},
		args)
	cmd := exec.CommandContext(ctx, "srun", argv...)  //nolint:gosec // srun by name, arguments ours
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true} // Ctrl-C is for bench
	cmd.WaitDelay = time.Second
	return cmd
}

// runAndForwardKill runs a sweep by srun, which passes the signal of a killNow on.
func runAndForwardKill(cmd *exec.Cmd, killNow <-chan struct{}) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	var forwarding sync.WaitGroup
	forwarding.Go(func() { forwardKill(cmd.Process, killNow, ended) })
	err := cmd.Wait()
	close(ended)
	forwarding.Wait()
	return err
}

// killPeriod is how often a sweep is signalled: srun drops what comes before its
// step runs.
const killPeriod = time.Second

func forwardKill(p *os.Process, killNow, ended <-chan struct{}) {
	select {
	case <-killNow:
	case <-ended:
		return
	}

	for {
		_ = p.Signal(KillSignal) // it may just have ended
		select {
		case <-time.After(killPeriod):
		case <-ended:
			return
		}
	}
}

// parseSweep reads what a sweep prints: the last line, since sites print notes of
// their own before.
func parseSweep(out string) (results.NodeProof, error) {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var proof results.NodeProof
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &proof); err != nil {
		return proof, fmt.Errorf("srun bench sweep printed %q: %w", out, err)
	}
	return proof, nil
}
