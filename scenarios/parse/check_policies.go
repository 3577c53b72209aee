package parse

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// finishPolicies checks what one key means for another, makes paths absolute
// and notes secrets.
func (p *parser) finishPolicies(n *schema.Node, s *scenarios.Scenario) {
	p.checkSettle(n.Get("settle"), s)
	p.checkReactions(n, s)
	p.checkEvaluation(n, s)
	for _, key := range []string{"hooks", "checks", "evaluate", "notify"} {
		p.noteSecretTexts(n.Get(key))
	}

	if hooks := n.Get("hooks"); hooks != nil {
		p.finishHooks(hooks.Get("run"), "hooks.run", &s.Hooks.Run, p.defaults, s)
		p.finishHooks(hooks.Get("variant"), "hooks.variant", &s.Hooks.Variant, p.defaults, s)
		p.finishHooks(hooks.Get("step"), "hooks.step", &s.Hooks.Step, p.defaults, s)
	}

	for i := range s.Checks {
		p.finishCheck(entry(n.Get("checks"), i), &s.Checks[i], s)
	}

	for i := range s.Notify {
		p.finishNotify(entry(n.Get("notify"), i), "notify."+strconv.Itoa(i), &s.Notify[i], s)
	}
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
func (p *parser) checkEvaluation(n *schema.Node, s *scenarios.Scenario) {
	pattern := s.Evaluation.File
	if _, err := filepath.Match(pattern, ""); pattern != "" && (err != nil || !filepath.IsLocal(pattern)) {
		p.errs.Add(n.Get("evaluate").At("file"), "file is %q, expected a pattern below BENCH_EVALUATION_DIR such as "+
			"results.json or */*.json", pattern)
	}

	switch {
	case !s.Evaluation.Given():
	case s.Method != scenarios.Serving:
		p.errs.Add(n.KeyAt("evaluate"), "evaluate: method %s measures no requests of clients", s.Method)
	case n.Has("search"):
		p.errs.Add(n.KeyAt("evaluate"), "evaluate: a search has no first load point: leave search out")
	}
}

func (p *parser) checkSettle(n *schema.Node, s *scenarios.Scenario) {
	switch {
	case n == nil || n.Kind != schema.Mapping:
		return
	case s.Settle.Timeout > 0 && !s.Settle.Asks():
		p.errs.Add(n.Pos, "settle waits for nothing: give max-temperature, power or clock")
	case s.Settle.Timeout == 0 && (n.Has("max-temperature") || n.Has("power") || n.Has("clock")) && !n.Has("timeout"):
		p.errs.Add(n.Pos, "settle needs timeout, such as 10m")
	case s.Settle.Timeout > 0 && s.Telemetry.Off:
		p.errs.Add(n.Pos, "settle needs telemetry, which is off")
	}
}

// checkReactions finds a repetition that no retry allows.
func (p *parser) checkReactions(n *schema.Node, s *scenarios.Scenario) {
	telemetry := n.Get("telemetry")
	if telemetry == nil || telemetry.Kind != schema.Mapping || s.Retries > 0 {
		return
	}
	for key, reaction := range map[string]scenarios.Reaction{
		"on-throttle": s.Telemetry.OnThrottle,
		"on-foreign":  s.Telemetry.OnForeign,
	} {
		if reaction == scenarios.ReactRepeat {
			p.warn(telemetry.At(key), "%s: repeat repeats nothing, for retries is 0", key)
		}
	}
}

// finishHooks works out what hooks leave to code. path is that of the level,
// for its defaults.
func (p *parser) finishHooks(n *schema.Node, path string, hooks *scenarios.Hooks, defaults map[string]string,
	s *scenarios.Scenario,
) {
	for i := range hooks.Before {
		at := path + ".before." + strconv.Itoa(i)
		p.finishHook(entry(n.Get("before"), i), at, &hooks.Before[i], defaults, s)
	}
	for i := range hooks.After {
		at := path + ".after." + strconv.Itoa(i)
		h := entry(n.Get("after"), i)
		p.forbid(h, "use it only under before:", "undo", "on-failure")
		p.finishHook(h, at, &hooks.After[i], defaults, s)
	}
}

func (p *parser) finishHook(n *schema.Node, path string, h *scenarios.Hook, defaults map[string]string,
	s *scenarios.Scenario,
) {
	given := 0
	for _, key := range []string{"command", "http", "check"} {
		if v := n.Get(key); v != nil && v.Kind != schema.Null {
			given++
		}
	}

	if given != 1 {
		p.errs.Add(n.Pos, "a hook has %d of command, http and check, expected exactly one", given)
		return
	}

	p.hookPaths(n, h, s)
	if n.Has("http") {
		p.finishHTTP(n.Get("http"), &h.HTTP)
	}
	if n.Has("check") {
		h.Check.Pos, h.Check.Refuse = n.At("check"), h.Refuse
		p.finishCheck(n.Get("check"), &h.Check, s)
		p.forbid(n, "a check changes nothing", "undo")
	}

	if h.Name == "" {
		h.Name = hookName(*h)
		defaults[path+".name"] = h.Name
	}
}

// hookName says what a hook runs, without arguments: they may be secrets.
func hookName(h scenarios.Hook) string {
	switch {
	case len(h.Command) > 0:
		return filepath.Base(h.Command[0])
	case h.HTTP.URL != "":
		return h.HTTP.Method + " " + hostOf(h.HTTP.URL)
	}
	return scenarios.CheckName(h.Check)
}

func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "webhook"
	}
	return u.Host
}

// hookPaths: a program with a slash lies relative to the scenario file.
func (p *parser) hookPaths(n *schema.Node, h *scenarios.Hook, s *scenarios.Scenario) {
	for key, argv := range map[string][]string{"command": h.Command, "undo": h.Undo} {
		p.programPath(n, key, "hook", argv, s)
	}
}

func (p *parser) programPath(n *schema.Node, key, what string, argv []string, s *scenarios.Scenario) {
	p.noTilde(n, key)
	if len(argv) > 0 && strings.Contains(argv[0], "/") && !strings.HasPrefix(argv[0], "~") {
		argv[0] = p.abs(argv[0])
		s.NeedFile(what, argv[0], n.At(key))
	}
}

func (p *parser) finishHTTP(n *schema.Node, h *scenarios.HTTPCall) {
	if !n.Has("url") && n.Kind == schema.Mapping {
		p.errs.Add(n.Pos, "http.url is missing")
	}
	if h.Method == "" {
		h.Method = "GET"
		if h.Body != "" {
			h.Method = "POST"
		}
	}

	p.secretURL(h.URL)
	for _, v := range h.Headers {
		if v.Secret {
			p.names.NoteSecret(v.Value)
			p.names.NoteSecret(strings.TrimPrefix(v.Value, "Bearer "))
		}
	}
}

// secretURL hides the password of an address; the whole of it is hidden where
// a secret variable was put into it.
func (p *parser) secretURL(raw string) {
	u, err := url.Parse(raw)
	if err != nil || u.User == nil {
		return
	}
	if password, ok := u.User.Password(); ok {
		p.names.NoteSecret(password)
	}
}

// noteSecretTexts lists every text that a secret variable was put into.
func (p *parser) noteSecretTexts(n *schema.Node) {
	if n == nil {
		return
	}
	if n.Secret && n.Scalar() {
		p.names.NoteSecret(n.Text)
	}
	for _, it := range n.Items {
		p.noteSecretTexts(it)
	}
	for _, pr := range n.Pairs {
		p.noteSecretTexts(pr.Value)
	}
}

// finishCheck: each kind of check has keys of its own.
func (p *parser) finishCheck(n *schema.Node, c *scenarios.Check, s *scenarios.Scenario) {
	if n.Kind != schema.Mapping {
		return
	}
	if !n.Has("kind") {
		p.errs.Add(n.Pos, "kind is missing, expected %s", schema.EnumOf(scenarios.CheckKinds()...).Words())
		return
	}

	need := func(keys ...string) {
		for _, key := range keys {
			if !n.Has(key) {
				p.errs.Add(n.Pos, "a check of kind %s needs %s", c.Kind, key)
			}
		}
	}

	forbid := func(keys ...string) { p.forbid(n, "a check of kind "+c.Kind+" has none", keys...) }
	switch c.Kind {
	case "kernel-parameter":
		need("name")
		forbid("command")
	case "governor", "numa-balancing":
		if c.Want == "" {
			c.Want = map[string]string{"governor": "performance", "numa-balancing": "0"}[c.Kind]
		}
		forbid("name", "command")
	case "power-limit":
		need("want")
		forbid("name", "command")
		p.checkWatts(n, c)
	case "free-vram", "free-disk":
		need("want")
		forbid("command")
		p.checkSize(n, c)
	case "file":
		need("name", "want")
		forbid("command")
	case "command":
		need("command")
		forbid("name", "want")
		p.programPath(n, "command", "check", c.Argv, s)
	}

	if c.Name != "" && (c.Kind == "file" || c.Kind == "free-disk") {
		p.noTilde(n, "name")
		c.Name = p.abs(c.Name)
	}
}

func (p *parser) checkWatts(n *schema.Node, c *scenarios.Check) {
	watts, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(c.Want, "W")), 64)
	if n.Has("want") && (err != nil || !(watts > 0 && watts <= 1e5)) {
		p.errs.Add(n.At("want"), "want is %s, expected watts such as 300", n.Get("want").Shown())
		return
	}
	if n.Has("want") {
		c.Want = strconv.FormatFloat(watts, 'g', -1, 64)
	}
}

func (p *parser) checkSize(n *schema.Node, c *scenarios.Check) {
	if bytes, ok := schema.ParseSize(c.Want); n.Has("want") && (!ok || bytes == 0) {
		p.errs.Add(n.At("want"), "want is %s, expected %s", n.Get("want").Shown(),
			schema.Simple(schema.SizeShape).Words())
	}
	if c.Kind == "free-vram" {
		p.forbid(n, "a check of kind free-vram looks at every GPU", "name")
	}
}

func (p *parser) finishNotify(n *schema.Node, path string, no *scenarios.Notify, s *scenarios.Scenario) {
	hook, command := n.Has("webhook"), n.Has("command")
	if hook == command {
		p.errs.Add(n.Pos, "a notification needs either webhook or command")
		return
	}
	p.names.NoteSecret(no.Webhook.Value)
	if command {
		p.forbid(n, "this is for webhook", "format")
		no.Format = ""
		delete(p.defaults, path+".format")
		p.programPath(n, "command", "notify", no.Command, s)
	}
}
