package scenarios

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// finishPolicies checks what one key means for another, makes paths absolute
// and notes secrets.
func (p *parser) finishPolicies(n *node, s *Scenario) {
	p.checkSettle(n.get("settle"), s)
	p.checkReactions(n, s)
	for _, key := range []string{"hooks", "checks", "notify"} {
		p.noteSecretTexts(n.get(key))
	}
	if hooks := n.get("hooks"); hooks != nil {
		p.finishHooks(hooks.get("run"), "hooks.run", &s.Hooks.Run, p.defaults, s)
		p.finishHooks(hooks.get("variant"), "hooks.variant", &s.Hooks.Variant, p.defaults, s)
		p.finishHooks(hooks.get("step"), "hooks.step", &s.Hooks.Step, p.defaults, s)
	}
	for i := range s.Checks {
		p.finishCheck(entry(n.get("checks"), i), &s.Checks[i], s)
	}
	for i := range s.Notify {
		p.finishNotify(entry(n.get("notify"), i), "notify."+strconv.Itoa(i), &s.Notify[i], s)
	}
}

// entry is the i-th mapping of a list: what is none has been reported, and is
// not among the values that were read.
func entry(list *node, i int) *node {
	for _, it := range list.items {
		if it.kind != mapping {
			continue
		}
		if i == 0 {
			return it
		}
		i--
	}
	return emptyMapping(list.pos)
}

func (p *parser) checkSettle(n *node, s *Scenario) {
	switch {
	case n == nil || n.kind != mapping:
		return
	case s.Settle.Timeout > 0 && !s.Settle.Asks():
		p.errs.add(n.pos, "settle waits for nothing: give max-temperature, power or clock")
	case s.Settle.Timeout == 0 && (n.has("max-temperature") || n.has("power") || n.has("clock")) && !n.has("timeout"):
		p.errs.add(n.pos, "settle needs timeout, such as 10m")
	case s.Settle.Timeout > 0 && s.Telemetry.Off:
		p.errs.add(n.pos, "settle needs telemetry, which is off")
	}
}

// checkReactions finds a repetition that no retry allows.
func (p *parser) checkReactions(n *node, s *Scenario) {
	telemetry := n.get("telemetry")
	if telemetry == nil || telemetry.kind != mapping || s.Retries > 0 {
		return
	}
	for key, reaction := range map[string]Reaction{"on-throttle": s.Telemetry.OnThrottle, "on-foreign": s.Telemetry.OnForeign} {
		if reaction == ReactRepeat {
			p.warn(telemetry.at(key), "%s: repeat repeats nothing, for retries is 0", key)
		}
	}
}

// finishHooks works out what hooks leave to code. path is that of the level,
// for its defaults.
func (p *parser) finishHooks(n *node, path string, hooks *Hooks, defaults map[string]string, s *Scenario) {
	for i := range hooks.Before {
		at := path + ".before." + strconv.Itoa(i)
		p.finishHook(entry(n.get("before"), i), at, &hooks.Before[i], defaults, s)
	}
	for i := range hooks.After {
		at := path + ".after." + strconv.Itoa(i)
		h := entry(n.get("after"), i)
		p.forbid(h, "nothing comes after it that it could be for: this is for before:", "undo", "on-failure")
		p.finishHook(h, at, &hooks.After[i], defaults, s)
	}
}

func (p *parser) finishHook(n *node, path string, h *Hook, defaults map[string]string, s *Scenario) {
	given := 0
	for _, key := range []string{"command", "http", "check"} {
		if v := n.get(key); v != nil && v.kind != null {
			given++
		}
	}
	if given != 1 {
		p.errs.add(n.pos, "a hook has %d of command, http and check, expected exactly one", given)
		return
	}
	p.hookPaths(n, h, s)
	if n.has("http") {
		p.finishHTTP(n.get("http"), &h.HTTP)
	}
	if n.has("check") {
		h.Check.Pos, h.Check.Refuse = n.at("check"), h.Refuse
		p.finishCheck(n.get("check"), &h.Check, s)
		p.forbid(n, "a check changes nothing", "undo")
	}
	if h.Name == "" {
		h.Name = hookName(*h)
		defaults[path+".name"] = h.Name
	}
}

// hookName says what a hook runs, without arguments: they may be secrets.
func hookName(h Hook) string {
	switch {
	case len(h.Command) > 0:
		return filepath.Base(h.Command[0])
	case h.HTTP.URL != "":
		return h.HTTP.Method + " " + hostOf(h.HTTP.URL)
	}
	return CheckName(h.Check)
}

func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "webhook"
	}
	return u.Host
}

// CheckName says what a check looks at and wants.
func CheckName(c Check) string {
	parts := []string{c.Kind}
	switch {
	case c.Kind == "command" && len(c.Argv) > 0:
		parts = append(parts, filepath.Base(c.Argv[0]))
	case c.Kind == "kernel-parameter" && c.Want != "":
		parts = append(parts, c.Name+"="+c.Want)
	default:
		for _, word := range []string{c.Name, c.Want} {
			if word != "" {
				parts = append(parts, word)
			}
		}
	}
	return strings.Join(parts, " ")
}

// hookPaths: a program with a slash lies relative to the scenario file.
func (p *parser) hookPaths(n *node, h *Hook, s *Scenario) {
	for key, argv := range map[string][]string{"command": h.Command, "undo": h.Undo} {
		p.programPath(n, key, "hook", argv, s)
	}
}

func (p *parser) programPath(n *node, key, what string, argv []string, s *Scenario) {
	p.noTilde(n, key)
	if len(argv) > 0 && strings.Contains(argv[0], "/") && !strings.HasPrefix(argv[0], "~") {
		argv[0] = p.abs(argv[0])
		p.need(s, what, argv[0], n.at(key))
	}
}

func (p *parser) finishHTTP(n *node, h *HTTPCall) {
	if !n.has("url") && n.kind == mapping {
		p.errs.add(n.pos, "http.url is missing")
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
			p.secret(v.Value)
			p.secret(strings.TrimPrefix(v.Value, "Bearer "))
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
		p.secret(password)
	}
}

// noteSecretTexts lists every text that a secret variable was put into.
func (p *parser) noteSecretTexts(n *node) {
	if n == nil {
		return
	}
	if n.secret && n.scalar() {
		p.secret(n.text)
	}
	for _, it := range n.items {
		p.noteSecretTexts(it)
	}
	for _, pr := range n.pairs {
		p.noteSecretTexts(pr.value)
	}
}

// finishCheck: each kind of check has keys of its own.
func (p *parser) finishCheck(n *node, c *Check, s *Scenario) {
	if n.kind != mapping {
		return
	}
	if !n.has("kind") {
		p.errs.add(n.pos, "kind is missing, expected %s", enumOf(CheckKinds()...).words())
		return
	}
	need := func(keys ...string) {
		for _, key := range keys {
			if !n.has(key) {
				p.errs.add(n.pos, "a check of kind %s needs %s", c.Kind, key)
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

func (p *parser) checkWatts(n *node, c *Check) {
	watts, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(c.Want, "W")), 64)
	if n.has("want") && (err != nil || watts <= 0 || watts > 1e5) {
		p.errs.add(n.at("want"), "want is %s, expected watts such as 300", n.get("want").shown())
		return
	}
	if n.has("want") {
		c.Want = strconv.FormatFloat(watts, 'g', -1, 64)
	}
}

func (p *parser) checkSize(n *node, c *Check) {
	if bytes, ok := parseSize(c.Want); n.has("want") && (!ok || bytes == 0) {
		p.errs.add(n.at("want"), "want is %s, expected %s", n.get("want").shown(), simple(sizeShape).words())
	}
	if c.Kind == "free-vram" {
		p.forbid(n, "a check of kind free-vram looks at every GPU", "name")
	}
}

// Bytes is the size that a check of free memory or disk wants.
func (c Check) Bytes() int64 {
	bytes, _ := parseSize(c.Want)
	return bytes
}

func (p *parser) finishNotify(n *node, path string, no *Notify, s *Scenario) {
	hook, command := n.has("webhook"), n.has("command")
	if hook == command {
		p.errs.add(n.pos, "a notification needs either webhook or command")
		return
	}
	p.secret(no.Webhook.Value)
	if command {
		p.forbid(n, "this is for webhook", "format")
		no.Format = ""
		delete(p.defaults, path+".format")
		p.programPath(n, "command", "notify", no.Command, s)
	}
}

// hideSecretUses hides variables that turned out to be secrets by the key
// that they were used for.
func (p *parser) hideSecretUses() {
	for name, use := range p.envUsed {
		if !use.Secret && p.secrets[use.Value] {
			p.envUsed[name] = EnvUse{Name: name, Value: hidden, Secret: true}
		}
	}
}
