package scenarios

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/benchrig/bench/scenarios/schema"
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
	if errs := p.errs.Sorted(path); len(errs) > 0 {
		return nil, errs
	}
	return s, nil
}

// parser is the state of reading one file.
type parser struct {
	opts         Options
	path, dir    string
	errs         schema.Collector
	vars         variables
	setVars      map[string]schema.Pos // vars that only --set gives
	matrixNames  map[string]bool       // of all variants, for hints
	envUsed      map[string]EnvUse
	secrets      map[string]bool
	defaults     map[string]string
	warnings     []string
	simulating   bool
	serverBroken bool // the shared block could not be read, so that what it lacks is no error
	others       []*schema.BlockInfo
	literals     map[string]*schema.Node
}

func newParser(path, dir string, opts Options) *parser {
	if opts.Exists == nil {
		opts.Exists = func(path string) bool { _, err := os.Stat(path); return err == nil }
	}
	return &parser{
		opts: opts, path: path, dir: dir,
		setVars: map[string]schema.Pos{}, matrixNames: map[string]bool{}, envUsed: map[string]EnvUse{},
		secrets: map[string]bool{}, defaults: map[string]string{}, others: allBlocks(), literals: map[string]*schema.Node{},
	}
}

// allBlocks are the tables whose keys a misplaced key may have been meant for.
func allBlocks() []*schema.BlockInfo {
	return []*schema.BlockInfo{
		fileBlock().Info(), serverBlock().Info(), readyBlock().Info(), stopBlock().Info(), loadBlock().Info(),
		datasetBlock().Info(), timeoutsBlock().Info(), goodputBlock().Info(), deadlinesBlock().Info(),
		diskBlock().Info(), telemetryBlock().Info(), smokeBlock().Info(), llamaBenchBlock().Info(), simulateBlock().Info(), slurmBlock().Info(), clientBlock().Info(),
		untilBlock().Info(), searchBlock().Info(), pruneBlock().Info(), priceBlock().Info(),
	}
}

func (p *parser) reader(defaults map[string]string, path ...string) *schema.Reader {
	return &schema.Reader{Errs: &p.errs, Path: path, Defaults: defaults, Others: p.others, Literals: p.literals}
}

func (p *parser) warn(pos schema.Pos, format string, args ...any) {
	w := (&schema.Error{Pos: pos, Msg: fmt.Sprintf(format, args...)}).Error()
	if !slices.Contains(p.warnings, w) {
		p.warnings = append(p.warnings, w)
	}
}

// read goes through the stages: tree, overrides, names, variants, points.
func (p *parser) read(src []byte, s *Scenario) {
	root := schema.ReadTree(&p.errs, p.path, src, true)
	if root.Kind != schema.Mapping {
		if root.Kind != schema.Broken {
			p.errs.Add(root.Pos, "a scenario is a mapping that starts with schema: 1, this is %s", root.Shown())
		}
		return
	}
	later := p.apply(root, p.overrides())
	p.simulating = simulating(root)
	p.readVars(root)
	p.readTop(root, s)
	p.readVariants(root, later, s)
	p.addNullTest(root, s)
	p.checkPrice(root.Get("price"), s)
	p.readPoints(root, s)
	p.checkMethod(root, s)
	p.checkClient(root, s)
	p.checkNext(root, s)
	p.checkVarsUsed()
	if p.simulating && len(p.errs.List) == 0 {
		p.simulate(s)
	}
	s.Defaults = p.allDefaults()
	p.hideSecretUses()
	s.EnvUsed = slices.SortedFunc(maps.Values(p.envUsed), func(a, b EnvUse) int { return strings.Compare(a.Name, b.Name) })
	s.Secrets = slices.Sorted(maps.Keys(p.secrets))
	s.Warnings = p.warnings
}

func (p *parser) readVars(root *schema.Node) {
	raw := root.Get("vars")
	if raw == nil || raw.Kind == schema.Null {
		raw = schema.EmptyMapping(root.Pos)
	}
	if raw.Kind != schema.Mapping {
		p.reader(nil, "vars").Wrong(raw, schema.MapOf(schema.Simple(schema.AnyShape)))
		raw = schema.EmptyMapping(root.Pos)
	}
	for _, v := range raw.Pairs {
		if !varName.MatchString(v.Key) {
			p.errs.Add(v.Pos, "%q is no name: use letters, digits, _ and -", v.Key)
		}
		if v.Value.Kind == schema.Null && v.Value.Bare {
			p.errs.Add(v.Value.Pos, `vars.%s has no value: write "" or null`, v.Key)
		}
	}
	p.vars = variables{raw: raw, done: map[string]*schema.Node{}, used: map[string]bool{}}
}

// readTop reads the keys that stand at the top level themselves.
func (p *parser) readTop(root *schema.Node, s *Scenario) {
	own := (&scope{p: p}).expand(root.Without("vars", "server", "variants", "load"))
	if own.Kind != schema.Mapping {
		return
	}
	schema.Decode(p.reader(p.defaults), fileBlock(), own, s)
	p.finishPolicies(own, s)
	p.finishLlamaBench(own.Get("llama-bench"), s)
	if !own.Has("name") {
		s.Name = strings.TrimSuffix(filepath.Base(p.path), filepath.Ext(p.path))
		p.defaults["name"] = s.Name
	}
	if !safeName.MatchString(s.Name) && (!own.Has("name") || own.Get("name").Kind != schema.Broken) {
		p.errs.Add(own.At("name"), "%s", badName("name", s.Name))
	}
}

func badName(what, name string) string {
	return fmt.Sprintf("%s is %q, expected letters, digits and . _ + = - (it becomes a folder), at most 100, a letter or digit first", what, name)
}

// checkVarsUsed finds names that nothing reads: probably misspelled ones.
func (p *parser) checkVarsUsed() {
	for _, v := range p.vars.raw.Pairs {
		if p.vars.used[v.Key] {
			continue
		}
		known := slices.DeleteFunc(p.vars.raw.Keys(), func(k string) bool { return k == v.Key })
		if pos, set := p.setVars[v.Key]; set {
			p.errs.Add(pos, "no ${%s} in this scenario%s", v.Key, schema.DidYouMean(v.Key, known))
			continue
		}
		p.warn(v.Pos, "vars.%s is read nowhere", v.Key)
		p.variable(v.Key) // its errors count all the same
	}
}

func (p *parser) allDefaults() []Default {
	var out []Default
	for _, path := range slices.Sorted(maps.Keys(p.defaults)) {
		out = append(out, Default{Path: path, Value: p.defaults[path]})
	}
	return out
}
