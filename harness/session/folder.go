package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// Prepare makes the results folder below out, with all that is known before the
// start. The manifest comes last: a folder without it is not a run. groups are what
// each job of a cluster will carry out; nil: this process carries out all.
func (s *Session) Prepare(ctx context.Context, out string, groups []results.Group) (*store.Folder, error) {
	folder, err := store.Create(out, s.Scenario.Name, newRunID())
	if err != nil {
		return nil, err
	}

	redact := hider(s.Scenario)
	manifest := newManifest(s.Process.Version, s.Scenario, s.Plan, redact)
	manifest.Run, manifest.Groups, manifest.Reproduces = filepath.Base(folder.Dir()), groups, s.Origin
	host := gpu.Host(ctx)
	identity := s.Identity(host)
	identity.SecretsInFile = SecretsInClear(s.Scenario)

	err = errors.Join(
		folder.WriteFile(results.ScenarioName, []byte(redact(string(s.Scenario.Source)))),
		folder.WriteJSON(results.PlanName, s.Plan),
		folder.WriteJSON(results.IdentityName, identity),
	)

	if groups == nil {
		err = errors.Join(err, folder.WriteJSON(results.EnvironmentName, s.Environment(host)))
	}

	return folder, errors.Join(err, folder.WriteManifest(manifest))
}

// newManifest says what a run of the plan sets out to do.
func newManifest(version string, sc *scenarios.Scenario, p *plan.Plan, redact func(string) string) results.Manifest {
	manifest := results.Manifest{
		Bench: version, Scenario: sc.Name, Description: sc.Description, StartedAt: time.Now().Format(time.RFC3339),
		Planned: p.Refs(), MostSteps: p.MostSteps, Simulated: simulated(sc), Sets: recipe.HideEach(redact, sc.Sets),
		Method: string(sc.Method), Baseline: sc.Baseline, Tables: sc.Tables,
		Sizes: sizes(sc), Notes: map[string]string{},
	}

	manifest.Search, manifest.Prune = plan.SearchPolicy(sc), plan.PrunePolicy(sc)
	manifest.Repeats, manifest.Tune = plan.RepeatsPolicy(sc), plan.TunePolicy(sc)
	manifest.Blame, manifest.Bisect = plan.BlamePolicy(sc), plan.BisectPolicy(sc)
	if sc.NullTest {
		manifest.NullTest = sc.Variants[len(sc.Variants)-1].Name
	}
	if sc.SmallestDifference > 0 {
		manifest.SmallestDifference = &sc.SmallestDifference
	}

	manifest.Price, manifest.Prices = plan.Prices(sc)

	for _, v := range sc.Variants {
		manifest.Variants = append(manifest.Variants, v.Name)
		if v.Notes != "" {
			manifest.Notes[v.Name] = redact(v.Notes)
		}
	}

	for _, p := range sc.Points {
		manifest.Points = append(manifest.Points, p.Label)
	}

	return manifest
}

// Environment describes this machine for environment.json.
func (s *Session) Environment(host gpu.HostFacts) map[string]any {
	return map[string]any{
		"bench": s.Process.Version, "go": runtime.Version(), "node": s.Node, "host": host, "gpu": s.Inventory,
		"env_used": s.Scenario.EnvUsed, "limits": limitsBy(syscall.Getrlimit),
	}
}

const softFiles = "open_files_soft"

// limitsBy are the limits of this process on connections, which its servers
// inherit, as get reads them; nil where they cannot be read. The soft one is as
// bench raised it.
func limitsBy(get func(resource int, limit *syscall.Rlimit) error) map[string]uint64 {
	var files syscall.Rlimit
	if get(syscall.RLIMIT_NOFILE, &files) != nil {
		return nil
	}
	return map[string]uint64{softFiles: files.Cur, "open_files_hard": files.Max}
}

// hiddenWebhook replaces, in a results folder, the address of a notification that
// the scenario has in the clear. Nothing is sent there.
const hiddenWebhook = "https://webhook.invalid/"

// hider hides the secrets of a scenario in a text. An address of a notification
// becomes one to which nothing is sent, so that the scenario can still be read.
func hider(sc *scenarios.Scenario) func(string) string {
	redact := recipe.Redactor(sc.Secrets)
	return func(text string) string { return redact(withoutWebhooks(sc, text)) }
}

func withoutWebhooks(sc *scenarios.Scenario, text string) string {
	for _, n := range sc.Notify {
		if n.Webhook.Value != "" {
			text = strings.ReplaceAll(text, n.Webhook.Value, hiddenWebhook)
		}
	}
	return text
}

// SecretsInClear reports whether a scenario or its overrides hold secrets, which
// a results folder does not keep and without which the run cannot continue: addresses
// of notifications do not count as such.
func SecretsInClear(sc *scenarios.Scenario) bool {
	redact := recipe.Redactor(sc.Secrets)
	holds := func(text string) bool {
		text = withoutWebhooks(sc, text)
		return redact(text) != text
	}
	return holds(string(sc.Source)) || slices.ContainsFunc(sc.Sets, holds)
}

// WebhooksInClear reports whether a scenario or its overrides hold addresses of
// notifications in the clear.
func WebhooksInClear(sc *scenarios.Scenario) bool {
	holds := func(text string) bool { return withoutWebhooks(sc, text) != text }
	return holds(string(sc.Source)) || slices.ContainsFunc(sc.Sets, holds)
}

// sizes are those of the models by variant, as the scenario says, else those of
// model files.
func sizes(sc *scenarios.Scenario) map[string]string {
	const gib = 1 << 30
	all := map[string]string{}
	for _, v := range sc.Variants {
		all[v.Name] = v.Size
		if info, err := os.Stat(v.Server.Model); v.Size == "" && filepath.IsAbs(v.Server.Model) && err == nil &&
			info.Mode().IsRegular() {
			all[v.Name] = fmt.Sprintf("%.2f GiB", float64(info.Size())/gib)
		}
		if all[v.Name] == "" {
			delete(all, v.Name)
		}
	}
	return all
}

// newRunID is a folder name that sorts by time and does not collide.
func newRunID() string { return time.Now().UTC().Format("20060102-150405") + "-" + randomHex(2) }

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: see crypto/rand
	return hex.EncodeToString(b)
}
