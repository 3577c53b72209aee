package check

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// Top checks the keys at the top level of a scenario, which were decoded
// from n: policies, hooks, checks, notifications, the program of a method.
func Top(f *File, n *schema.Node, defaults map[string]string) {
	(&topCheck{hookCheck{f, defaults}, n}).run()
}

// topCheck checks the keys at the top level.
type topCheck struct {
	hookCheck
	n *schema.Node
}

func (c *topCheck) run() {
	s := c.Scenario
	c.checkSettle(c.n.Get("settle"))
	c.checkReactions()
	c.checkEvaluation()
	for _, key := range []string{"hooks", "checks", "evaluate", "notify"} {
		c.SecretTexts(c.n.Get(key))
	}

	if hooks := c.n.Get("hooks"); hooks != nil {
		c.checkHooks(hooks.Get("run"), "hooks.run", &s.Hooks.Run)
		c.checkHooks(hooks.Get("variant"), "hooks.variant", &s.Hooks.Variant)
		c.checkHooks(hooks.Get("step"), "hooks.step", &s.Hooks.Step)
	}

	for i := range s.Checks {
		c.checkCheck(entry(c.n.Get("checks"), i), &s.Checks[i])
	}

	for i := range s.Notify {
		c.checkNotify(entry(c.n.Get("notify"), i), "notify."+strconv.Itoa(i), &s.Notify[i])
	}
	c.checkProgram(c.n.Get(string(s.Method)))
}

// entry is the i-th mapping of a list: what is not a mapping has been reported, and is
// not among the values that were read.
func entry(list *schema.Node, i int) *schema.Node {
	for _, it := range list.Items {
		if it.Kind != schema.Mapping {
			continue
		}
		if i == 0 {
			return it
		}
		i--
	}
	return schema.EmptyMapping(list.Pos)
}

// checkEvaluation: the command belongs to steps with one pass at planned points.
func (c *topCheck) checkEvaluation() {
	s := c.Scenario
	pattern := s.Evaluation.File
	if _, err := filepath.Match(pattern, ""); pattern != "" && (err != nil || !filepath.IsLocal(pattern)) {
		c.errorf(c.n.Get("evaluate").At("file"), "file is %q, expected a pattern below BENCH_EVALUATION_DIR such as "+
			"results.json or */*.json", pattern)
	}

	switch {
	case !s.Evaluation.Given():
	case s.Method != scenarios.Serving:
		c.errorf(c.n.KeyAt("evaluate"), "evaluate: method %s measures no requests of clients", s.Method)
	case c.n.Has("search"):
		c.errorf(c.n.KeyAt("evaluate"), "evaluate: a search has no first load point: leave search out")
	}
}

func (c *topCheck) checkSettle(n *schema.Node) {
	s := c.Scenario
	switch {
	case n == nil || n.Kind != schema.Mapping:
		return
	case s.Settle.Timeout > 0 && !s.Settle.Asks():
		c.errorf(n.Pos, "settle waits for nothing: give max-temperature, power or clock")
	case s.Settle.Timeout == 0 && (n.Has("max-temperature") || n.Has("power") || n.Has("clock")) && !n.Has("timeout"):
		c.errorf(n.Pos, "settle needs timeout, such as 10m")
	case s.Settle.Timeout > 0 && s.Telemetry.Off:
		c.errorf(n.Pos, "settle needs telemetry, which is off")
	}
}

// checkReactions finds a repetition that no retry allows.
func (c *topCheck) checkReactions() {
	telemetry := c.n.Get("telemetry")
	if telemetry == nil || telemetry.Kind != schema.Mapping || c.Scenario.Retries > 0 {
		return
	}
	for key, reaction := range map[string]scenarios.Reaction{
		"on-throttle": c.Scenario.Telemetry.OnThrottle,
		"on-foreign":  c.Scenario.Telemetry.OnForeign,
	} {
		if reaction == scenarios.ReactRepeat {
			c.Warnf(telemetry.At(key), "%s: repeat repeats nothing, for retries is 0", key)
		}
	}
}

func (c *topCheck) checkNotify(n *schema.Node, path string, no *scenarios.Notify) {
	hook, command := n.Has("webhook"), n.Has("command")
	if hook == command {
		c.errorf(n.Pos, "a notification needs either webhook or command")
		return
	}
	c.Secret(no.Webhook.Value)
	if command {
		c.forbid(n, "this is for webhook", "format")
		no.Format = ""
		delete(c.defaults, path+".format")
		c.programPath(n, "command", "notify", no.Command)
	}
}

// checkProgram makes the paths of a program's block absolute.
func (c *topCheck) checkProgram(n *schema.Node) {
	s := c.Scenario
	if n == nil || n.Kind != schema.Mapping || !s.RunsProgram() {
		return
	}

	run := &s.Program
	c.noTilde(n, "binary")
	if len(run.Binary) > 0 && strings.Contains(run.Binary[0], "/") {
		run.Binary[0] = c.abs(run.Binary[0])
		s.NeedFile(string(s.Method)+".binary", run.Binary[0], n.At("binary"))
	}

	for i, model := range run.Models {
		c.noTilde(n.Get("models"), "")
		run.Models[i] = c.abs(model)
		s.NeedFile("model", run.Models[i], n.At("models"))
	}
}
