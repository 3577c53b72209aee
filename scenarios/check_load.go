package scenarios

import (
	"math"
	"strings"
)

// finishLoad works out the defaults that depend on other keys, and checks what
// one key means for another. sound says that every key by itself is right.
func (p *parser) finishLoad(n *node, l *Load, defaults map[string]string, s *Scenario, sound bool) {
	p.noteHeaders(l)
	data := n.get("dataset")
	if data == nil || data.kind != mapping {
		data = emptyMapping(n.at("dataset"))
	}
	set := func(path, value string) { defaults[path] = value }
	p.finishAPI(n, l, set)
	random := l.Dataset.Kind == "random"
	if !n.has("ignore-eos") {
		l.IgnoreEOS = random
		set("ignore-eos", boolText(random))
	}
	if !random && !data.has("shuffle") {
		l.Dataset.Shuffle = l.Dataset.Kind == "sharegpt"
		set("dataset.shuffle", boolText(l.Dataset.Shuffle))
	}
	if !random {
		for _, key := range []string{"tokens", "range-ratio", "prefix-len"} {
			delete(defaults, "dataset."+key) // of no meaning here
		}
	}
	if !sound {
		return
	}
	if random {
		p.checkRandom(n, data, l)
	} else {
		p.checkFileDataset(n, data, l, s)
	}
	p.checkPacing(n, l)
}

func boolText(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

func (p *parser) finishAPI(n *node, l *Load, set func(path, value string)) {
	implied := "completions"
	if strings.Contains(l.Endpoint, "chat") {
		implied = "chat"
	}
	switch fixed := l.Endpoint == chatPath || l.Endpoint == completionsPath; {
	case !n.has("api"):
		l.API = implied
		set("api", implied)
	case fixed && l.API != "" && l.API != implied:
		p.errs.add(n.at("api"), "api is %q, but endpoint %s takes %s bodies", l.API, l.Endpoint, implied)
	}
}

func (p *parser) checkRandom(n, data *node, l *Load) {
	for _, key := range []string{"input-len", "output-len"} {
		if !n.has(key) {
			p.errs.add(n.pos, "load.%s is missing: dataset random needs it", key)
		}
	}
	p.forbid(data, "dataset random makes its prompts up", "path", "shuffle")
	switch {
	case l.Dataset.TokenIDs && l.API == "chat":
		p.errs.add(data.at("tokens"), "token ids need endpoint completions: a chat message is text")
	case l.Dataset.TokenIDs && !data.has("vocab-size"):
		p.errs.add(data.at("tokens"), "token ids need vocab-size: ids are drawn below it")
	case !l.Dataset.TokenIDs && data.has("vocab-size"):
		p.errs.add(data.keyAt("vocab-size"), "vocab-size is for tokens: ids")
	}
}

func (p *parser) checkFileDataset(n, data *node, l *Load, s *Scenario) {
	kind := l.Dataset.Kind
	p.forbid(n, "prompts of dataset "+kind+" have their own lengths", "input-len")
	p.forbid(data, "this is for dataset random", "tokens", "vocab-size", "range-ratio", "prefix-len")
	if !data.has("path") {
		p.errs.add(data.pos, "load.dataset.path is missing: dataset %s needs it", kind)
		return
	}
	p.noTilde(data, "path")
	l.Dataset.Path = p.abs(l.Dataset.Path)
	p.need(s, datasetPath, l.Dataset.Path, data.at("path"))
}

func (p *parser) checkPacing(n *node, l *Load) {
	if n.has("burstiness") && math.IsInf(l.RequestRate, 1) {
		p.errs.add(n.keyAt("burstiness"), "burstiness needs a finite request-rate")
	}
	if l.NumPrompts < l.MaxConcurrency {
		p.warn(n.at("max-concurrency"), "max-concurrency %d is never reached with num-prompts %d", l.MaxConcurrency, l.NumPrompts)
	}
}

// noteHeaders lists secret headers, so that nothing shows them.
func (p *parser) noteHeaders(l *Load) {
	for _, v := range l.Headers {
		if v.Secret {
			p.secret(v.Value)
			p.secret(strings.TrimPrefix(v.Value, "Bearer "))
		}
	}
}
