package launchers

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/logs"
	"github.com/benchrig/bench/launchers/ports"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/launchers/ready"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// companions are the programs that run beside the main program of a server over
// several nodes, and what is known of its other nodes. A nil *companions belongs to
// a server on this machine alone.
type companions struct {
	launcher *Launcher
	spec     recipe.Spec
	members  []member
	others   []cleanup.NodeSweep // one for each node but this one
	swept    []results.NodeProof // of the other nodes, by sweepFirst; nil: they were not swept yet
}

// member is a companion that was started.
type member struct {
	recipe.Companion
	tool *BatchProcess
}

// startCompanions checks the other nodes and starts the companions. When it
// fails, nothing of them is left, or the failure's class is FailNoProof.
func (l *Launcher) startCompanions(
	ctx context.Context, kind engines.Kind, spec recipe.Spec,
) (*companions, *results.Failure) {
	if spec.Span.Several() && spec.Container.Contained() {
		cli, failure := container.FindCLI(ctx, spec.Container.Engine, spec.Dir, l.Environ, l.containerLimits())
		if failure != nil {
			return nil, failure
		}
		spec.Container.Engine = cli.Engine // on every node
	}

	wanted, err := Companions(kind, spec)
	switch {
	case err != nil:
		return nil, results.Failf(results.FailBadRecipe, "%v", err)
	case len(spec.Span.Elsewhere()) == 0:
		return nil, nil
	case l.Nodes == nil:
		return nil, results.Failf(results.FailBadRecipe, "nodes: a server on several nodes needs a Slurm job")
	}

	c := &companions{launcher: l, spec: spec}
	c.spec.StopGrace = cmp.Or(spec.StopGrace, kind.StopGrace)
	if failure := c.takeBaselines(ctx); failure != nil {
		return nil, failure
	}

	ctx, free := awake.WithTimeoutCause(ctx, spec.Ready.Limit(), ready.ErrTooLate)
	defer free()

	for i, companion := range wanted {
		if failure := c.start(ctx, kind, companion, i+1); failure != nil {
			return nil, c.discard(ctx, failure)
		}
	}

	return c, nil
}

// takeBaselines reads how much memory of each other node is in use before the
// start. A node that still runs something of ours fails it.
func (c *companions) takeBaselines(ctx context.Context) *results.Failure {
	for _, node := range c.spec.Span.Elsewhere() {
		sweep := cleanup.NodeSweep{Node: node.Name, Cookie: c.spec.Span.Cookie, VRAM: c.spec.VRAM}
		if c.spec.Span.Step {
			sweep.Grace = c.spec.StopGrace
		}
		if c.spec.Span.Away { // others may run on that node
			sweep.GPUs = c.spec.GPUs
		}
		if c.spec.Container.Contained() {
			sweep.Engine = c.spec.Container.Engine
		}
		c.others = append(c.others, sweep)
	}

	proofs := c.sweep(ctx)
	for i, proof := range proofs {
		if ctx.Err() != nil {
			return results.Interrupted(ctx, "while the other nodes were checked")
		}
		if !proof.Clean() {
			return results.Failf(results.FailNode, "node %s cannot be used: %s", proof.Node, proof.Error)
		}
		c.others[i].Baseline = append([]results.VRAMProof{}, proof.VRAM...)
	}
	return nil
}

// sweep stops what runs for this server on the other nodes, all at the same time.
func (c *companions) sweep(ctx context.Context) []results.NodeProof {
	proofs := make([]results.NodeProof, len(c.others))
	var wg sync.WaitGroup
	for i, other := range c.others {
		wg.Go(func() {
			var err error
			if proofs[i], err = c.launcher.Nodes.Sweep(ctx, other); err != nil {
				proofs[i] = results.NodeProof{
					Ended: []int{}, Signals: []string{}, VRAM: []results.VRAMProof{},
					Error: err.Error(),
				}
			}
			proofs[i].Node = other.Node
		})
	}
	wg.Wait()
	return proofs
}

// start starts a companion and waits until its log says that it is ready.
func (c *companions) start(
	ctx context.Context, kind engines.Kind, companion recipe.Companion, number int,
) *results.Failure {
	s := c.spec
	tool, err := c.launcher.Start(ctx, engines.Kind{
		Name: companion.Name, StopGrace: kind.StopGrace,
		Command: func(recipe.Spec) (recipe.Command, error) { return companion.Command, nil },
		Log:     logs.Lines{Fatal: kind.Log.Fatal},
	}, recipe.Spec{
		Dir: s.Dir, LogPath: companionLog(s.LogPath, companion),
		Secrets: s.Secrets, APIKey: s.APIKey, StopGrace: s.StopGrace,
		Ready: recipe.Ready{Log: companion.Ready}, Life: s.Life, Replica: number, Cookie: s.Cookie,
	})
	if err != nil {
		return asFailure(err)
	}

	c.members = append(c.members, member{companion, tool})
	if s.OnReadinessChange != nil && companion.Ready != "" {
		s.OnReadinessChange(companion.Name)
	}

	return tool.waitForReadyText(ctx, s)
}

// waitForReadyText waits until the log holds the text of a program that is ready.
func (t *BatchProcess) waitForReadyText(ctx context.Context, spec recipe.Spec) *results.Failure {
	for !t.server.log.WantedSeen() {
		select {
		case <-t.over:
			return t.earlyExit()
		default:
		}
		if sleep.For(ctx, watchStart) {
			continue
		}
		if errors.Is(context.Cause(ctx), ready.ErrTooLate) {
			return t.server.clean(results.Failf(results.FailReadyTimeout, "%s has not said %q within ready.timeout %v",
				t.server.kind.Name, t.server.spec.Ready.Log, spec.Ready.Limit()))
		}
		return results.Interrupted(ctx, "waiting for "+t.server.kind.Name)
	}

	return nil
}

// earlyExit is the failure of a companion that exited before it was stopped.
func (t *BatchProcess) earlyExit() *results.Failure {
	if failure := t.Failure(); failure != nil {
		return failure
	}
	return t.server.clean(results.Failf(results.FailExited, "%s exited with code 0 before the server was stopped",
		t.server.kind.Name))
}

// join makes the server fail when a companion exits.
func (s *Server) join(c *companions) {
	s.companions, s.beside = c, c.servingNodes(s.kind)
	if c == nil {
		return
	}

	for _, m := range c.members {
		s.group.Go(func() {
			select {
			case <-m.tool.over:
			case <-s.quit:
				select {
				case <-m.tool.over: // exited first
				default:
					return
				}
			}
			s.fail(m.tool.earlyExit())
		})
	}
}

// expectEnd makes an exit from now on no failure: the server is being stopped.
func (c *companions) expectEnd() {
	if c == nil {
		return
	}
	for _, m := range c.members {
		m.tool.server.endWatch()
	}
}

// sweepFirst stops the processes on the other nodes before the job step of a server
// there: srun would kill them at once.
func (c *companions) sweepFirst(ctx context.Context, killNow <-chan struct{}) {
	c.setKillNow(killNow)
	c.swept = c.sweep(ctx)
}

func (c *companions) setKillNow(killNow <-chan struct{}) {
	for i := range c.others {
		c.others[i].KillNow = killNow
	}
}

// stop stops all companions, after the server's own program: first the processes
// on the other nodes, then the programs that started them, this node's last. It
// may be called again.
func (c *companions) stop(ctx context.Context, killNow <-chan struct{}) ([]results.NodeProof, *results.Failure) {
	if c == nil {
		return nil, nil
	}

	c.expectEnd()
	c.setKillNow(killNow)
	proofs := c.swept
	if c.swept = nil; proofs == nil {
		proofs = c.sweep(ctx)
	}
	err := errors.Join(c.stopMembers(ctx, true), c.stopMembers(ctx, false))
	if slices.ContainsFunc(proofs, func(p results.NodeProof) bool { return !p.Clean() }) {
		proofs = c.sweep(ctx) // again: the programs that started processes there are gone now
	}
	if err != nil {
		return proofs, asFailure(err)
	}

	for _, p := range proofs {
		if !p.Clean() {
			return proofs, results.Failf(results.FailNoProof, "node %s cannot be proven clean: %s", p.Node, p.Error)
		}
	}

	return proofs, nil
}

func (c *companions) stopMembers(ctx context.Context, remote bool) error {
	errs := make([]error, len(c.members))
	var wg sync.WaitGroup
	for i, m := range c.members {
		if m.Remote() == remote {
			wg.Go(func() { _, errs[i] = m.tool.Stop(ctx) })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// discard stops the companions of a server that did not start. It returns the
// server's failure, or the failure to stop them if that is worse.
func (c *companions) discard(ctx context.Context, failure *results.Failure) *results.Failure {
	if c == nil {
		return failure
	}
	_, worse := c.stop(context.WithoutCancel(ctx), c.killNow())
	if worse == nil {
		return failure
	}
	worse = results.Failf(worse.Class, "%s; before that: %v", worse.Message, failure)
	worse.LogTail = failure.LogTail
	return worse
}

// killNow is closed when companions must be killed at once; nil without companions.
func (c *companions) killNow() <-chan struct{} {
	if len(c.members) == 0 {
		return nil
	}
	return c.members[0].tool.server.killNow
}

// ownPIDs are the companions' processes on this node.
func (c *companions) ownPIDs() []int {
	if c == nil {
		return nil
	}
	var pids []int
	for _, m := range c.members {
		pids = append(pids, m.tool.OwnPIDs()...)
	}
	if c.spec.Span.Step && !c.spec.Span.Away {
		here, err := process.FindRun(c.spec.Span.Cookie)
		if err == nil { // what cannot be listed is not shown to be ours
			pids = append(pids, pidsOf(here.Procs())...)
		}
	}
	return pids
}

// setMeetingPoint chooses the port where the nodes meet and the cookie that marks
// processes on the other nodes.
func setMeetingPoint(ctx context.Context, spec recipe.Spec) (recipe.Spec, error) {
	if spec.Span.Several() {
		port, err := ports.Find(ctx, "", spec.Span.Port, []int{spec.Port})
		if err != nil {
			return spec, err
		}
		spec.Span.Port = port
	}
	if len(spec.Span.Elsewhere()) > 0 {
		spec.Span.Cookie = spec.Cookie + "." + rand.Text()
	}
	return spec, nil
}

// companionLog is the path of a companion's log, beside the server's log.
func companionLog(server string, c recipe.Companion) string {
	what := strings.ReplaceAll(strings.ReplaceAll(c.Name, " on node ", "-"), "/", "_")
	return strings.TrimSuffix(server, ".log") + "-" + what + ".log"
}
