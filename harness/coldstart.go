package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/harness/life"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/launchers/caches"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/starts"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// startPoll is how often a server is asked whether it is ready, where its start is
// what is measured.
const startPoll = 20 * time.Millisecond

// coldStart is the method cold-start: a server is started with its caches in the
// states of the load point, and stopped once it has answered with a token.
type coldStart struct {
	*run
	filled map[string]bool // folders of warm caches that a start has filled
}

func (m coldStart) round(ctx context.Context, planned plan.Life, pending []attempt) ([]attempt, error) {
	a := pending[0]
	id := m.freshLife(planned.ID)
	defer m.hooks.AfterLife(ctx, planned)

	if refused := m.beforeLife(ctx, planned, id); refused != nil {
		return m.launchFailed(ctx, planned, pending[:1], refused)
	}

	own, err := m.ownCaches(planned, id, m.scenario.Points[a.PointIndex].Caches)
	if err != nil {
		return m.launchFailed(ctx, planned, pending[:1], results.WriteFailure(err))
	}
	defer own.discard()

	if failure := m.fill(ctx, planned, a, own); failure != nil {
		return m.launchFailed(ctx, planned, pending[:1], failure)
	}

	m.outlook(planned, &a.Step, false)
	began := time.Now()
	result, failure, err := m.measure(ctx, planned, id, a, own)
	switch {
	case err != nil:
		return nil, err
	case failure != nil:
		m.budget.pace.startFailed(planned.Variant, time.Since(began))
		return m.launchFailed(ctx, planned, pending[:1], failure)
	}
	m.budget.pace.started(planned.Variant, time.Since(began))
	return m.conclude(ctx, planned, a, result)
}

// measure starts the servers of a life, stops them, and makes a result of the
// start. The failure is that of the start; the error is about the record keeping.
func (m coldStart) measure(ctx context.Context, planned plan.Life, id string, a attempt, own ownCaches) (
	*results.Result, *results.Failure, error,
) {
	result := m.steps.newResult(a)
	result.MeasuredBy = results.MethodColdStart
	setCaches := func() {
		result.ColdStart = &results.ColdStart{Compile: own.compile.before(), Hub: own.hub.before()}
		result.ColdStart.Page = m.setPageCache(ctx, planned, m.scenario.Points[a.PointIndex].Caches.Page)
	}
	setCaches()

	result.StartedAt = results.Now()
	servers, failure := m.launchWith(ctx, planned, id, a, own.env(), func() error {
		err := own.empty()
		setCaches()
		return err
	})
	result.EndedAt = results.Now()
	if failure != nil {
		return nil, failure, nil
	}

	began := results.Event{Kind: results.StepStarted, Step: a.ID, Attempt: a.Attempt, Life: id}
	err := m.record.appendEvent(began)
	if err == nil {
		err = m.folder.BeginAttempt(a.ID, a.Attempt)
	}
	if err != nil {
		m.starter.Stop(ctx, id, servers)
		return nil, nil, err
	}

	refused := m.hooks.BeforeStep(ctx, a.StepRef, 0, step.Infos(servers), result)
	changed, err := m.sameEngine(planned, servers)
	m.steps.warnStart(result)
	m.steps.warnRecipe(a, servers[0].Info().Version, result)

	m.starter.Stop(ctx, id, servers)
	result.Servers = step.Infos(servers)
	own.after(result.ColdStart)
	m.judge(result, own, cmp.Or(refused, changed))
	m.hooks.AfterStep(ctx, result)
	return result, nil, err
}

// launchWith is launch for the one step of a life, whose servers get further
// variables. again is called before another try on another port.
func (m coldStart) launchWith(
	ctx context.Context, planned plan.Life, id string, a attempt, env map[string]string, again func() error,
) ([]step.Server, *results.Failure) {
	planned.Servers = slices.Clone(planned.Servers)
	for i := range planned.Servers {
		planned.Servers[i].Env = life.WithVariables(planned.Servers[i].Env, env)
	}
	return m.launchOrder(ctx, []attempt{a}, life.Order{
		Life: planned, ID: id, Env: env, Poll: startPoll, Again: again,
	})
}

// judge gives the figures of a start and its verdict.
func (m coldStart) judge(result *results.Result, own ownCaches, failure *results.Failure) {
	if failure != nil {
		result.Verdict, result.Failure = results.Failed, failure
		return
	}
	result.Measures = starts.Measures(result.Servers[0])
	if problems := result.ColdStart.Problems(); problems != nil {
		result.Warnf(results.WarnStartCache, "%s", strings.Join(problems, "; "))
	}
	if unused := own.unused(); unused != nil {
		result.Warnf(results.WarnStartCacheUnused, "the server left nothing in %s", strings.Join(unused, ", "))
	}
	valid := metrics.Evidence{Figures: results.Figures{Asked: 1, Completed: 1}}
	result.Verdict, result.Failure = metrics.Verdict(valid, result.Warnings, 1)
}

// setPageCache brings the page cache of the model's files into a state, and says
// which one it is in.
func (m coldStart) setPageCache(ctx context.Context, planned plan.Life, asked string) results.CacheBefore {
	state := results.CacheBefore{Asked: asked}
	fail := func(err error) results.CacheBefore {
		if asked != scenarios.StartAny {
			state.Problem = err.Error()
		}
		return state
	}

	v := m.scenario.Variants[planned.VariantIndex]
	dir := cmp.Or(v.Server.WorkDir, m.scenario.Dir)
	files, err := caches.ModelFiles(v.Server.Model, dir, func(name string) string {
		return cmp.Or(v.Server.Env[name].Value, m.machine.HubCache[name])
	})
	if err != nil {
		return fail(err)
	}

	switch asked {
	case scenarios.StartCold:
		err = caches.Evict(ctx, files)
	case scenarios.StartWarm:
		err = caches.Fill(ctx, files)
	}
	if err != nil {
		return fail(err)
	}

	found, err := caches.Look(files)
	if err != nil {
		return fail(err)
	}
	state.Bytes, state.Resident = &found.Bytes, &found.Resident
	m.verifyPages(&state, found)
	return state
}

// verifyPages judges what the page cache holds. A few pages are always read again
// by whoever looks at the folder.
func (coldStart) verifyPages(state *results.CacheBefore, found caches.Residence) {
	const slack = 0.01
	share := 0.0
	if found.Bytes > 0 {
		share = float64(found.Resident) / float64(found.Bytes)
	}

	switch state.Asked {
	case scenarios.StartCold:
		state.Verified = new(share <= slack)
	case scenarios.StartWarm:
		state.Verified = new(share >= 1-slack)
	default:
		return
	}
	if !*state.Verified {
		state.Problem = fmt.Sprintf("%.0f %% of the model's files are in memory", 100*share)
	}
}

// ownCaches are the folders that servers of a start keep code and models in.
type ownCaches struct{ compile, hub ownCache }

func (o ownCaches) both() []ownCache { return []ownCache{o.compile, o.hub} }

// ownCache is one of them; without a folder the server has its usual ones.
type ownCache struct {
	asked     string
	outer     string            // absolute path of the run folder
	name      string            // of its folder within that; "": none
	variables map[string]string // that lead the server to it
	fresh     bool              // nothing is in it, and nothing needs it afterwards
}

// ownCaches makes the folders for a start. A cold one is the start's own; a warm
// one belongs to the variant.
func (m coldStart) ownCaches(planned plan.Life, id string, asked scenarios.StartCaches) (own ownCaches, err error) {
	kind := m.scenario.Variants[planned.VariantIndex].Server.Kind()
	if own.compile, err = m.ownCache("compile", kind.Caches.Compile, planned, id, asked.Compile); err != nil {
		return own, err
	}
	own.hub, err = m.ownCache("hub", kind.Caches.Hub, planned, id, asked.Hub)
	return own, err
}

func (m coldStart) ownCache(name string, variables []string, planned plan.Life, id, asked string) (ownCache, error) {
	c := ownCache{asked: asked, fresh: asked == scenarios.StartCold}
	if asked == scenarios.StartAny {
		return c, nil
	}

	owner := planned.Variant
	if c.fresh {
		owner = "start-" + id
	}
	root, err := filepath.Abs(m.folder.Dir()) // servers have working directories of their own
	if err != nil {
		return c, err
	}
	c.outer, c.name = root, filepath.Join(results.CachesName, name, owner)
	c.variables = caches.Variables(variables, c.folder())
	if m.filled[c.folder()] {
		return c, nil
	}
	return c, caches.Make(c.outer, c.name, c.variables) // an earlier process may have left one that is not filled
}

// fill starts the servers once before the start that is measured, if a cache is to
// be warm that no start has filled.
func (m coldStart) fill(ctx context.Context, planned plan.Life, a attempt, own ownCaches) *results.Failure {
	if own.compile.readyIn(m.filled) && own.hub.readyIn(m.filled) {
		return nil
	}

	id := m.freshLife(planned.ID + "-fill")
	servers, failure := m.launchWith(ctx, planned, id, a, own.env(), nil)
	if failure != nil {
		return failure
	}
	m.starter.Stop(ctx, id, servers)
	for _, c := range own.both() {
		if c.asked == scenarios.StartWarm {
			m.filled[c.folder()] = true
		}
	}
	return nil
}

func (c ownCache) folder() string { return filepath.Join(c.outer, c.name) }

func (c ownCache) readyIn(filled map[string]bool) bool {
	return c.asked != scenarios.StartWarm || filled[c.folder()]
}

func (o ownCaches) env() map[string]string {
	return life.WithVariables(o.compile.variables, o.hub.variables)
}

// before says in which state the folder is before a start.
func (c ownCache) before() results.CacheBefore {
	state := results.CacheBefore{Asked: c.asked}
	if c.name == "" {
		return state
	}

	size := caches.Size(c.folder())
	state.Bytes = &size
	if c.fresh || size > 0 { // a warm one without content may be one that the engine does not use
		state.Verified = new((size == 0) == c.fresh)
	}
	return state
}

// after adds what the folders hold once the servers have ended.
func (o ownCaches) after(state *results.ColdStart) {
	for _, c := range []struct {
		ownCache
		into *results.CacheBefore
	}{{o.compile, &state.Compile}, {o.hub, &state.Hub}} {
		if c.name != "" {
			c.into.After = new(caches.Size(c.folder()))
		}
	}
}

// unused are the variables of the caches in which the server left nothing.
func (o ownCaches) unused() (names []string) {
	for _, c := range o.both() {
		if c.name != "" && caches.Size(c.folder()) == 0 {
			names = append(names, slices.Sorted(maps.Keys(c.variables))...)
		}
	}
	return names
}

// removeCaches removes the folders that starts of a run were given.
func removeCaches(folder *store.Folder) {
	_ = caches.Remove(folder.Dir(), results.CachesName) // what is left is there for all to see
}

// empty makes the folders of cold caches anew.
func (o ownCaches) empty() error {
	var err error
	for _, c := range o.both() {
		if c.fresh {
			err = errors.Join(err, caches.Make(c.outer, c.name, c.variables))
		}
	}
	return err
}

// discard removes the folders that no further start needs.
func (o ownCaches) discard() {
	for _, c := range o.both() {
		if c.fresh {
			_ = caches.Remove(c.outer, c.name) // what is left is in the run folder, for all to see
		}
	}
}
