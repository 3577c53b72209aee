package reproduce

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/differences"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
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
	error,
) {
	frozen, err := plan.OpenFrozen(from.prompts)
	if err != nil {
		return nil, err
	}

	plan, err := plan.New(sc, plan.Machine{Self: process.Self})
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
// more repeats those of the same variants and points. They are run at the load
// that they had in the origin, whatever a search or the width of intervals would
// decide here.
func (o Options) only(p *plan.Plan, from *Origin) (*plan.Plan, error) {
	if o.Steps == nil {
		return p, nil
	}

	var ids []string
	pins := map[string]results.Asked{}
	refs := p.Refs()
	for _, id := range o.Steps {
		at := slices.IndexFunc(refs, func(ref results.StepRef) bool { return ref.ID == id })
		if at < 0 {
			return nil, fmt.Errorf("--steps: the plan has no step %q", id)
		}
		asked, err := from.askedOf(id)
		if err != nil {
			return nil, err
		}

		for _, ref := range refs {
			again := o.Repeats > 0 && ref.Variant == refs[at].Variant && ref.Point == refs[at].Point
			if ref.ID == id || again {
				ids = append(ids, ref.ID)
				if asked != nil {
					pins[ref.ID] = *asked
				}
			}
		}
	}

	part, err := p.Only(ids)
	if err != nil {
		return nil, err
	}

	part.Pin(pins)
	return part, nil
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

	a.From.dropUnpacked(folder.Dir()) // before anything that may be killed takes hours

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

// askedOf is what a step of the origin asked for; nil where the origin is a
// result of others, which has steps of its own.
func (o *Origin) askedOf(id string) (*results.Asked, error) {
	step := o.Run.Step(id)
	searched := o.Run.Manifest.Search != nil
	switch {
	case step == nil && len(o.Run.Manifest.Planned) > 0:
		return nil, fmt.Errorf("--steps: the origin has no step %q", id)
	case step == nil:
		return nil, nil
	case searched && step.Result.Asked.MaxConcurrency == nil && step.Result.Asked.RequestRate == nil:
		return nil, fmt.Errorf("--steps: step %q has no load: the origin's search had ended before it", id)
	}
	return &step.Result.Asked, nil
}

// Keep writes how the figures agree into the run folder, for people and as JSON.
func Keep(folder *store.Folder, r *versus.Reproduction) error {
	var page, data strings.Builder
	return errors.Join(differences.WriteReproduction(&page, r, table.ForMarkdown, table.Options{}),
		differences.ReproductionJSON(&data, r),
		folder.WriteFile("agreement.md", []byte(page.String())),
		folder.WriteFile("agreement.json", []byte(data.String())))
}
