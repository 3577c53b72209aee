package scenarios

import "slices"

// finishDataset works out the defaults that depend on a dataset's kind, and
// drops those of keys that it does not know.
func finishDataset(data *node, l *Load, defaults map[string]string) {
	kind := kindNamed(l.Dataset.Kind)
	for _, f := range shapeFields() {
		if slices.Contains(kind.keys, f.key) {
			continue
		}
		for _, path := range append([]string{f.key}, imageKeys(f.key)...) {
			delete(defaults, "dataset."+path)
		}
	}
	d := &l.Dataset
	if slices.Contains(kind.keys, "shuffle") && !data.has("shuffle") {
		d.Shuffle = kind.shuffled
		defaults["dataset.shuffle"] = boolText(kind.shuffled)
	}
	if !slices.Contains(kind.keys, "oversample") {
		d.Oversample = false
	}
	if !slices.Contains(kind.keys, "images") {
		d.Images = Images{}
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
	for _, name := range imagesBlock().info().names() {
		out = append(out, "images."+name)
	}
	return out
}

// checkDataset checks the dataset's keys, and the load's, against its kind.
func (p *parser) checkDataset(n, data *node, l *Load, s *Scenario) {
	kind := kindNamed(l.Dataset.Kind)
	p.checkLength(n, "input-len", kind.input, kind.name)
	p.checkLength(n, "output-len", kind.output, kind.name)
	if kind.name == "shared_prefix" && l.Dataset.PrefixLen == 0 {
		p.errs.add(data.pos, "load.dataset.prefix-len is missing: dataset shared_prefix needs it")
	}
	for _, f := range shapeFields() {
		if !slices.Contains(kind.keys, f.key) {
			p.forbid(data, "this is for dataset "+usersOf(f.key), f.key)
		}
	}
	p.checkDatasetPaths(data, l, s)
	p.checkTokens(data, l)
	if l.Compat != "" && !slices.Contains([]string{"random", "random_mm", "sharegpt", "custom", "sonnet", "prefix_repetition", "burstgpt", "hf", "frozen"}, l.Dataset.Kind) {
		p.errs.add(n.at("compat"), "compat %s: that client has no dataset %s", l.Compat, l.Dataset.Kind)
	}
	if l.Dataset.Kind == "tok_inputs" && !apiNamed(l.API).ids {
		p.errs.add(data.at("kind"), "token ids do not go through the %s API: its prompts are text", l.API)
	}
	if l.Dataset.Kind == "random_mm" && !apiNamed(l.API).images {
		p.errs.add(data.at("kind"), "dataset random_mm needs an API that takes images, such as endpoint chat")
	}
}

func (p *parser) checkLength(n *node, key string, of use, kind string) {
	switch {
	case of == must && !n.has(key):
		p.errs.add(n.pos, "load.%s is missing: dataset %s needs it", key, kind)
	case of == never:
		p.forbid(n, "dataset "+kind+" has lengths of its own", key)
	}
}

func (p *parser) checkDatasetPaths(data *node, l *Load, s *Scenario) {
	kind := kindNamed(l.Dataset.Kind)
	switch {
	case !kind.path:
		p.forbid(data, "dataset "+kind.name+" makes its prompts up", "path")
	case !data.has("path"):
		p.errs.add(data.pos, "load.dataset.path is missing: dataset %s needs it", kind.name)
	default:
		p.noTilde(data, "path")
		l.Dataset.Path = p.abs(l.Dataset.Path)
		p.need(s, datasetPath, l.Dataset.Path, data.at("path"))
	}
	if data.has("tokenizer") {
		p.noTilde(data, "tokenizer")
		l.Dataset.Tokenizer = p.abs(l.Dataset.Tokenizer)
		p.need(s, tokenizerPath, l.Dataset.Tokenizer, data.at("tokenizer"))
	}
}

// checkTokens: ids need an API that takes them and a vocabulary to draw from.
func (p *parser) checkTokens(data *node, l *Load) {
	switch {
	case l.Dataset.TokenIDs && !apiNamed(l.API).ids:
		p.errs.add(data.at("tokens"), "token ids do not go through the %s API: its prompts are text", l.API)
	case l.Dataset.TokenIDs && !data.has("vocab-size") && !data.has("tokenizer"):
		p.errs.add(data.at("tokens"), "token ids need vocab-size, or a tokenizer that knows it: ids are drawn below it")
	case !l.Dataset.TokenIDs && data.has("vocab-size"):
		p.errs.add(data.keyAt("vocab-size"), "vocab-size is for tokens: ids")
	}
}
