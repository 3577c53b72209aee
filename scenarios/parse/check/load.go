package check

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/parse/keys"
	"github.com/benchrig/bench/scenarios/schema"
)

// Load checks a load point, or a class of one, that was decoded from n, and sets the
// defaults that depend on other keys. valid says that every key by itself is right;
// else only that is checked which holds whatever the others are.
func Load(f *File, n *schema.Node, l *scenarios.Load, defaults map[string]string, valid bool) {
	newLoadCheck(f, n, l, defaults).run(valid)
}

// loadCheck checks one load point or class.
type loadCheck struct {
	*File
	n, data  *schema.Node // load and its dataset
	l        *scenarios.Load
	defaults map[string]string
}

func newLoadCheck(f *File, n *schema.Node, l *scenarios.Load, defaults map[string]string) *loadCheck {
	data := n.Get("dataset")
	if data == nil || data.Kind != schema.Mapping {
		data = schema.EmptyMapping(n.At("dataset"))
	}
	return &loadCheck{f, n, data, l, defaults}
}

func (c *loadCheck) run(valid bool) {
	c.secretValues(c.l.Headers)
	c.setAPI()
	addPriority(c.l)
	c.setDataset()
	c.setDefaults()
	if kind := c.data.Get("kind"); valid || kind == nil || kind.Text == c.l.Dataset.Kind {
		c.forbidForeign(keys.DatasetNamed(c.l.Dataset.Kind))
	}
	if !valid {
		return
	}

	if len(c.l.Classes) == 0 {
		c.checkDataset()
	} else {
		c.checkTokenizer()
	}
	c.checkPacing()
	c.checkProbes()
	c.checkEarly()
	c.checkCompat()
	c.checkTools()
}

// setDefaults drops the defaults of keys that mean nothing beside the others.
func (c *loadCheck) setDefaults() {
	random := keys.DatasetNamed(c.l.Dataset.Kind).Random
	if !c.n.Has("ignore-eos") {
		c.l.IgnoreEOS = random && !c.n.Has("tools") // what follows a call is no part of it
		c.defaults["ignore-eos"] = strconv.FormatBool(c.l.IgnoreEOS)
	}

	if c.l.Duration == 0 {
		delete(c.defaults, "timeouts.drain")
	}
	if len(c.l.Stages) > 0 {
		delete(c.defaults, "duration")
		delete(c.defaults, "request-rate")
	}
	if !c.n.Has("early") {
		delete(c.defaults, "early.overload")
	}

	if c.l.Dataset.Turns <= 1 && c.l.Dataset.Kind != "sessions" {
		delete(c.defaults, "think-time")
	}
	if !replays(c.l) {
		delete(c.defaults, "replay-speed")
	}
}

// checkTools: an API must be able to carry tools.
func (c *loadCheck) checkTools() {
	if len(c.l.Tools) == 0 {
		return
	}
	if api := apiOf(c.l); api.Name != "" && !api.Tools {
		c.errorf(c.n.KeyAt("tools"), "tools: the %s API takes none: use endpoint chat, responses or messages", c.l.API)
	}
	if c.l.Compat != "" {
		c.errorf(c.n.KeyAt("tools"), "tools: compat %s sends only what that client does", c.l.Compat)
	}
}

// setAPI works out which API the endpoint takes.
func (c *loadCheck) setAPI() {
	implied, fixed := "completions", false
	if strings.Contains(c.l.Endpoint, "chat") {
		implied = "chat"
	}

	for _, a := range dialect.APIs() {
		if c.l.Endpoint == a.DefaultPath {
			implied, fixed = a.Name, true
		}
	}

	switch {
	case !c.n.Has("api"):
		c.l.API = implied
		c.defaults["api"] = implied
	case fixed && c.l.API != "" && c.l.API != implied:
		c.errorf(c.n.At("api"), "api is %q, but endpoint %s takes %s bodies", c.l.API, c.l.Endpoint, implied)
	}
}

// checkCompat: a version of vLLM's client is followed in all or not at all.
func (c *loadCheck) checkCompat() {
	if c.l.Compat == "" {
		return
	}

	known := []string{"completions", "chat"}
	if c.l.Compat != "vllm" {
		known = append(known, "tgi")
	}
	if !slices.Contains(known, c.l.API) {
		c.errorf(c.n.At("compat"), "compat %s: that client has no %s API", c.l.Compat, c.l.API)
	}
	if c.l.NoStream {
		c.errorf(c.n.At("stream"), "compat %s: that client always streams", c.l.Compat)
	}
	if len(c.l.Kinds()) > 0 {
		c.errorf(c.n.At("compat"), "compat %s: that client's requests are all alike: leave classes and lora out",
			c.l.Compat)
	}
	if len(c.l.Stages) > 0 {
		c.errorf(c.n.At("stages"), "compat %s: that client has no stages", c.l.Compat)
	} else if c.l.Duration > 0 {
		c.errorf(c.n.At("duration"), "compat %s: that client sends each prompt once", c.l.Compat)
	}
}

func (c *loadCheck) checkPacing() {
	talks := c.l.Dataset.Turns > 1 || slices.Contains([]string{"sessions", "frozen"}, c.l.Dataset.Kind)
	if c.n.Has("think-time") && !talks {
		c.errorf(c.n.KeyAt("think-time"), "think-time needs a dataset with turns")
	}
	if c.n.Has("replay-speed") && !replays(c.l) {
		c.errorf(c.n.KeyAt("replay-speed"), "replay-speed is for the times of dataset trace, sessions or burstgpt, "+
			"without request-rate")
	}
	if timeouts := c.n.Get("timeouts"); timeouts != nil && timeouts.Has("drain") && c.l.Duration == 0 {
		c.errorf(timeouts.KeyAt("drain"), "drain needs duration: without one every request has its time")
	}
	staged := len(c.l.Stages) > 0 && c.l.Stages[0].RequestRate != nil
	if c.n.Has("burstiness") && math.IsInf(c.l.RequestRate, 1) && c.l.Ramp.Strategy == "" && !staged {
		c.errorf(c.n.KeyAt("burstiness"), "burstiness needs a finite request-rate, stages with rates, or a ramp")
	}

	c.checkRamp()
	if err := spec.CheckArrivals(c.l.RequestRate, c.l.Burstiness, spec.Ramp{}, c.l.Duration); err != nil {
		c.errorf(c.n.At("request-rate"), "%v", err)
	}
	if c.l.NumPrompts < c.l.MaxConcurrency {
		c.warnAlikef(c.n.At("max-concurrency"), "max-concurrency %d is never reached with num-prompts %d",
			c.l.MaxConcurrency, c.l.NumPrompts)
	}
}

// replays reports whether requests leave at the times of a recorded trace.
func replays(l *scenarios.Load) bool {
	timed := slices.Contains([]string{"trace", "sessions", "burstgpt", "frozen"}, l.Dataset.Kind) && !l.Dataset.Shuffle
	timed = timed && len(l.OfClass) == 0 && len(l.Stages) == 0
	return timed && math.IsInf(l.RequestRate, 1) && l.Ramp.Strategy == ""
}

// checkRamp: a ramp is whole, and the only word on the rate.
func (c *loadCheck) checkRamp() {
	ramp := c.n.Get("ramp")
	if ramp == nil || ramp.Kind != schema.Mapping || len(ramp.Pairs) == 0 {
		return
	}

	for _, key := range []string{"strategy", "start", "end"} {
		if !ramp.Has(key) {
			c.errorf(ramp.Pos, "ramp.%s is missing", key)
			return
		}
	}

	switch r := c.l.Ramp; {
	case c.l.Duration > 0:
		c.errorf(c.n.At("duration"), "a ramp ends with the last prompt: leave duration out")
	case !math.IsInf(c.l.RequestRate, 1):
		c.errorf(c.n.At("request-rate"), "the ramp sets the rate: leave request-rate out")
	case r.End < r.Start:
		c.errorf(ramp.At("end"), "the ramp falls from %g to %g, expected one that rises", r.Start, r.End)
	default:
		if err := spec.CheckArrivals(c.l.RequestRate, c.l.Burstiness, r, 0); err != nil {
			c.errorf(ramp.At("start"), "%v", err)
		}
	}
}

// checkEarly: a pass that ends early by its own records has one client, which
// sends single requests.
func (c *loadCheck) checkEarly() {
	early := c.n.Get("early")
	if early == nil || early.Kind != schema.Mapping || !c.l.Early.Active() {
		return
	}

	if c.l.Compat != "" {
		c.errorf(c.n.KeyAt("early"), "compat %s: that client never ends early", c.l.Compat)
	}
	if c.Scenario.Client.Elsewhere() {
		c.errorf(c.n.KeyAt("early"), "early needs a single load client: remove early, or hosts and "+
			"agent-command under client")
	}
	if c.l.Dataset.Turns > 1 && len(c.l.Early.Until) > 0 {
		c.errorf(early.At("until"), "until works on single requests, but the dataset has conversations of %d turns",
			c.l.Dataset.Turns)
	}
	if c.l.NoStream && slices.ContainsFunc(c.l.Early.Until, func(m spec.Margin) bool { return m.Latency != "e2el" }) {
		c.errorf(early.At("until"), "stream: false gives no ttft or tpot: use percentiles of e2el")
	}
	if err := spec.CheckEarly(c.l.Early, c.l.RequestRate, c.l.Ramp); err != nil {
		c.errorf(early.At("overload"), "%v", err)
	}
}

// Class refuses what only a whole load can have, in a class that was decoded from item.
func Class(f *File, item *schema.Node, l *scenarios.Load) {
	if data := item.Get("dataset"); data != nil && data.Kind == schema.Mapping {
		f.forbid(data, "it is the same for all classes, under load.dataset", "tokenizer", "vary")
	}
	if l.ContextReserve > 0 {
		f.errorf(item.At("input-len"), "input-len of a class is a number of tokens: max-model-len is for loads "+
			"without classes")
	}
}

// addPriority puts the priority of requests into their body.
func addPriority(l *scenarios.Load) {
	if l.Priority == nil {
		return
	}
	body := maps.Clone(l.Body)
	if body == nil {
		body = map[string]any{}
	}
	body["priority"] = *l.Priority
	l.Body = body
}
