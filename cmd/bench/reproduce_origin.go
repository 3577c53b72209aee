package main

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
	"strings"

	"github.com/benchrig/bench/profiles"
	"github.com/benchrig/bench/report"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/bundle"
	"github.com/benchrig/bench/scenarios"
)

// origin is the run to repeat.
type origin struct {
	run      *results.Run
	identity *results.Identity // nil: not known
	source   []byte            // of the scenario; nil: not known
	path     string            // where the scenario lies, or would lie
	prompts  string            // folder of the run with its prompts; "": none
	is       results.Reproduces
	temp     string // folder to remove; "": none
	lone     bool   // a result.json without its run
}

func (f *origin) close() {
	if f.temp != "" {
		_ = os.RemoveAll(f.temp) // a copy
	}
}

// openOrigin reads a bundle, a run folder, a result.json, or a scenario with
// the run that it is held to.
func openOrigin(ctx context.Context, o reproduceOptions, path string) (*origin, error) {
	kind, err := originKindOf(path)
	if err != nil {
		return nil, err
	}
	if kind != aScenario && o.against != "" {
		return nil, usageError(errors.New("--against is for a scenario: a run says itself what its figures are"))
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
	if o.against == "" {
		return nil, usageError(fmt.Errorf("%s is a scenario: give the run that it is to be held to with --against", path))
	}
	inner := o
	inner.against = ""
	f, err := openOrigin(ctx, inner, o.against)
	if err != nil {
		return nil, err
	}
	f.path = path
	if f.source, err = os.ReadFile(path); err != nil {
		return nil, err
	}
	f.run.Manifest.Sets = nil // of another scenario, it may be
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
	f, err := os.Open(path)
	if err != nil {
		return 0, usageError(err)
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
func openBundle(ctx context.Context, o reproduceOptions, path string) (*origin, error) {
	r, err := bundle.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // it was only read
	temp, err := os.MkdirTemp("", "bench-reproduce-")
	if err != nil {
		return nil, err
	}
	wanted := func(name string) bool {
		return !strings.HasSuffix(name, ".zst") && (strings.HasPrefix(name, "prompts/") || strings.HasPrefix(name, "jobs/") || filepath.Base(name) == results.ResultName || !strings.Contains(name, "/"))
	}
	f := &origin{temp: temp}
	if err = r.Extract(ctx, temp, wanted); err == nil {
		err = f.read(o, temp)
	}
	if err == nil {
		f.is.Source = filepath.Base(path)
		f.is.SHA256, err = hashOf(path)
	}
	if err != nil {
		f.close()
		return nil, fmt.Errorf("reproduce %s: %w", path, err)
	}
	return f, nil
}

func hashOf(path string) (string, error) {
	f, err := os.Open(path)
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

func openFolder(o reproduceOptions, path string) (*origin, error) {
	if _, err := os.Stat(filepath.Join(path, results.ManifestName)); err != nil {
		if _, err := os.Stat(filepath.Join(path, results.ResultName)); err == nil {
			return openResult(o, filepath.Join(path, results.ResultName))
		}
	}
	f := &origin{}
	if err := f.read(o, path); err != nil {
		return nil, err
	}
	f.is.Source = filepath.Base(filepath.Clean(path))
	return f, nil
}

// openResult takes the figures of one step, and where it lies in its run's
// folder also what was run.
func openResult(o reproduceOptions, path string) (*origin, error) {
	sides, err := report.ReadSides([]string{path})
	if err != nil {
		return nil, err
	}
	f := &origin{run: sides[0].Run}
	if whole := sides[0].Run.Dir; whole != filepath.Dir(path) {
		if err := f.read(o, whole); err != nil {
			return nil, err
		}
		f.run = sides[0].Run
		f.run.Manifest.Sets = nil
		if all, err := results.Read(whole); err == nil {
			f.run.Manifest.Sets, f.run.Manifest.Groups = all.Manifest.Sets, all.Manifest.Groups
		}
	}
	m := f.run.Manifest
	f.is = results.Reproduces{Source: filepath.Base(path), Bench: m.Bench, Scenario: m.Scenario, Run: m.Run}
	f.lone = f.source == nil
	f.path = filepath.Join(f.base(o), results.ScenarioName)
	f.is.SHA256, err = hashOf(path)
	return f, err
}

// read reads a run folder.
func (f *origin) read(o reproduceOptions, dir string) error {
	run, err := results.Read(dir)
	if err != nil {
		return err
	}
	m := run.Manifest
	f.run, f.prompts = run, dir
	f.is = results.Reproduces{Bench: m.Bench, Scenario: m.Scenario, Run: m.Run}
	if text, err := os.ReadFile(filepath.Join(dir, results.IdentityName)); err == nil {
		f.identity = &results.Identity{}
		if err := json.Unmarshal(text, f.identity); err != nil {
			return fmt.Errorf("read %s: %w", results.IdentityName, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, results.ScenarioName))
	if err == nil {
		f.source = text
	}
	f.path = filepath.Join(f.base(o), results.ScenarioName)
	return nil
}

// base is the folder that relative paths start from.
func (f *origin) base(o reproduceOptions) string {
	if o.dir != "" {
		return o.dir
	}
	if f.temp == "" && f.identity != nil {
		dir := filepath.Dir(f.identity.ScenarioPath)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return "."
}

// scenario is the one to run.
func (f *origin) scenario(e env, o reproduceOptions) (*scenarios.Scenario, error) {
	if f.source == nil && f.lone {
		text, err := bundle.Derive(f.run.Steps[0].Result)
		if err != nil {
			return nil, usageError(err)
		}
		f.source, f.is.Derived = text, true
		fmt.Fprintf(e.Stderr, "derived scenario:\n%s", text)
	}
	if f.source == nil {
		return nil, usageError(errors.New("it does not say what was run: give the scenario, and this file with --against"))
	}
	sets := append([]string{}, f.run.Manifest.Sets...)
	for _, set := range sets {
		if strings.Contains(set, "***") && o.set == nil {
			return nil, usageError(fmt.Errorf("the run was given the secret --set %s, which it does not keep: give it again", set))
		}
	}
	if (f.identity != nil && f.identity.SecretsInFile || f.identity != nil && bytes.Contains(f.source, []byte("***"))) && o.set == nil {
		return nil, usageError(errors.New("the run's scenario had secrets in the clear, which are not kept: give them again, each with --set KEY=VALUE"))
	}
	if len(f.run.Manifest.Groups) > 0 {
		sets = append(sets, "on=here")
	}
	sets = append(sets, o.set...)
	if o.repeats > 0 {
		sets = append(sets, fmt.Sprintf("repeats=%d", o.repeats))
	}
	sc, err := scenarios.Parse(f.path, f.source, scenarios.Options{Set: sets, LookupEnv: e.Lookup, Profile: profiles.Lookup, Profiles: profiles.Names()})
	if err != nil {
		return nil, usageError(err)
	}
	return sc, nil
}
