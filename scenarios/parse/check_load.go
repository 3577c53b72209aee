package parse

import (
	"math"
	"slices"
	"strings"

	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/parse/keys"
	"github.com/benchrig/bench/scenarios/schema"
)

// finishLoad works out the defaults that depend on other keys, and checks what
// one key means for another. sound says that every key by itself is right.
func (p *parser) finishLoad(n *schema.Node, l *scenarios.Load, defaults map[string]string, s *scenarios.Scenario,
	valid bool,
) {
	p.noteHeaders(l)
	data := n.Get("dataset")
	if data == nil || data.Kind != schema.Mapping {
		data = schema.EmptyMapping(n.At("dataset"))
	}

	set := func(path, value string) { defaults[path] = value }
	p.finishAPI(n, l, set)
	addPriority(l)
	finishDataset(data, l, defaults)
	random := keys.DatasetNamed(l.Dataset.Kind).Random
	if !n.Has("ignore-eos") {
		l.IgnoreEOS = random && !n.Has("tools") // what follows a call is no part of it
		set("ignore-eos", boolText(l.IgnoreEOS))
	}
	if l.Duration == 0 {
		delete(defaults, "timeouts.drain")
	}
	if len(l.Stages) > 0 {
		delete(defaults, "duration")
		delete(defaults, "request-rate")
	}
	if !n.Has("early") {
		delete(defaults, "early.overload")
	}
	if l.Dataset.Turns <= 1 && l.Dataset.Kind != "sessions" {
		delete(defaults, "think-time")
	}
	if !replays(l) {
		delete(defaults, "replay-speed")
	}
	if kind := data.Get("kind"); valid || kind == nil || kind.Text == l.Dataset.Kind {
		p.forbidForeign(n, data, keys.DatasetNamed(l.Dataset.Kind))
	}
	if !valid {
		return
	}

	if len(l.Classes) == 0 {
		p.checkDataset(n, data, l, s)
	} else {
		p.checkTokenizer(data, l, s)
	}
	p.checkPacing(n, l)
	p.checkProbes(n, l, s)
	p.checkEarly(n, l, s)
	p.checkCompat(n, l)
	p.checkTools(n, l)
}

// checkTools: an API must be able to carry tools.
func (p *parser) checkTools(n *schema.Node, l *scenarios.Load) {
	if len(l.Tools) == 0 {
		return
	}
	if api := apiOf(l); api.Name != "" && !api.Tools {
		p.errs.Add(n.KeyAt("tools"), "tools: the %s API takes none: use endpoint chat, responses or messages", l.API)
	}
	if l.Compat != "" {
		p.errs.Add(n.KeyAt("tools"), "tools: compat %s sends only what that client does", l.Compat)
	}
}

func boolText(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

func (p *parser) finishAPI(n *schema.Node, l *scenarios.Load, set func(path, value string)) {
	implied, fixed := "completions", false
	if strings.Contains(l.Endpoint, "chat") {
		implied = "chat"
	}

	for _, a := range dialect.APIs() {
		if l.Endpoint == a.DefaultPath {
			implied, fixed = a.Name, true
		}
	}

	switch {
	case !n.Has("api"):
		l.API = implied
		set("api", implied)
	case fixed && l.API != "" && l.API != implied:
		p.errs.Add(n.At("api"), "api is %q, but endpoint %s takes %s bodies", l.API, l.Endpoint, implied)
	}
}

// checkCompat: a version of vLLM's client is followed in all or not at all.
func (p *parser) checkCompat(n *schema.Node, l *scenarios.Load) {
	if l.Compat == "" {
		return
	}

	known := []string{"completions", "chat"}
	if l.Compat != "vllm" {
		known = append(known, "tgi")
	}
	if !slices.Contains(known, l.API) {
		p.errs.Add(n.At("compat"), "compat %s: that client has no %s API", l.Compat, l.API)
	}
	if l.NoStream {
		p.errs.Add(n.At("stream"), "compat %s: that client always streams", l.Compat)
	}
	if len(l.Kinds()) > 0 {
		p.errs.Add(n.At("compat"), "compat %s: that client's requests are all alike: leave classes and lora out",
			l.Compat)
	}
	if len(l.Stages) > 0 {
		p.errs.Add(n.At("stages"), "compat %s: that client has no stages", l.Compat)
	} else if l.Duration > 0 {
		p.errs.Add(n.At("duration"), "compat %s: that client sends each prompt once", l.Compat)
	}
}

func (p *parser) checkPacing(n *schema.Node, l *scenarios.Load) {
	talks := l.Dataset.Turns > 1 || slices.Contains([]string{"sessions", "frozen"}, l.Dataset.Kind)
	if n.Has("think-time") && !talks {
		p.errs.Add(n.KeyAt("think-time"), "think-time needs a dataset with turns")
	}
	if n.Has("replay-speed") && !replays(l) {
		p.errs.Add(n.KeyAt("replay-speed"), "replay-speed is for the times of dataset trace, sessions or burstgpt, "+
			"without request-rate")
	}
	if timeouts := n.Get("timeouts"); timeouts != nil && timeouts.Has("drain") && l.Duration == 0 {
		p.errs.Add(timeouts.KeyAt("drain"), "drain needs duration: without one every request has its time")
	}
	staged := len(l.Stages) > 0 && l.Stages[0].RequestRate != nil
	if n.Has("burstiness") && math.IsInf(l.RequestRate, 1) && l.Ramp.Strategy == "" && !staged {
		p.errs.Add(n.KeyAt("burstiness"), "burstiness needs a finite request-rate, stages with rates, or a ramp")
	}

	p.checkRamp(n, l)
	if err := spec.CheckArrivals(l.RequestRate, l.Burstiness, spec.Ramp{}, l.Duration); err != nil {
		p.errs.Add(n.At("request-rate"), "%v", err)
	}
	if l.NumPrompts < l.MaxConcurrency {
		p.warnAlike(n.At("max-concurrency"), "max-concurrency %d is never reached with num-prompts %d",
			l.MaxConcurrency, l.NumPrompts)
	}
}

// replays reports whether requests leave at the times of a recorded trace.
func replays(l *scenarios.Load) bool {
	timed := slices.Contains([]string{"trace", "sessions", "burstgpt", "frozen"}, l.Dataset.Kind) && !l.Dataset.Shuffle
	timed = timed && len(l.OfClass) == 0 && len(l.Stages) == 0
	return timed && math.IsInf(l.RequestRate, 1) && l.Ramp.Strategy == ""
}

// checkRamp: a ramp is whole, and the only word on the rate.
func (p *parser) checkRamp(n *schema.Node, l *scenarios.Load) {
	ramp := n.Get("ramp")
	if ramp == nil || ramp.Kind != schema.Mapping || len(ramp.Pairs) == 0 {
		return
	}

	for _, key := range []string{"strategy", "start", "end"} {
		if !ramp.Has(key) {
			p.errs.Add(ramp.Pos, "ramp.%s is missing", key)
			return
		}
	}

	switch r := l.Ramp; {
	case l.Duration > 0:
		p.errs.Add(n.At("duration"), "a ramp ends with the last prompt: leave duration out")
	case !math.IsInf(l.RequestRate, 1):
		p.errs.Add(n.At("request-rate"), "the ramp sets the rate: leave request-rate out")
	case r.End < r.Start:
		p.errs.Add(ramp.At("end"), "the ramp falls from %g to %g, expected one that rises", r.Start, r.End)
	default:
		if err := spec.CheckArrivals(l.RequestRate, l.Burstiness, r, 0); err != nil {
			p.errs.Add(ramp.At("start"), "%v", err)
		}
	}
}

// noteHeaders lists secret headers, so that nothing shows them.
func (p *parser) noteHeaders(l *scenarios.Load) {
	for _, v := range l.Headers {
		if v.Secret {
			p.names.NoteSecret(v.Value)
			p.names.NoteSecret(strings.TrimPrefix(v.Value, "Bearer "))
		}
	}
}

// checkEarly: a pass that ends early by its own records has one client, which
// sends single requests.
func (p *parser) checkEarly(n *schema.Node, l *scenarios.Load, s *scenarios.Scenario) {
	early := n.Get("early")
	if early == nil || early.Kind != schema.Mapping || !l.Early.Active() {
		return
	}

	if l.Compat != "" {
		p.errs.Add(n.KeyAt("early"), "compat %s: that client never ends early", l.Compat)
	}
	if s.Client.Elsewhere() {
		p.errs.Add(n.KeyAt("early"), "early needs a single load client: remove early, or hosts and "+
			"agent-command under client")
	}
	if l.Dataset.Turns > 1 && len(l.Early.Until) > 0 {
		p.errs.Add(early.At("until"), "until works on single requests, but the dataset has conversations of %d turns",
			l.Dataset.Turns)
	}
	if l.NoStream && slices.ContainsFunc(l.Early.Until, func(m spec.Margin) bool { return m.Latency != "e2el" }) {
		p.errs.Add(early.At("until"), "stream: false gives no ttft or tpot: use percentiles of e2el")
	}
	if err := spec.CheckEarly(l.Early, l.RequestRate, l.Ramp); err != nil {
		p.errs.Add(early.At("overload"), "%v", err)
	}
}
