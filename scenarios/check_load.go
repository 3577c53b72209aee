package scenarios

import (
	"math"
	"slices"
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
	finishDataset(data, l, defaults)
	random := kindNamed(l.Dataset.Kind).random
	if !n.has("ignore-eos") {
		l.IgnoreEOS = random
		set("ignore-eos", boolText(random))
	}
	if l.Duration == 0 {
		delete(defaults, "timeouts.drain")
	}
	if l.Dataset.Turns <= 1 {
		delete(defaults, "think-time")
	}
	if !replays(l) {
		delete(defaults, "replay-speed")
	}
	if !sound {
		return
	}
	p.checkDataset(n, data, l, s)
	p.checkPacing(n, l)
	p.checkCompat(n, l)
}

func boolText(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

func (p *parser) finishAPI(n *node, l *Load, set func(path, value string)) {
	implied, fixed := "completions", false
	if strings.Contains(l.Endpoint, "chat") {
		implied = "chat"
	}
	for _, a := range apis() {
		if l.Endpoint == a.path {
			implied, fixed = a.name, true
		}
	}
	switch {
	case !n.has("api"):
		l.API = implied
		set("api", implied)
	case fixed && l.API != "" && l.API != implied:
		p.errs.add(n.at("api"), "api is %q, but endpoint %s takes %s bodies", l.API, l.Endpoint, implied)
	}
}

// checkCompat: a version of vLLM's client is followed in all or not at all.
func (p *parser) checkCompat(n *node, l *Load) {
	if l.Compat == "" {
		return
	}
	known := []string{"completions", "chat"}
	if l.Compat != "vllm" {
		known = append(known, "tgi")
	}
	if !slices.Contains(known, l.API) {
		p.errs.add(n.at("compat"), "compat %s: that client has no %s API", l.Compat, l.API)
	}
	if !l.Stream {
		p.errs.add(n.at("stream"), "compat %s: that client always streams", l.Compat)
	}
	if l.Duration > 0 {
		p.errs.add(n.at("duration"), "compat %s: that client sends each prompt once", l.Compat)
	}
}

func (p *parser) checkPacing(n *node, l *Load) {
	talks := l.Dataset.Turns > 1 || l.Dataset.Kind == "frozen"
	if n.has("think-time") && !talks {
		p.errs.add(n.keyAt("think-time"), "think-time needs a dataset with turns")
	}
	if n.has("replay-speed") && !replays(l) {
		p.errs.add(n.keyAt("replay-speed"), "replay-speed is for the times of dataset trace or burstgpt, without request-rate")
	}
	if timeouts := n.get("timeouts"); timeouts != nil && timeouts.has("drain") && l.Duration == 0 {
		p.errs.add(timeouts.keyAt("drain"), "drain needs duration: without one every request has its time")
	}
	if n.has("burstiness") && math.IsInf(l.RequestRate, 1) && l.Ramp.Strategy == "" {
		p.errs.add(n.keyAt("burstiness"), "burstiness needs a finite request-rate or a ramp")
	}
	p.checkRamp(n, l)
	if l.NumPrompts < l.MaxConcurrency {
		p.warn(n.at("max-concurrency"), "max-concurrency %d is never reached with num-prompts %d", l.MaxConcurrency, l.NumPrompts)
	}
}

// replays tells whether requests leave at the times of a recorded trace.
func replays(l *Load) bool {
	timed := slices.Contains([]string{"trace", "burstgpt", "frozen"}, l.Dataset.Kind) && !l.Dataset.Shuffle
	return timed && math.IsInf(l.RequestRate, 1) && l.Ramp.Strategy == ""
}

// checkRamp: a ramp is whole, and the only word on the rate.
func (p *parser) checkRamp(n *node, l *Load) {
	ramp := n.get("ramp")
	if ramp == nil || ramp.kind != mapping || len(ramp.pairs) == 0 {
		return
	}
	for _, key := range []string{"strategy", "start", "end"} {
		if !ramp.has(key) {
			p.errs.add(ramp.pos, "ramp.%s is missing", key)
			return
		}
	}
	switch r := l.Ramp; {
	case l.Duration > 0:
		p.errs.add(n.at("duration"), "a ramp ends with the last prompt: leave duration out")
	case !math.IsInf(l.RequestRate, 1):
		p.errs.add(n.at("request-rate"), "the ramp sets the rate: leave request-rate out")
	case r.End < r.Start:
		p.errs.add(ramp.at("end"), "the ramp falls from %g to %g, expected one that rises", r.Start, r.End)
	case r.Strategy == "exponential" && r.Start == 0:
		p.errs.add(ramp.at("start"), "an exponential ramp cannot start at 0")
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
