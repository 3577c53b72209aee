package scenarios

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Options are what a scenario file is read with. The zero value knows no
// environment variable and no profile.
type Options struct {
	Set       []string                              // overrides, "load.num-prompts=8"; a later one wins
	LookupEnv func(name string) (string, bool)      // for ${env:NAME}
	Profile   func(name string) (y []byte, ok bool) // YAML whose keys are load: keys
	Profiles  []string                              // names that Profile knows, for "did you mean"
	Exists    func(path string) bool                // of a file or folder; nil: ask this box
}

// maxVariants and maxPoints bound what a matrix and a sweep may make.
const (
	maxVariants = 2000
	maxPoints   = 5000
)

// safeName is what may name a variant, a point or a scenario: such names
// become folders and step ids.
var safeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+=-]{0,99}$`)

// LoadFile reads a scenario file. The error is an Errors where the file was read
// and is wrong.
func LoadFile(path string, opts Options) (*Scenario, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	return Parse(path, src, opts)
}

// Parse reads the text of a scenario file that lies, or would lie, at path.
// The error is an Errors where the text is wrong.
func Parse(path string, src []byte, opts Options) (*Scenario, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the folder of %q: %w", path, err)
	}
	p := newParser(path, filepath.Dir(abs), opts)
	s := &Scenario{Path: path, Dir: p.dir, Source: src, Sets: slices.Clone(opts.Set)}
	p.read(src, s)
	if errs := p.errs.sorted(path); len(errs) > 0 {
		return nil, errs
	}
	return s, nil
}

// parser is the state of reading one file.
type parser struct {
	opts         Options
	path, dir    string
	errs         collector
	vars         variables
	setVars      map[string]Pos  // vars that only --set gives
	matrixNames  map[string]bool // of all variants, for hints
	envUsed      map[string]EnvUse
	secrets      map[string]bool
	defaults     map[string]string
	warnings     []string
	simulating   bool
	serverBroken bool // the shared block could not be read, so that what it lacks is no error
	others       []*blockInfo
	literals     map[string]*node
}

func newParser(path, dir string, opts Options) *parser {
	if opts.Exists == nil {
		opts.Exists = func(path string) bool { _, err := os.Stat(path); return err == nil }
	}
	return &parser{
		opts: opts, path: path, dir: dir,
		setVars: map[string]Pos{}, matrixNames: map[string]bool{}, envUsed: map[string]EnvUse{},
		secrets: map[string]bool{}, defaults: map[string]string{}, others: allBlocks(), literals: map[string]*node{},
	}
}

// allBlocks are the tables whose keys a misplaced key may have been meant for.
func allBlocks() []*blockInfo {
	return []*blockInfo{
		fileBlock().info(), serverBlock().info(), readyBlock().info(), stopBlock().info(), loadBlock().info(),
		datasetBlock().info(), timeoutsBlock().info(), goodputBlock().info(), deadlinesBlock().info(),
		diskBlock().info(), telemetryBlock().info(), smokeBlock().info(), llamaBenchBlock().info(), simulateBlock().info(), slurmBlock().info(), clientBlock().info(),
		untilBlock().info(), searchBlock().info(), pruneBlock().info(), priceBlock().info(),
	}
}

func (p *parser) reader(defaults map[string]string, path ...string) *reader {
	return &reader{errs: &p.errs, path: path, defaults: defaults, others: p.others, literals: p.literals}
}

func (p *parser) warn(pos Pos, format string, args ...any) {
	w := (&Error{Pos: pos, Msg: fmt.Sprintf(format, args...)}).Error()
	if !slices.Contains(p.warnings, w) {
		p.warnings = append(p.warnings, w)
	}
}

// read goes through the stages: tree, overrides, names, variants, points.
func (p *parser) read(src []byte, s *Scenario) {
	root := readTree(&p.errs, p.path, src, true)
	if root.kind != mapping {
		if root.kind != broken {
			p.errs.add(root.pos, "a scenario is a mapping that starts with schema: 1, this is %s", root.shown())
		}
		return
	}
	later := p.apply(root, p.overrides())
	p.simulating = simulating(root)
	p.readVars(root)
	p.readTop(root, s)
	p.readVariants(root, later, s)
	p.addNullTest(root, s)
	p.checkPrice(root.get("price"), s)
	p.readPoints(root, s)
	p.checkMethod(root, s)
	p.checkClient(root, s)
	p.checkNext(root, s)
	p.checkVarsUsed()
	if p.simulating && len(p.errs.list) == 0 {
		p.simulate(s)
	}
	s.Defaults = p.allDefaults()
	p.hideSecretUses()
	s.EnvUsed = slices.SortedFunc(maps.Values(p.envUsed), func(a, b EnvUse) int { return strings.Compare(a.Name, b.Name) })
	s.Secrets = slices.Sorted(maps.Keys(p.secrets))
	s.Warnings = p.warnings
}

func (p *parser) readVars(root *node) {
	raw := root.get("vars")
	if raw == nil || raw.kind == null {
		raw = emptyMapping(root.pos)
	}
	if raw.kind != mapping {
		p.reader(nil, "vars").wrong(raw, mapOf(simple(anyShape)))
		raw = emptyMapping(root.pos)
	}
	for _, v := range raw.pairs {
		if !varName.MatchString(v.key) {
			p.errs.add(v.pos, "%q is no name: use letters, digits, _ and -", v.key)
		}
		if v.value.kind == null && v.value.bare {
			p.errs.add(v.value.pos, `vars.%s has no value: write "" or null`, v.key)
		}
	}
	p.vars = variables{raw: raw, done: map[string]*node{}, used: map[string]bool{}}
}

// readTop reads the keys that stand at the top level themselves.
func (p *parser) readTop(root *node, s *Scenario) {
	own := (&scope{p: p}).expand(root.without("vars", "server", "variants", "load"))
	if own.kind != mapping {
		return
	}
	decode(p.reader(p.defaults), fileBlock(), own, s)
	p.finishPolicies(own, s)
	p.finishLlamaBench(own.get("llama-bench"), s)
	if !own.has("name") {
		s.Name = strings.TrimSuffix(filepath.Base(p.path), filepath.Ext(p.path))
		p.defaults["name"] = s.Name
	}
	if !safeName.MatchString(s.Name) && (!own.has("name") || own.get("name").kind != broken) {
		p.errs.add(own.at("name"), "%s", badName("name", s.Name))
	}
}

func badName(what, name string) string {
	return fmt.Sprintf("%s is %q, expected letters, digits and . _ + = - (it becomes a folder), at most 100, a letter or digit first", what, name)
}

// checkVarsUsed finds names that nothing reads: probably misspelled ones.
func (p *parser) checkVarsUsed() {
	for _, v := range p.vars.raw.pairs {
		if p.vars.used[v.key] {
			continue
		}
		known := slices.DeleteFunc(p.vars.raw.keys(), func(k string) bool { return k == v.key })
		if pos, set := p.setVars[v.key]; set {
			p.errs.add(pos, "no ${%s} in this scenario%s", v.key, didYouMean(v.key, known))
			continue
		}
		p.warn(v.pos, "vars.%s is read nowhere", v.key)
		p.variable(v.key) // its errors count all the same
	}
}

func (p *parser) allDefaults() []Default {
	var out []Default
	for _, path := range slices.Sorted(maps.Keys(p.defaults)) {
		out = append(out, Default{Path: path, Value: p.defaults[path]})
	}
	return out
}
