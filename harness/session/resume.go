package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/harness/life"
	"github.com/benchrig/bench/harness/plan/identity"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/profiles"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/parse"
)

// Stored is a run as its folder has it.
type Stored struct {
	Run *results.Run

	identity *results.Identity // nil: from a bench that noted none
	source   []byte            // of the scenario, secrets hidden
}

// ReadStored reads a run that is to be continued.
func ReadStored(folder *store.Folder) (*Stored, error) {
	run, err := store.Read(folder.Dir())
	if err != nil {
		return nil, err
	}
	return StoredOf(folder, run)
}

// StoredOf is ReadStored for a run that was read, or a part of one.
func StoredOf(folder *store.Folder, run *results.Run) (s *Stored, err error) {
	s = &Stored{Run: run}
	if s.source, err = store.ReadPlain(folder.Scenario()); err != nil {
		return nil, fmt.Errorf("read the run's scenario: %w", err)
	}

	text, err := store.ReadPlain(filepath.Join(folder.Dir(), results.IdentityName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", results.IdentityName, err)
	}

	s.identity = &results.Identity{}
	if err := json.Unmarshal(text, s.identity); err != nil {
		return nil, fmt.Errorf("read %s: %w", results.IdentityName, err)
	}

	return s, nil
}

// Finished reports whether no step is left to run.
func (s *Stored) Finished(retryFailed bool) bool {
	return s.Run.Finished && harness.NewResume(s.Run, retryFailed).Done(s.Run)
}

// Scenario reads the run's scenario back from the folder. Further overrides are for
// what is not part of the experiment.
func (s *Stored) Scenario(lookup func(string) (string, bool), sets ...string) (*scenarios.Scenario, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.identity == nil || s.identity.SecretsInFile {
		return nil, usage.Errorf("the run's scenario had secrets in clear text, which its folder does not keep: give " +
			"it again with --scenario FILE")
	}
	sc, err := parse.Source(s.identity.ScenarioPath, s.source, parse.Options{
		Set: slices.Concat(s.Run.Manifest.Sets, sets), LookupEnv: lookup, Profile: profiles.Lookup,
		Profiles: profiles.Names(),
	})
	if err != nil {
		return nil, usage.Mark(err)
	}
	return sc, nil
}

// NobodyToNotify reports whether the scenario had addresses of notifications in the
// clear, which the folder does not keep.
func (s *Stored) NobodyToNotify() bool {
	sets := strings.Join(s.Run.Manifest.Sets, "\n")
	return strings.Contains(string(s.source), hiddenWebhook) || strings.Contains(sets, hiddenWebhook)
}

// Matches reports, as an error, why a scenario that was given again is not the
// run's own, secrets aside.
func (s *Stored) Matches(sc *scenarios.Scenario) error {
	if err := s.check(); err != nil {
		return err
	}
	redact := hider(sc)
	sets := recipe.HideEach(redact, sc.Sets)
	if redact(string(sc.Source)) != string(s.source) || !slices.Equal(sets, s.Run.Manifest.Sets) {
		return usage.Errorf("%s, with its overrides, is not the scenario of this run, secrets aside", sc.Path)
	}
	return nil
}

// check refuses a folder whose scenario or plan was changed.
func (s *Stored) check() error {
	for _, problem := range s.Run.Problems {
		if strings.HasPrefix(problem, results.ScenarioName) || strings.HasPrefix(problem, results.PlanName) {
			return usage.Errorf("not the same experiment as at the start of the run: %s", problem)
		}
	}
	return nil
}

// Resume makes ready what is left of the run: changes of the machine since it
// began are written to Stderr and refused unless allowed, and logs of killed
// servers are closed. The caller has locked the folder.
func (s *Session) Resume(ctx context.Context, folder *store.Folder, stored *Stored, allowChanged,
	retryFailed bool,
) (*harness.Resume, error) {
	changes, err := s.changes(stored, s.Identity(gpu.Host(ctx)))
	if err != nil {
		return nil, usage.Errorf("not the same experiment as at the start of the run: %w", err)
	}

	for _, change := range changes {
		fmt.Fprintf(s.Process.Stderr, "changed: %s\n", change)
	}

	if len(changes) > 0 && !allowChanged {
		return nil, usage.Errorf("the machine or an engine differs from the start of the run; " +
			"--allow-changed continues and notes it in every later step")
	}
	if err := s.closeLogs(folder); err != nil {
		return nil, err
	}

	resume := harness.NewResume(stored.Run, retryFailed)
	resume.Changes, resume.AllowChanged = changes, allowChanged
	fmt.Fprintf(s.Process.Stderr, "resuming: %d of %s left\n", resume.Left(s.Plan),
		text.Count(len(s.Plan.Refs()), "step"))
	return resume, nil
}

// changes lists what is not as it was when the run began. The error says that
// it is another experiment.
func (s *Session) changes(stored *Stored, here results.Identity) ([]string, error) {
	changes, err := identity.PlanChanges(stored.Run.Plan, s.Plan)
	if err != nil {
		return nil, err
	}
	if stored.identity == nil {
		return append(changes, "the folder does not record the machine on which the run began"), nil
	}

	more, notes := identity.Changes(*stored.identity, here)
	for _, note := range notes {
		fmt.Fprintf(s.Process.Stderr, "note: %s\n", note)
	}
	return append(changes, more...), nil
}

// closeLogs compresses and redacts the logs of servers that a killed run left.
func (s *Session) closeLogs(folder *store.Folder) error {
	lives, err := folder.Lives()
	for _, id := range lives {
		err = errors.Join(err, life.CloseLogs(folder, id, s.Scenario.Disk.MaxLog, s.Scenario.Secrets))
	}
	return err
}
