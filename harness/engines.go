package harness

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/launchers/endpoint"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/results"
)

// engineBook remembers who answered as each variant, and notices when somebody
// else does.
type engineBook struct {
	journal      func(results.Event) error
	resumed      bool     // the run continues
	allowChanged bool     // with other engines too
	sinceStart   []string // what of the machine differs from the run's start

	first, last map[string]results.Engine    // by variant
	changes     map[string][]string          // by variant
	identities  map[string]endpoint.Identity // who answered first, by life and replica
}

func newEngineBook(journal func(results.Event) error, from *Resume) *engineBook {
	b := &engineBook{
		journal: journal, first: map[string]results.Engine{}, last: map[string]results.Engine{},
		changes: map[string][]string{}, identities: map[string]endpoint.Identity{},
	}
	if from != nil {
		b.resumed, b.allowChanged, b.sinceStart = true, from.AllowChanged, from.Changes
		maps.Copy(b.first, from.engines)
	}
	return b
}

// compare compares who answers as a variant with who did at the first time.
// Another engine is noted for every later result; where a resumed run must not
// continue with it, that is the failure. The error is about the record keeping.
func (b *engineBook) compare(variant string, servers []step.Server) (*results.Failure, error) {
	info := servers[0].Info()
	now := results.Engine{Variant: variant, Launcher: info.Launcher, Model: info.Model, Version: info.Version}
	if image := info.EnteredImage(); image != nil {
		now.Image = image.ID
	}
	first, known := b.first[variant]
	if !known {
		first, b.first[variant] = now, now
	}

	isNews := !known || b.last[variant] != now && now != first
	b.last[variant] = now
	if isNews {
		if err := b.journal(results.Event{Kind: results.EngineSeen, Life: info.Life, Engine: &now}); err != nil {
			return nil, err
		}
	}

	changes := engineChanges(first, now)
	b.changes[variant] = changes
	if len(changes) > 0 && b.resumed && !b.allowChanged {
		return results.Failf(results.FailChanged, "%s; 'bench resume --allow-changed' continues with it",
			strings.Join(changes, "; ")), nil
	}

	return nil, nil
}

// sameEngine compares who answers as a variant with who did at the first time. The
// variant is given up if a resumed run must not continue with it.
func (n *run) sameEngine(planned plan.Life, servers []step.Server) (*results.Failure, error) {
	changed, err := n.engines.compare(planned.Variant, servers)
	if changed != nil {
		n.skipped[planned.VariantIndex] = changed
	}
	return changed, err
}

func engineChanges(first, now results.Engine) []string {
	var changes []string
	before := first.Image
	if before == "" { // a run that an older bench began
		before = now.Image
	}

	for _, c := range []struct{ what, before, after string }{
		{"engine version", first.Version, now.Version},
		{"served model", first.Model, now.Model},
		{"launcher", first.Launcher, now.Launcher},
		{"image", before, now.Image},
	} {
		if c.before != c.after {
			changes = append(changes, fmt.Sprintf("%s of variant %s: %q, at the start %q", c.what, now.Variant, c.after,
				c.before))
		}
	}
	return changes
}

// changesOf are the changes since the run's start that concern a variant.
func (b *engineBook) changesOf(variant string) []string {
	var changes []string
	changes = append(changes, b.sinceStart...)
	return append(changes, b.changes[variant]...)
}

// sameServers compares who answers with who did when these servers were first
// asked: a server that takes any model name would answer for another as well.
// What cannot be asked is not a difference: the step will show it.
func (b *engineBook) sameServers(ctx context.Context, servers []step.Server) *results.Failure {
	for _, s := range servers {
		asked := s.Abilities()
		if asked.Identity == nil {
			continue
		}
		now, err := asked.Identity(ctx)
		if err != nil || ctx.Err() != nil {
			continue
		}
		if failure := asked.WrongModel(now); failure != nil {
			return failure
		}

		info := s.Info()
		key := fmt.Sprintf("%s %d", info.Life, info.Replica)
		before, known := b.identities[key]
		if !known {
			b.identities[key] = now
			continue
		}
		if changed := now.Changed(before); changed != "" {
			return results.Failf(results.FailWrongModel, "the server at %s is not the same as before: %s",
				info.BaseURL, changed)
		}
	}

	return nil
}

// stillSame voids a step whose server, not ours to watch, is another one at the
// end than at the start.
func (b *engineBook) stillSame(ctx context.Context, servers []step.Server, result *results.Result) {
	kind, _ := engines.Lookup(servers[0].Info().Launcher)
	if !kind.External || result.Verdict == results.Failed || ctx.Err() != nil {
		return
	}
	if failure := b.sameServers(ctx, servers); failure != nil {
		result.Verdict, result.Failure = results.Failed, failure
	}
}
