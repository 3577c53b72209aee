// Package parse reads scenario files: strict YAML with positions, ${}
// expressions, variant matrices and load sweeps, with every default visible.
//
// What goes in: a file, --set overrides, an environment look-up and named
// profiles. What comes out: a Scenario that is checked and fully expanded, or
// every error of the file at once, each with file:line:column. It never looks
// at the clock, the network or a process.
//
// The stages are: schema reads the text into a tree; expand applies --set,
// fills in ${} and multiplies matrices; the tables of package keys decode the tree;
// package check decides what one key means for another; simulate puts the simulator
// in the place of the engines where --sim asks for it.
package parse

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/internal/userfile"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/expand"
	"github.com/benchrig/bench/scenarios/parse/check"
	"github.com/benchrig/bench/scenarios/parse/keys"
	"github.com/benchrig/bench/scenarios/schema"
	"github.com/benchrig/bench/scenarios/simulate"
)

// Options are what a scenario file is read with. The zero value knows no
// environment variable and no profile.
type Options struct {
	Set       []string                              // overrides, "load.num-prompts=8"; a later one wins
	LookupEnv func(name string) (string, bool)      // for ${env:NAME}
	Profile   func(name string) (y []byte, ok bool) // YAML whose keys are load: keys
	Profiles  []string                              // names that Profile knows, for "did you mean"
	Exists    func(path string) bool                // of a file or folder; nil: ask this machine

	// WithoutSecrets accepts that variables of secrets are not set: nothing is
	// started or sent. Warnings name them.
	WithoutSecrets bool
}

// missingSecret stands for a secret whose variable is not set. It is an address,
// for those of notifications.
const missingSecret = "https://not-set.invalid"

// missingEnv is the value of a variable that is not set where it does not
// matter: a simulated server accepts any key.
const missingEnv = "not-set-under-sim"

// maxPoints bounds what a sweep may make.
const maxPoints = 5000

// File reads a scenario file. The error is an Errors where the file was read
// and is wrong.
func File(path string, opts Options) (*scenarios.Scenario, error) {
	src, err := userfile.Read(path, userfile.MaxText)
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	return Source(path, src, opts)
}

// Source reads the text of a scenario file that is, or would be, at path.
// The error is an Errors where the text is wrong.
func Source(path string, src []byte, opts Options) (*scenarios.Scenario, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the folder of %q: %w", path, err)
	}
	p := newParser(path, filepath.Dir(abs), opts)
	s := &scenarios.Scenario{Path: path, Dir: p.file.Dir, Source: src, Sets: slices.Clone(opts.Set)}
	p.file.Scenario = s
	p.read(src, s)
	if errs := p.errs.Sorted(path); len(errs) > 0 {
		return nil, errs
	}
	return s, nil
}

// parser is the state of reading one file.
type parser struct {
	opts       Options
	path       string
	errs       schema.Collector
	file       *check.File
	names      *expand.Names
	defaults   map[string]string
	simulating bool
	others     []*schema.BlockInfo
	literals   map[string]*schema.Node
}

func newParser(path, dir string, opts Options) *parser {
	if opts.Exists == nil {
		opts.Exists = func(path string) bool { _, err := os.Stat(path); return err == nil }
	}
	p := &parser{
		opts: opts, path: path,
		defaults: map[string]string{}, others: keys.All(), literals: map[string]*schema.Node{},
	}
	p.names = expand.New(&p.errs, opts.LookupEnv)
	if opts.WithoutSecrets {
		p.names.UnsetSecret = missingSecret
	}
	p.file = &check.File{Errs: &p.errs, Dir: dir, Exists: opts.Exists, Secret: p.names.NoteSecret}

	return p
}

func (p *parser) reader(defaults map[string]string, path ...string) *schema.Reader {
	return &schema.Reader{Errs: &p.errs, Path: path, Defaults: defaults, Others: p.others, Literals: p.literals}
}

// read goes through the stages: tree, overrides, names, variants, points.
func (p *parser) read(src []byte, s *scenarios.Scenario) {
	root := schema.ReadTree(&p.errs, p.path, src, true)
	if root.Kind != schema.Mapping {
		if root.Kind != schema.Broken {
			p.errs.Add(root.Pos, "a scenario is a mapping that starts with schema: 1, this is %s", root.Shown())
		}
		return
	}

	later := p.names.Apply(root, expand.ReadOverrides(&p.errs, p.opts.Set), keys.Variant().Info().Names())
	if p.simulating = keys.Simulating(root); p.simulating {
		p.names.UnsetEnv = missingEnv
	}

	p.names.ReadVars(root)
	p.readTop(root, s)
	p.readVariants(root, later, s)
	p.drawCandidates(root, s)
	p.limitVersions(root, s)
	p.addNullTest(root, s)
	p.readPoints(root, s)
	check.Scenario(p.file, root)
	for _, v := range p.names.Unread() {
		p.file.Warnf(v.Pos, "vars.%s is read nowhere", v.Key)
	}
	if p.simulating && len(p.errs.List) == 0 {
		simulate.Apply(s, p.names.Texts(), p.opts.Exists)
	}

	missing := p.names.Missing()
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		p.file.Warnf(missing[name], "environment variable %s is not set: a run needs it", name)
	}

	s.Defaults = p.allDefaults()
	s.EnvUsed = p.names.Uses()
	s.Secrets = p.names.SecretValues()
	secrets.Remember(s.Secrets...)
	s.Warnings = p.file.Warnings()
}

// readTop reads the keys that are at the top level themselves.
func (p *parser) readTop(root *schema.Node, s *scenarios.Scenario) {
	own := p.names.Outside().Expand(root.Without("vars", "server", "variants", "load"))
	if own.Kind != schema.Mapping {
		return
	}
	schema.Decode(p.reader(p.defaults), keys.File(), own, s)
	check.Top(p.file, own, p.defaults)
	if !own.Has("name") {
		s.Name = strings.TrimSuffix(filepath.Base(p.path), filepath.Ext(p.path))
		p.defaults["name"] = s.Name
	}
	if !own.Has("name") || own.Get("name").Kind != schema.Broken {
		p.file.Name(own.At("name"), "name", s.Name)
	}
}

func (p *parser) allDefaults() []scenarios.Default {
	var out []scenarios.Default
	for _, path := range slices.Sorted(maps.Keys(p.defaults)) {
		out = append(out, scenarios.Default{Path: path, Value: p.defaults[path]})
	}
	return out
}
