package reproduce

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// Again is a run about to be repeated on this machine.
type Again struct {
	*session.Session

	From *Origin
}

// New plans the steps to repeat, with the origin's prompts where it has them all.
// The caller closes the session.
func New(ctx context.Context, process machine.Process, o Options, from *Origin, sc *scenarios.Scenario) (*Again,
	error) {

	frozen, err := plan.OpenFrozen(from.prompts)
	if err != nil {
		return nil, err
	}

	plan, err := plan.New(sc, plan.Box{Self: process.Self})
	if err != nil {
		return nil, usage.Mark(err)
	}
	if plan, err = o.only(plan, from); err != nil {
		return nil, usage.Mark(err)
	}
	if len(plan.Unfrozen(sc, frozen, true)) == 0 {
		sc.ForgetDatasets()
	}

	s, err := session.Open(ctx, process, sc)
	if err != nil {
		return nil, err
	}

	a := &Again{s, from}
	if s.Plan, err = o.only(s.Plan, from); err != nil {
		a.Close()
		return nil, usage.Mark(err)
	}

	s.Plan.Freeze(frozen)
	s.Origin = &from.is
	s.Origin.Steps = o.Steps
	return a, nil
}

// only is the part of the plan that is asked for: the named steps, and with
// more repeats those of the same variants and points.
func (o Options) only(plan *plan.Plan, from *Origin) (*plan.Plan, error) {
	if o.Steps == nil {
		return plan, nil
	}

	ids := o.Steps
	if o.Repeats > 0 {
		ids = nil
		for _, id := range o.Steps {
			step := from.Run.Step(id)
			if step == nil {
				return nil, fmt.Errorf("--steps: the origin has no step %q", id)
			}
			for _, ref := range plan.Refs() {
				if ref.Variant == step.Result.Step.Variant && ref.Point == step.Result.Step.Point {
					ids = append(ids, ref.ID)
				}
			}
		}
	}

	return plan.Only(ids)
}

// Measure runs the steps into a results folder of their own. path names the
// origin for others who wait for this machine.
func (a *Again) Measure(ctx context.Context, o Options, path string) (*store.Folder, session.Outcome, error) {
	if err := a.Take(ctx, "bench reproduce "+path, o.Wait); err != nil {
		return nil, session.Outcome{}, err
	}

	folder, err := a.Prepare(ctx, o.Out, nil)
	if err != nil {
		return nil, session.Outcome{}, err
	}

	lock, err := folder.Lock()
	if err != nil {
		return nil, session.Outcome{}, err
	}
	defer func() { _ = lock.Release() }() // the kernel would do it anyway

	if err := copyPrompts(a.From.prompts, folder.Dir()); err != nil {
		return nil, session.Outcome{}, err
	}

	frozen, err := plan.OpenFrozen(folder.Dir())
	if err != nil {
		return nil, session.Outcome{}, err
	}

	a.Plan.Freeze(frozen)

	outcome, err := a.Session.Measure(ctx, folder, nil)
	return folder, outcome, err
}

// copyPrompts gives the run the prompts of the origin, so that it is complete
// in itself and can be resumed.
func copyPrompts(from, to string) error {
	if from == "" {
		return nil
	}
	source := filepath.Join(from, plan.PromptsName)
	if _, err := os.Stat(source); err != nil {
		return nil //nolint:nilerr // the origin keeps none
	}
	if err := os.CopyFS(filepath.Join(to, plan.PromptsName), os.DirFS(source)); err != nil {
		return fmt.Errorf("copy prompts: %w", err)
	}
	return nil
}
