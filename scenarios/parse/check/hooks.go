package check

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// Hooks checks the hooks of a variant, which were decoded from n.
func Hooks(f *File, n *schema.Node, hooks *scenarios.Hooks, defaults map[string]string) {
	(&hookCheck{f, defaults}).checkHooks(n, "hooks", hooks)
}

// hookCheck checks hooks, and checks of the machine, which can stand within hooks.
type hookCheck struct {
	*File
	defaults map[string]string
}

// checkHooks checks the hooks of one level. path is that of the level, for its
// defaults.
func (c *hookCheck) checkHooks(n *schema.Node, path string, hooks *scenarios.Hooks) {
	for i := range hooks.Before {
		at := path + ".before." + strconv.Itoa(i)
		c.checkHook(entry(n.Get("before"), i), at, &hooks.Before[i])
	}
	for i := range hooks.After {
		at := path + ".after." + strconv.Itoa(i)
		h := entry(n.Get("after"), i)
		c.forbid(h, "use it only under before:", "undo", "on-failure")
		c.checkHook(h, at, &hooks.After[i])
	}
}

func (c *hookCheck) checkHook(n *schema.Node, path string, h *scenarios.Hook) {
	given := 0
	for _, key := range []string{"command", "http", "check"} {
		if v := n.Get(key); v != nil && v.Kind != schema.Null {
			given++
		}
	}

	if given != 1 {
		c.errorf(n.Pos, "a hook has %d of command, http and check, expected exactly one", given)
		return
	}

	c.hookPaths(n, h)
	if n.Has("http") {
		c.checkHTTP(n.Get("http"), &h.HTTP)
	}
	if n.Has("check") {
		h.Check.Refuse = h.Refuse
		c.checkCheck(n.Get("check"), &h.Check)
		c.forbid(n, "a check changes nothing", "undo")
	}

	if h.Name == "" {
		h.Name = hookName(*h)
		c.defaults[path+".name"] = h.Name
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

// hookPaths: a program with a slash is relative to the scenario file.
func (c *hookCheck) hookPaths(n *schema.Node, h *scenarios.Hook) {
	for key, argv := range map[string][]string{"command": h.Command, "undo": h.Undo} {
		c.programPath(n, key, "hook", argv)
	}
}

func (c *hookCheck) checkHTTP(n *schema.Node, h *scenarios.HTTPCall) {
	if !n.Has("url") && n.Kind == schema.Mapping {
		c.errorf(n.Pos, "http.url is missing")
	}
	if h.Method == "" {
		h.Method = "GET"
		if h.Body != "" {
			h.Method = "POST"
		}
	}

	c.secretURL(h.URL)
	c.secretValues(h.Headers)
}

// checkCheck: each kind of check has keys of its own.
func (c *hookCheck) checkCheck(n *schema.Node, check *scenarios.Check) {
	if n.Kind != schema.Mapping {
		return
	}
	if !n.Has("kind") {
		c.errorf(n.Pos, "kind is missing, expected %s", schema.EnumOf(scenarios.CheckKinds()...).Words())
		return
	}

	need := func(keys ...string) {
		for _, key := range keys {
			if !n.Has(key) {
				c.errorf(n.Pos, "a check of kind %s needs %s", check.Kind, key)
			}
		}
	}

	forbid := func(keys ...string) { c.forbid(n, "a check of kind "+check.Kind+" has none", keys...) }
	switch check.Kind {
	case "kernel-parameter":
		need("name")
		forbid("command")
	case "governor", "numa-balancing":
		if check.Want == "" {
			check.Want = map[string]string{"governor": "performance", "numa-balancing": "0"}[check.Kind]
		}
		forbid("name", "command")
	case "power-limit":
		need("want")
		forbid("name", "command")
		c.checkWatts(n, check)
	case "free-vram", "free-disk":
		need("want")
		forbid("command")
		c.checkSize(n, check)
	case "file":
		need("name", "want")
		forbid("command")
	case "command":
		need("command")
		forbid("name", "want")
		c.programPath(n, "command", "check", check.Argv)
	}

	if check.Name != "" && (check.Kind == "file" || check.Kind == "free-disk") {
		c.noTilde(n, "name")
		check.Name = c.abs(check.Name)
	}
}

func (c *hookCheck) checkWatts(n *schema.Node, check *scenarios.Check) {
	watts, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(check.Want, "W")), 64)
	if n.Has("want") && (err != nil || !(watts > 0 && watts <= 1e5)) {
		c.errorf(n.At("want"), "want is %s, expected watts such as 300", n.Get("want").Shown())
		return
	}
	if n.Has("want") {
		check.Want = strconv.FormatFloat(watts, 'g', -1, 64)
	}
}

func (c *hookCheck) checkSize(n *schema.Node, check *scenarios.Check) {
	if bytes, ok := schema.ParseSize(check.Want); n.Has("want") && (!ok || bytes == 0) {
		c.errorf(n.At("want"), "want is %s, expected %s", n.Get("want").Shown(),
			schema.Simple(schema.SizeShape).Words())
	}
	if check.Kind == "free-vram" {
		c.forbid(n, "a check of kind free-vram looks at every GPU", "name")
	}
}
