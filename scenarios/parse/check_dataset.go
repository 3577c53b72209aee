package parse

import (
	"slices"

	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// finishDataset works out the defaults that depend on a dataset's kind, and
// drops those of keys that it does not know.
func finishDataset(data *schema.Node, l *scenarios.Load, defaults map[string]string) {
	kind := kindNamed(l.Dataset.Kind)
	for _, f := range shapeFields() {
		if slices.Contains(kind.keys, f.Key) {
			continue
		}
		for _, path := range append([]string{f.Key}, imageKeys(f.Key)...) {
			delete(defaults, "dataset."+path)
		}
	}

	d := &l.Dataset
	if slices.Contains(kind.keys, "shuffle") && !data.Has("shuffle") {
		d.Shuffle = kind.shuffled
		defaults["dataset.shuffle"] = boolText(kind.shuffled)
	}
	if !slices.Contains(kind.keys, "oversample") {
		d.Oversample = false
	}
	if !slices.Contains(kind.keys, "images") {
		d.Images = scenarios.Images{}
	}
	if !slices.Contains(kind.keys, "turns") {
		d.Turns = 0
	}
}

func imageKeys(key string) []string {
	if key != "images" {
		return nil
	}
	var out []string
	for _, name := range imagesBlock().Info().Names() {
		out = append(out, "images."+name)
	}
	return out
}

// forbidForeign reports keys that a kind of dataset does not know, whatever else
// is wrong.
func (p *parser) forbidForeign(n, data *schema.Node, kind datasetKind) {
	for _, of := range lengthsOf(kind) {
		if of.use == never {
			p.forbid(n, "dataset "+kind.name+" has lengths of its own", of.key)
		}
	}

	for _, f := range shapeFields() {
		if !slices.Contains(kind.keys, f.Key) {
			p.forbid(data, "this is for dataset "+usersOf(f.Key), f.Key)
		}
	}
}

// lengthUse is what a kind of dataset makes of a key for lengths.
type lengthUse struct {
	key string
	use use
}

func lengthsOf(kind datasetKind) []lengthUse {
	return []lengthUse{{"input-len", kind.input}, {"output-len", kind.output}}
}

// checkDataset checks the dataset's values, and the load's, against its kind.
func (p *parser) checkDataset(n, data *schema.Node, l *scenarios.Load, s *scenarios.Scenario) {
	kind := kindNamed(l.Dataset.Kind)
	for _, of := range lengthsOf(kind) {
		if of.use == must && !n.Has(of.key) {
			p.errs.Add(n.Pos, "load.%s is missing: dataset %s needs it", of.key, kind.name)
		}
	}
	if kind.name == "shared_prefix" && l.Dataset.PrefixLen == 0 {
		p.errs.Add(data.Pos, "load.dataset.prefix-len is missing: dataset shared_prefix needs it")
	}

	p.checkPrefixes(data, l)
	p.checkDatasetPaths(data, l, s)
	p.checkTokens(data, l)
	if l.Compat != "" && !slices.Contains([]string{
		"random", "random_mm", "sharegpt", "custom", "sonnet",
		"prefix_repetition", "burstgpt", "hf", "frozen",
	}, l.Dataset.Kind) {
		p.errs.Add(n.At("compat"), "compat %s: that client has no dataset %s", l.Compat, l.Dataset.Kind)
	}
	api, _ := dialect.APINamed(l.API)
	if l.Dataset.Kind == "tok_inputs" && !api.TokenIDs {
		p.errs.Add(data.At("kind"), "token ids do not go through the %s API: its prompts are text", l.API)
	}
	if l.Dataset.Kind == "random_mm" && !api.Images {
		p.errs.Add(data.At("kind"), "dataset random_mm needs an API that takes images, such as endpoint chat")
	}
}

// checkPrefixes: each prefix needs a prompt that begins with it.
func (p *parser) checkPrefixes(data *schema.Node, l *scenarios.Load) {
	prefixes := l.Dataset.NumPrefixes
	switch {
	case l.Dataset.Kind == "prefix_repetition" && prefixes == 0:
		prefixes = defaultPrefixes
	case l.Dataset.Kind != "prefix_repetition" && l.Dataset.Kind != "shared_prefix":
		return
	}
	if prefixes > l.NumPrompts {
		p.errs.Add(data.At("num-prefixes"), "%d prefixes need at least as many prompts, and num-prompts is %d: lower "+
			"num-prefixes or raise num-prompts",
			prefixes, l.NumPrompts)
	}
}

// defaultPrefixes are those of dataset prefix_repetition.
const defaultPrefixes = 10

func (p *parser) checkDatasetPaths(data *schema.Node, l *scenarios.Load, s *scenarios.Scenario) {
	kind := kindNamed(l.Dataset.Kind)
	switch {
	case !kind.path:
		p.forbid(data, "dataset "+kind.name+" makes its prompts up", "path")
	case !data.Has("path"):
		p.errs.Add(data.Pos, "load.dataset.path is missing: dataset %s needs it", kind.name)
	default:
		p.noTilde(data, "path")
		l.Dataset.Path = p.abs(l.Dataset.Path)
		s.NeedFile(scenarios.DatasetFile, l.Dataset.Path, data.At("path"))
	}

	if data.Has("tokenizer") {
		p.noTilde(data, "tokenizer")
		l.Dataset.Tokenizer = p.abs(l.Dataset.Tokenizer)
		s.NeedFile(scenarios.TokenizerFile, l.Dataset.Tokenizer, data.At("tokenizer"))
	}
}

// checkTokens: ids need an API that takes them and a vocabulary to draw from.
func (p *parser) checkTokens(data *schema.Node, l *scenarios.Load) {
	api, _ := dialect.APINamed(l.API)
	switch {
	case l.Dataset.TokenIDs && !api.TokenIDs:
		p.errs.Add(data.At("tokens"), "token ids do not go through the %s API: its prompts are text", l.API)
	case l.Dataset.TokenIDs && !data.Has("vocab-size") && !data.Has("tokenizer"):
		p.errs.Add(data.At("tokens"), "token ids need vocab-size, or a tokenizer that knows it: ids are drawn below it")
	case !l.Dataset.TokenIDs && data.Has("vocab-size"):
		p.errs.Add(data.KeyAt("vocab-size"), "vocab-size is for tokens: ids")
	}
}
