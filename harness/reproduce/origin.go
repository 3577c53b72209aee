// Package reproduce repeats a run of somebody else's on this machine.
//
// A bundle, a run folder or a single result goes in. It finds out what was run,
// compares this machine with the one of then, and carries out the same steps
// with the same prompts. Whether the figures agree is decided elsewhere.
package reproduce

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/internal/userfile"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/profiles"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/bundle"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/parse"
)

// Options say what of the run to repeat, and with what in place of it.
type Options struct {
	Set     []string // overrides of the scenario
	Steps   []string // ids; nil: all
	Repeats int      // in place of the scenario's; 0: those
	Against string   // with a scenario: the run whose figures it is held to
	Dir     string   // from which relative paths start; "": the origin's
	Out     string   // folder of results
	Wait    bool     // while another bench uses this machine
}

// Origin is the run to repeat.
type Origin struct {
	Run *results.Run

	identity *results.Identity // nil: not known
	source   []byte            // of the scenario; nil: not known
	path     string            // where the scenario is, or would be
	prompts  string            // folder of the run with its prompts; "": none
	is       results.Reproduces
	temp     string // folder to remove; "": none
	lone     bool   // a result.json without its run
}

// Close removes what Open unpacked.
func (f *Origin) Close() {
	if f.temp != "" {
		_ = os.RemoveAll(f.temp) // a copy
	}
}

// Open reads a bundle, a run folder, a result.json, or a scenario with the run
// whose figures it is held to.
func Open(ctx context.Context, o Options, path string) (*Origin, error) {
	kind, err := originKindOf(path)
	if err != nil {
		return nil, err
	}
	if kind != aScenario && o.Against != "" {
		return nil, usage.Errorf("--against is for a scenario only: a run has figures of its own")
	}

	switch kind {
	case aBundle:
		return openBundle(ctx, o, path)
	case aFolder:
		return openFolder(o, path)
	case aResult:
		return openResult(o, path)
	case aScenario:
	}

	if o.Against == "" {
		return nil, usage.Errorf("%s is a scenario: name the run to compare it with by --against", path)
	}

	inner := o
	inner.Against = ""
	f, err := Open(ctx, inner, o.Against)
	if err != nil {
		return nil, err
	}

	f.path = path
	if f.source, err = userfile.Read(path, userfile.MaxText); err != nil {
		return nil, err
	}

	f.Run.Manifest.Sets = nil // of another scenario, it may be
	f.identity = nil
	return f, nil
}

// originKind is what a file is by its content.
type originKind int

const (
	aScenario originKind = iota
	aBundle
	aFolder
	aResult
)

func originKindOf(path string) (originKind, error) {
	f, err := userfile.Open(path)
	if err != nil {
		return 0, usage.Mark(err)
	}
	defer func() { _ = f.Close() }() // it was only read

	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if info.IsDir() {
		return aFolder, nil
	}

	const look = 512
	start, err := io.ReadAll(io.LimitReader(f, look))
	switch {
	case err != nil:
		return 0, err
	case bytes.HasPrefix(start, []byte("PK")):
		return aBundle, nil
	case bytes.HasPrefix(bytes.TrimSpace(start), []byte("{")):
		return aResult, nil
	}

	return aScenario, nil
}

// openBundle unpacks what is needed of a bundle: no records, no logs.
func openBundle(ctx context.Context, o Options, path string) (*Origin, error) {
	r, err := bundle.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // it was only read

	removeStale(os.TempDir())
	temp, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", tempName, os.Getpid()))
	if err != nil {
		return nil, err
	}

	wanted := func(name string) bool {
		return !strings.HasSuffix(name, ".zst") &&
			(strings.HasPrefix(name, "prompts/") || strings.HasPrefix(name, "jobs/") ||
				filepath.Base(name) == results.ResultName || !strings.Contains(name, "/"))
	}

	f := &Origin{temp: temp}
	if err = r.Extract(ctx, temp, wanted); err == nil {
		err = f.read(o, temp)
	}
	if err == nil {
		f.is.Source = filepath.Base(path)
		f.is.SHA256, err = hashOf(path)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("reproduce %s: %w", path, err)
	}

	return f, nil
}

// tempName is how the names of unpacked bundles begin; the pid of their program
// follows.
const tempName = "bench-reproduce-"

// removeStale removes what programs that were killed had unpacked: folders of this
// user whose program has ended.
func removeStale(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), tempName)
		number, _, _ := strings.Cut(rest, "-")
		pid, err := strconv.Atoi(number)
		info, statErr := e.Info()
		if !ours || err != nil || statErr != nil || !info.IsDir() {
			continue
		}
		stat, known := info.Sys().(*syscall.Stat_t)
		if known && int(stat.Uid) == os.Getuid() && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.RemoveAll(filepath.Join(dir, e.Name())) // the next one tries again
		}
	}
}

// dropUnpacked removes what was unpacked of a bundle; its prompts are in another
// folder by now.
func (f *Origin) dropUnpacked(prompts string) {
	if f.temp != "" {
		_ = os.RemoveAll(f.temp) // a copy
		f.temp, f.prompts = "", prompts
	}
}

func hashOf(path string) (string, error) {
	f, err := userfile.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func openFolder(o Options, path string) (*Origin, error) {
	if _, err := os.Stat(filepath.Join(path, results.ManifestName)); err != nil {
		if _, err := os.Stat(filepath.Join(path, results.ResultName)); err == nil {
			return openResult(o, filepath.Join(path, results.ResultName))
		}
	}
	f := &Origin{}
	if err := f.read(o, path); err != nil {
		return nil, err
	}
	f.is.Source = filepath.Base(filepath.Clean(path))
	return f, nil
}

// openResult takes the figures of one step, and where it is in its run's
// folder also what was run.
func openResult(o Options, path string) (*Origin, error) {
	sides, err := versus.ReadSides([]string{path}, store.ReadAny)
	if err != nil {
		return nil, err
	}

	f := &Origin{Run: sides[0].Run}
	if whole := sides[0].Run.Dir; whole != filepath.Dir(path) {
		if err := f.read(o, whole); err != nil {
			return nil, err
		}
		f.Run = sides[0].Run
		f.Run.Manifest.Sets = nil
		if all, err := store.Read(whole); err == nil {
			f.Run.Manifest.Sets, f.Run.Manifest.Groups = all.Manifest.Sets, all.Manifest.Groups
		}
	}

	m := f.Run.Manifest
	f.is = results.Reproduces{Source: filepath.Base(path), Bench: m.Bench, Scenario: m.Scenario, Run: m.Run}
	f.lone = f.source == nil
	f.path = filepath.Join(f.base(o), results.ScenarioName)
	f.is.SHA256, err = hashOf(path)
	return f, err
}

// read reads a run folder.
func (f *Origin) read(o Options, dir string) error {
	run, err := store.Read(dir)
	if err != nil {
		return err
	}

	m := run.Manifest
	f.Run, f.prompts = run, dir
	f.is = results.Reproduces{Bench: m.Bench, Scenario: m.Scenario, Run: m.Run}
	if text, err := store.ReadPlain(filepath.Join(dir, results.IdentityName)); err == nil {
		f.identity = &results.Identity{}
		if err := json.Unmarshal(text, f.identity); err != nil {
			return fmt.Errorf("read %s: %w", results.IdentityName, err)
		}
	}

	text, err := store.ReadPlain(filepath.Join(dir, results.ScenarioName))
	if err == nil {
		f.source = text
	}

	f.path = filepath.Join(f.base(o), results.ScenarioName)
	return nil
}

// base is the folder that relative paths start from.
func (f *Origin) base(o Options) string {
	if o.Dir != "" {
		return o.Dir
	}
	if f.temp == "" && f.identity != nil {
		dir := filepath.Dir(f.identity.ScenarioPath)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return "."
}

// Scenario is the one to run; w gets the text of one that was derived.
func (f *Origin) Scenario(p machine.Process, o Options) (*scenarios.Scenario, error) {
	if f.source == nil && f.lone {
		text, err := bundle.Derive(f.Run.Steps[0].Result)
		if err != nil {
			return nil, usage.Mark(err)
		}
		f.source, f.is.Derived = text, true
		fmt.Fprintf(p.Stderr, "derived scenario:\n%s", text)
	}

	if f.source == nil {
		return nil, usage.Errorf("it does not record what was run: give the scenario, and this file with --against")
	}

	sets := append([]string{}, f.Run.Manifest.Sets...)
	for _, set := range sets {
		if strings.Contains(set, "***") && o.Set == nil {
			return nil, usage.Errorf("the run was given the secret --set %s, which it does not keep: give it again",
				set)
		}
	}

	if (f.identity != nil && f.identity.SecretsInFile || f.identity != nil &&
		bytes.Contains(f.source, []byte("***"))) && o.Set == nil {
		return nil, usage.Errorf("the run's scenario had secrets in clear text, which are not kept: give them again, " +
			"each with --set KEY=VALUE")
	}

	if len(f.Run.Manifest.Groups) > 0 {
		sets = append(sets, "on=here")
	}

	sets = append(sets, o.Set...)
	if o.Repeats > 0 {
		sets = append(sets, fmt.Sprintf("repeats=%d", o.Repeats))
	}

	sc, err := parse.Source(f.path, f.source,
		parse.Options{Set: sets, LookupEnv: p.Lookup, Profile: profiles.Lookup, Profiles: profiles.Names()})
	if err != nil {
		return nil, usage.Mark(err)
	}

	return sc, nil
}
