package check

import (
	"slices"
	"strconv"
	"time"

	"github.com/benchrig/bench/dataset/audio"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/parse/keys"
)

// setDataset works out the defaults that depend on a dataset's kind, and drops
// those of keys that it does not know.
func (c *loadCheck) setDataset() {
	kind := keys.DatasetNamed(c.l.Dataset.Kind)
	for _, f := range keys.ShapeFields() {
		if slices.Contains(kind.Keys, f.Key) {
			continue
		}
		for _, path := range append([]string{f.Key}, imageKeys(f.Key)...) {
			delete(c.defaults, "dataset."+path)
		}
	}

	d := &c.l.Dataset
	if slices.Contains(kind.Keys, "shuffle") && !c.data.Has("shuffle") {
		d.Shuffle = kind.Shuffled
		c.defaults["dataset.shuffle"] = strconv.FormatBool(kind.Shuffled)
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
func (c *loadCheck) forbidForeign(kind keys.DatasetKind) {
	for _, of := range lengthsOf(kind) {
		if of.use == keys.Never {
			c.forbid(c.n, "dataset "+kind.Name+" has lengths of its own", of.key)
		}
	}

	for _, f := range keys.ShapeFields() {
		if !slices.Contains(kind.Keys, f.Key) {
			c.forbid(c.data, "this is for dataset "+keys.DatasetsWith(f.Key), f.Key)
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
func (c *loadCheck) checkDataset() {
	kind, api := keys.DatasetNamed(c.l.Dataset.Kind), apiOf(c.l)
	for _, of := range lengthsOf(kind) {
		notNeeded := of.key == "output-len" && api.Numbers
		if of.use == keys.Must && !c.n.Has(of.key) && !notNeeded {
			c.errorf(c.n.Pos, "load.%s is missing: dataset %s needs it", of.key, kind.Name)
		}
	}
	if kind.Name == "shared_prefix" && c.l.Dataset.PrefixLen == 0 {
		c.errorf(c.data.Pos, "load.dataset.prefix-len is missing: dataset shared_prefix needs it")
	}

	if why := api.Misfit(c.l.Dataset.Kind); why != "" {
		c.errorf(c.data.At("kind"), "endpoint %s %s", c.l.API, why)
	}
	c.checkNumbers()
	c.checkAudio()
	c.checkPrefixes()
	c.checkDatasetPaths()
	c.checkTokens()
	if c.l.Compat != "" && !slices.Contains([]string{
		"random", "random_mm", "sharegpt", "custom", "sonnet",
		"prefix_repetition", "burstgpt", "hf", "frozen",
	}, c.l.Dataset.Kind) {
		c.errorf(c.n.At("compat"), "compat %s: that client has no dataset %s", c.l.Compat, c.l.Dataset.Kind)
	}
}

// apiOf is the load's API; zero where that is unknown, which is reported elsewhere.
func apiOf(l *scenarios.Load) dialect.API {
	api, _ := dialect.APINamed(l.API)
	return api
}

// checkAudio: audio has lengths of its own, and asks no questions as text.
func (c *loadCheck) checkAudio() {
	if apiOf(c.l).Audio && c.l.Evaluate.Exact {
		c.errorf(c.n.KeyAt("evaluate"), "evaluate asks questions as text, and endpoint %s takes audio", c.l.API)
	}
	if c.l.Dataset.Kind == "random_audio" && c.l.Dataset.AudioLen == 0 {
		c.errorf(c.data.Pos, "load.dataset.audio-len is missing: dataset random_audio needs it, such as 10s")
	}
	if longest := audio.MaxS * time.Second; c.l.Dataset.AudioLen > longest {
		c.errorf(c.data.At("audio-len"), "audio-len is %v, expected at most %v", c.l.Dataset.AudioLen, longest)
	}
}

// checkNumbers: embeddings and scores have no output, and only they take several
// texts a request.
func (c *loadCheck) checkNumbers() {
	if !apiOf(c.l).Numbers {
		if c.l.Dataset.BatchSize > 1 {
			c.errorf(c.data.At("batch-size"), "endpoint %s takes one prompt a request: batch-size is for embeddings",
				c.l.API)
		}
		return
	}
	c.forbid(c.n, "endpoint "+c.l.API+" answers with numbers, without output tokens", "output-len")
	c.forbid(c.n, "endpoint "+c.l.API+" answers in one piece", "stream")
	c.l.IgnoreEOS = false
}

// checkPrefixes: each prefix needs a prompt that begins with it.
func (c *loadCheck) checkPrefixes() {
	prefixes := c.l.Dataset.NumPrefixes
	switch {
	case c.l.Dataset.Kind == "prefix_repetition" && prefixes == 0:
		prefixes = defaultPrefixes
	case c.l.Dataset.Kind != "prefix_repetition" && c.l.Dataset.Kind != "shared_prefix":
		return
	}
	if prefixes > c.l.NumPrompts {
		c.errorf(c.data.At("num-prefixes"), "%d prefixes need at least as many prompts, and num-prompts is %d: lower "+
			"num-prefixes or raise num-prompts",
			prefixes, c.l.NumPrompts)
	}
}

// defaultPrefixes are those of dataset prefix_repetition.
const defaultPrefixes = 10

func (c *loadCheck) checkDatasetPaths() {
	kind := keys.DatasetNamed(c.l.Dataset.Kind)
	switch {
	case !kind.Path:
		c.forbid(c.data, "dataset "+kind.Name+" generates its prompts", "path")
	case !c.data.Has("path"):
		c.errorf(c.data.Pos, "load.dataset.path is missing: dataset %s needs it", kind.Name)
	default:
		c.noTilde(c.data, "path")
		c.l.Dataset.Path = c.abs(c.l.Dataset.Path)
		c.Scenario.NeedFile(scenarios.DatasetFile, c.l.Dataset.Path, c.data.At("path"))
	}

	c.checkTokenizer()
}

func (c *loadCheck) checkTokenizer() {
	if c.data.Has("tokenizer") {
		c.noTilde(c.data, "tokenizer")
		c.l.Dataset.Tokenizer = c.abs(c.l.Dataset.Tokenizer)
		c.Scenario.NeedFile(scenarios.TokenizerFile, c.l.Dataset.Tokenizer, c.data.At("tokenizer"))
	}
}

// checkTokens: ids need an API that takes them and a vocabulary to draw from.
func (c *loadCheck) checkTokens() {
	switch {
	case c.l.Dataset.TokenIDs && !apiOf(c.l).TokenIDs:
		c.errorf(c.data.At("tokens"), "token ids do not go through the %s API: its prompts are text", c.l.API)
	case c.l.Dataset.TokenIDs && !c.data.Has("vocab-size") && !c.data.Has("tokenizer"):
		c.errorf(c.data.At("tokens"), "token ids need vocab-size, or a tokenizer that knows it: ids are drawn below it")
	case !c.l.Dataset.TokenIDs && c.data.Has("vocab-size"):
		c.errorf(c.data.KeyAt("vocab-size"), "vocab-size is for tokens: ids")
	}
}
