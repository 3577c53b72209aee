package parse

import (
	"slices"
	"time"

	"github.com/benchrig/bench/dataset/audio"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/parse/keys"
	"github.com/benchrig/bench/scenarios/schema"
)

// finishDataset works out the defaults that depend on a dataset's kind, and
// drops those of keys that it does not know.
func finishDataset(data *schema.Node, l *scenarios.Load, defaults map[string]string) {
	kind := keys.DatasetNamed(l.Dataset.Kind)
	for _, f := range keys.ShapeFields() {
		if slices.Contains(kind.Keys, f.Key) {
			continue
		}
		for _, path := range append([]string{f.Key}, imageKeys(f.Key)...) {
			delete(defaults, "dataset."+path)
		}
	}

	d := &l.Dataset
	if slices.Contains(kind.Keys, "shuffle") && !data.Has("shuffle") {
		d.Shuffle = kind.Shuffled
		defaults["dataset.shuffle"] = boolText(kind.Shuffled)
	}
	if !slices.Contains(kind.Keys, "oversample") {
		d.Oversample = false
	}
	if !slices.Contains(kind.Keys, "images") {
		d.Images = scenarios.Images{}
	}
	if !slices.Contains(kind.Keys, "batch-size") {
		d.BatchSize = 0
	}
	if !slices.Contains(kind.Keys, "turns") {
		d.Turns = 0
	}
}

func imageKeys(key string) []string {
	if key != "images" {
		return nil
	}
	var out []string
	for _, name := range keys.Images().Info().Names() {
		out = append(out, "images."+name)
	}
	return out
}

// forbidForeign reports keys that a kind of dataset does not know, whatever else
// is wrong.
func (p *parser) forbidForeign(n, data *schema.Node, kind keys.DatasetKind) {
	for _, of := range lengthsOf(kind) {
		if of.use == keys.Never {
			p.forbid(n, "dataset "+kind.Name+" has lengths of its own", of.key)
		}
	}

	for _, f := range keys.ShapeFields() {
		if !slices.Contains(kind.Keys, f.Key) {
			p.forbid(data, "this is for dataset "+keys.DatasetsWith(f.Key), f.Key)
		}
	}
}

// lengthUse is what a kind of dataset makes of a key for lengths.
type lengthUse struct {
	key string
	use keys.Use
}

func lengthsOf(kind keys.DatasetKind) []lengthUse {
	return []lengthUse{{"input-len", kind.Input}, {"output-len", kind.Output}}
}

// checkDataset checks the dataset's values, and the load's, against its kind.
func (p *parser) checkDataset(n, data *schema.Node, l *scenarios.Load, s *scenarios.Scenario) {
	kind, api := keys.DatasetNamed(l.Dataset.Kind), apiOf(l)
	for _, of := range lengthsOf(kind) {
		notNeeded := of.key == "output-len" && api.Numbers
		if of.use == keys.Must && !n.Has(of.key) && !notNeeded {
			p.errs.Add(n.Pos, "load.%s is missing: dataset %s needs it", of.key, kind.Name)
		}
	}
	if kind.Name == "shared_prefix" && l.Dataset.PrefixLen == 0 {
		p.errs.Add(data.Pos, "load.dataset.prefix-len is missing: dataset shared_prefix needs it")
	}

	if why := api.Misfit(l.Dataset.Kind); why != "" {
		p.errs.Add(data.At("kind"), "endpoint %s %s", l.API, why)
	}
	p.checkNumbers(n, data, l)
	p.checkAudio(n, data, l)
	p.checkPrefixes(data, l)
	p.checkDatasetPaths(data, l, s)
	p.checkTokens(data, l)
	if l.Compat != "" && !slices.Contains([]string{
		"random", "random_mm", "sharegpt", "custom", "sonnet",
		"prefix_repetition", "burstgpt", "hf", "frozen",
	}, l.Dataset.Kind) {
		p.errs.Add(n.At("compat"), "compat %s: that client has no dataset %s", l.Compat, l.Dataset.Kind)
	}
}

// apiOf is the load's API; zero where that is unknown, which is reported elsewhere.
func apiOf(l *scenarios.Load) dialect.API {
	api, _ := dialect.APINamed(l.API)
	return api
}

// checkAudio: audio has lengths of its own, and asks no questions as text.
func (p *parser) checkAudio(n, data *schema.Node, l *scenarios.Load) {
	if apiOf(l).Audio && l.Evaluate.Exact {
		p.errs.Add(n.KeyAt("evaluate"), "evaluate asks questions as text, and endpoint %s takes audio", l.API)
	}
	if l.Dataset.Kind == "random_audio" && l.Dataset.AudioLen == 0 {
		p.errs.Add(data.Pos, "load.dataset.audio-len is missing: dataset random_audio needs it, such as 10s")
	}
	if longest := audio.MaxS * time.Second; l.Dataset.AudioLen > longest {
		p.errs.Add(data.At("audio-len"), "audio-len is %v, expected at most %v", l.Dataset.AudioLen, longest)
	}
}

// checkNumbers: embeddings and scores have no output, and only they take several
// texts a request.
func (p *parser) checkNumbers(n, data *schema.Node, l *scenarios.Load) {
	if !apiOf(l).Numbers {
		if l.Dataset.BatchSize > 1 {
			p.errs.Add(data.At("batch-size"), "endpoint %s takes one prompt a request: batch-size is for embeddings",
				l.API)
		}
		return
	}
	p.forbid(n, "endpoint "+l.API+" answers with numbers, without output tokens", "output-len")
	p.forbid(n, "endpoint "+l.API+" answers in one piece", "stream")
	l.IgnoreEOS = false
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
	kind := keys.DatasetNamed(l.Dataset.Kind)
	switch {
	case !kind.Path:
		p.forbid(data, "dataset "+kind.Name+" generates its prompts", "path")
	case !data.Has("path"):
		p.errs.Add(data.Pos, "load.dataset.path is missing: dataset %s needs it", kind.Name)
	default:
		p.noTilde(data, "path")
		l.Dataset.Path = p.abs(l.Dataset.Path)
		s.NeedFile(scenarios.DatasetFile, l.Dataset.Path, data.At("path"))
	}

	p.checkTokenizer(data, l, s)
}

func (p *parser) checkTokenizer(data *schema.Node, l *scenarios.Load, s *scenarios.Scenario) {
	if data.Has("tokenizer") {
		p.noTilde(data, "tokenizer")
		l.Dataset.Tokenizer = p.abs(l.Dataset.Tokenizer)
		s.NeedFile(scenarios.TokenizerFile, l.Dataset.Tokenizer, data.At("tokenizer"))
	}
}

// checkTokens: ids need an API that takes them and a vocabulary to draw from.
func (p *parser) checkTokens(data *schema.Node, l *scenarios.Load) {
	switch {
	case l.Dataset.TokenIDs && !apiOf(l).TokenIDs:
		p.errs.Add(data.At("tokens"), "token ids do not go through the %s API: its prompts are text", l.API)
	case l.Dataset.TokenIDs && !data.Has("vocab-size") && !data.Has("tokenizer"):
		p.errs.Add(data.At("tokens"), "token ids need vocab-size, or a tokenizer that knows it: ids are drawn below it")
	case !l.Dataset.TokenIDs && data.Has("vocab-size"):
		p.errs.Add(data.KeyAt("vocab-size"), "vocab-size is for tokens: ids")
	}
}
