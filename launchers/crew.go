package launchers

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/ports"
	"github.com/benchrig/bench/launchers/ready"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// crew is what runs beside the program of a server over several nodes. A nil
// crew is that of a server on one.
type crew struct {
	launcher *Launcher
	spec     recipe.Spec
	members  []member
	others   []cleanup.NodeSweep // of all nodes but this one
}

// member is a companion that was started.
type member struct {
	recipe.Companion
	tool *Tool
}

// muster gets the other nodes ready and starts the companions. After a failure
// nothing of them is left, or the failure says FailNoProof.
func (l *Launcher) muster(ctx context.Context, kind engines.Kind, spec recipe.Spec) (*crew, *results.Failure) {
	companions, err := engines.CompanionsOf(kind, spec)
	switch {
	case err != nil:
		return nil, results.Failf(results.FailBadRecipe, "%v", err)
	case len(companions) == 0:
		return nil, nil
	case l.Nodes == nil:
		return nil, results.Failf(results.FailBadRecipe, "nodes: a server over several nodes needs a job of a cluster")
	}

	c := &crew{launcher: l, spec: spec}
	if failure := c.look(ctx); failure != nil {
		return nil, failure
	}

	ctx, free := awake.WithTimeoutCause(ctx, spec.Ready.Limit(), ready.ErrTooLate)
	defer free()

	for i, companion := range companions {
		if failure := c.start(ctx, kind, companion, i+1); failure != nil {
			return nil, c.discard(ctx, failure)
		}
	}

	return c, nil
}

// look takes the baselines of the other nodes.
func (c *crew) look(ctx context.Context) *results.Failure {
	for _, node := range c.spec.Span.Nodes[1:] {
		c.others = append(c.others, cleanup.NodeSweep{Node: node.Name, Cookie: c.spec.Span.Cookie, VRAM: c.spec.VRAM})
	}
	proofs := c.sweep(ctx)
	for i, proof := range proofs {
		if ctx.Err() != nil {
			return results.Interrupted(ctx, "while the nodes were looked at")
		}
		if !proof.Clean() {
			return results.Failf(results.FailNode, "node %s cannot be used: %s", proof.Node, proof.Error)
		}
		c.others[i].Baseline = append([]results.VRAMProof{}, proof.VRAM...)
	}
	return nil
}

// sweep does all other nodes at the same time.
func (c *crew) sweep(ctx context.Context) []results.NodeProof {
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
func (c *crew) start(ctx context.Context, kind engines.Kind, companion recipe.Companion, number int) *results.Failure {
	s := c.spec
	tool, err := c.launcher.Start(ctx, engines.Kind{
		Name: companion.Name, StopGrace: kind.StopGrace, Fatal: kind.Fatal,
		Command: func(recipe.Spec) (recipe.Command, error) { return companion.Command, nil },
	}, recipe.Spec{
		Dir: s.Dir, LogPath: companionLog(s.LogPath,
			companion), Secrets: s.Secrets, APIKey: s.APIKey, StopGrace: s.StopGrace,
		Ready: recipe.Ready{Log: companion.Ready}, Life: s.Life, Replica: number, Cookie: s.Cookie,
	})
	if err != nil {
		return asFailure(err)
	}

	c.members = append(c.members, member{companion, tool})
	if s.Told != nil && companion.Ready != "" {
		s.Told(companion.Name)
	}

	return tool.logged(ctx, s)
}

// logged waits for the text that the log must have.
func (t *Tool) logged(ctx context.Context, spec recipe.Spec) *results.Failure {
	for !t.server.log.WantedSeen() {
		select {
		case <-t.over:
			return t.gone()
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

// gone is the failure of a companion that has ended: none may before it is
// asked to.
func (t *Tool) gone() *results.Failure {
	if failure := t.Failure(); failure != nil {
		return failure
	}
	return t.server.clean(results.Failf(results.FailExited, "%s ended with code 0 while it was needed",
		t.server.kind.Name))
}

// join lets the end of a companion be that of the server.
func (s *Server) join(c *crew) {
	s.crew = c
	if c == nil {
		return
	}

	for _, m := range c.members {
		s.watching.Go(func() {
			select {
			case <-m.tool.over:
				s.fail(m.tool.gone())
			case <-s.quit:
				select {
				case <-m.tool.over: // before it was asked to
					s.fail(m.tool.gone())
				default:
				}
			}
		})
	}
}

// expectEnd says that companions which end from now on were asked to.
func (c *crew) expectEnd() {
	if c == nil {
		return
	}
	for _, m := range c.members {
		m.tool.server.endWatch()
	}
}

// stop ends all companions, after the server's own program: first what there
// is on the other nodes, then the programs that started it, this node's last.
// It may be called again.
func (c *crew) stop(ctx context.Context, hurry <-chan struct{}) ([]results.NodeProof, *results.Failure) {
	if c == nil {
		return nil, nil
	}

	c.expectEnd()
	for i := range c.others {
		c.others[i].Hurry = hurry
	}

	proofs := c.sweep(ctx)
	err := errors.Join(c.stopMembers(ctx, true), c.stopMembers(ctx, false))
	if slices.ContainsFunc(proofs, func(p results.NodeProof) bool { return !p.Clean() }) {
		proofs = c.sweep(ctx) // without what had been started there
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

func (c *crew) stopMembers(ctx context.Context, remote bool) error {
	errs := make([]error, len(c.members))
	var wg sync.WaitGroup
	for i, m := range c.members {
		if m.Remote == remote {
			wg.Go(func() { _, errs[i] = m.tool.Stop(ctx) })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// discard ends a crew whose server did not come up, and returns its failure, or
// the one of its end if that is worse.
func (c *crew) discard(ctx context.Context, failure *results.Failure) *results.Failure {
	if c == nil {
		return failure
	}
	_, worse := c.stop(context.WithoutCancel(ctx), c.hurried())
	if worse == nil {
		return failure
	}
	worse = results.Failf(worse.Class, "%s; before that: %v", worse.Message, failure)
	worse.LogTail = failure.LogTail
	return worse
}

// hurried is closed when companions are told to hurry; nil where there are none.
func (c *crew) hurried() <-chan struct{} {
	if len(c.members) == 0 {
		return nil
	}
	return c.members[0].tool.server.hurried
}

// ownPIDs are the companions' processes on this node.
func (c *crew) ownPIDs() []int {
	if c == nil {
		return nil
	}
	var pids []int
	for _, m := range c.members {
		pids = append(pids, m.tool.OwnPIDs()...)
	}
	return pids
}

// meet chooses the port where the nodes meet, and the mark of what runs on the
// others.
func meet(ctx context.Context, spec recipe.Spec) (recipe.Spec, error) {
	if !spec.Span.Several() {
		return spec, nil
	}
	port, err := ports.Find(ctx, "", spec.Span.Port, []int{spec.Port})
	if err != nil {
		return spec, err
	}
	spec.Span.Port, spec.Span.Cookie = port, spec.Cookie+"."+rand.Text()
	return spec, nil
}

// companionLog is where a companion of the server with that log writes its own.
func companionLog(server string, c recipe.Companion) string {
	what := strings.ReplaceAll(strings.ReplaceAll(c.Name, " on node ", "-"), "/", "_")
	return strings.TrimSuffix(server, ".log") + "-" + what + ".log"
}
