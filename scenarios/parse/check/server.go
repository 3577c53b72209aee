package check

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// Server checks the settings of a server that were decoded from n, makes their paths
// absolute, and sets the defaults that depend on other keys.
func Server(f *File, n *schema.Node, sv *scenarios.Server, defaults map[string]string) {
	(&serverCheck{f, n, sv, defaults}).run()
}

// serverCheck checks one server.
type serverCheck struct {
	*File
	n        *schema.Node
	sv       *scenarios.Server
	defaults map[string]string
}

func (c *serverCheck) run() {
	c.noteSecrets()
	if c.sv.Launcher == "" {
		if !c.n.Has("launcher") && !c.ServerBroken {
			c.errorf(c.n.Pos, "launcher is missing, expected %s, here or in server:",
				schema.EnumOf(scenarios.Launchers()...).Words())
		}
		return
	}

	kind := c.sv.Kind()
	if kind.External {
		c.checkExternal()
	} else {
		c.forbid(c.n, "this is for launcher external", "base-url", "unix-socket", "tls")
		delete(c.defaults, "tls.insecure")
	}

	if kind.WholeArgv {
		if !c.n.Has("command") {
			c.errorf(c.n.Pos, "launcher command needs command: [program, argument, ...]")
		}
		c.forbid(c.n, "launcher command has its argv in command:", "binary", "args")
	} else {
		c.forbid(c.n, "this is for launcher command", "command")
		if ready := c.n.Get("ready"); ready != nil {
			c.forbid(ready, "this is for launcher command", "log")
		}
	}

	if kind.AnyEngine() {
		if c.sv.API == "" && !c.n.Has("api") {
			c.sv.API = engines.OpenAI
			c.defaults["api"] = engines.OpenAI
		}
	} else {
		c.forbid(c.n, "launcher "+c.sv.Launcher+" knows its server's dialect; this is for launchers command and "+
			"external", "api")
	}

	c.checkContainer()
	c.SecretTexts(c.n.Get("smoke"))
	if !c.Scenario.RunsProgram() { // see scenarioCheck.checkProgram
		c.checkModel()
	}
	if len(c.sv.GPUs.List) > 0 && c.sv.Replicas > len(c.sv.GPUs.List) {
		c.errorf(c.n.At("gpus"), "gpus lists %d devices for %d replicas, which need one each", len(c.sv.GPUs.List),
			c.sv.Replicas)
	}
	if c.sv.Port > 0 && c.sv.Port+c.sv.Replicas-1 > 65535 {
		c.errorf(c.n.At("port"), "port %d leaves no room for %d replicas below 65536", c.sv.Port, c.sv.Replicas)
	}

	c.checkNodes()
	c.resolvePaths()
}

// meetingPort is how far above the API's port the nodes of a server meet.
const meetingPort = 10

// spanning are the launchers whose servers can extend over several nodes.
func spanning() []string {
	return slices.DeleteFunc(scenarios.Launchers(), func(name string) bool { return !spansNodes(name) })
}

func spansNodes(launcher string) bool {
	kind, _ := engines.Lookup(launcher)
	return kind.Companions != nil
}

// checkNodes reports what cannot be combined with a server over several nodes.
func (c *serverCheck) checkNodes() {
	s := c.Scenario
	if strings.ContainsAny(c.sv.Interface, " \t,=") {
		c.errorf(c.n.KeyAt("interface"),
			"interface is %q, expected the name of a network interface, such as hsn0, or a "+
				"network, such as 10.1.0.0/16", c.sv.Interface)
	}
	if container.Options(c.sv.Container).JobStep() && s.On != scenarios.OnSlurm {
		c.errorf(c.n.KeyAt("container"), "container: engine pyxis needs on: slurm, since srun enters the image "+
			"(bench run --on slurm)")
	}
	if c.sv.Nodes < 2 {
		return
	}

	at := c.n.KeyAt("nodes")
	switch {
	case !spansNodes(c.sv.Launcher):
		c.errorf(at, "nodes is for launchers %s, not %s", strings.Join(spanning(), " and "), c.sv.Launcher)
	case !s.Method.SendsRequests():
		c.errorf(at, "nodes cannot be combined with method %s", s.Method)
	case c.sv.Replicas > 1:
		c.errorf(at, "nodes cannot be combined with replicas: %d: make each replica a run of its own", c.sv.Replicas)
	case c.sv.Container.Network != "" && c.sv.Container.Network != "host":
		c.errorf(c.n.Get("container").At("network"), "network is %q: the nodes of a server reach each other in the "+
			"machines' own network: leave it out", c.sv.Container.Network)
	case len(c.sv.GPUs.List) > 0:
		c.errorf(c.n.KeyAt("gpus"), "gpus lists devices of one machine: with nodes: %d give the number of each node's",
			c.sv.Nodes)
	case s.On != scenarios.OnSlurm:
		c.errorf(at, "nodes: %d needs on: slurm, since its nodes are those of a Slurm job (bench run --on slurm)",
			c.sv.Nodes)
	case c.sv.Port+meetingPort > 65535:
		c.errorf(c.n.At("port"), "port %d leaves no room below 65536 for the one at which the nodes meet, %d above it",
			c.sv.Port, meetingPort)
	}
}

func (c *serverCheck) checkExternal() {
	if !c.n.Has("base-url") {
		c.errorf(c.n.Pos, "launcher external needs base-url, such as http://127.0.0.1:8000")
	}
	c.forbid(c.n, "an external server is already running and never started by bench",
		"binary", "args", "env", "gpus", "replicas", "nodes", "host", "port", "work-dir", "stop", "container")
	for _, key := range []string{"host", "replicas"} {
		delete(c.defaults, key) // of no meaning here
	}
	if tls := c.n.Get("tls"); tls != nil && tls.Has("ca") && tls.Has("insecure") {
		c.errorf(tls.At("insecure"), "ca and insecure exclude each other: insecure asks no authority")
	}
}

// checkModel reports launchers that cannot do without a model.
func (c *serverCheck) checkModel() {
	if c.n.Has("model") || c.ServerBroken {
		return
	}
	kind := c.sv.Kind()
	names := func(a scenarios.Arg) bool { return slices.Contains(kind.Args.Model, scenarios.ArgName(a.Name)) }
	switch {
	case kind.NeedsModel && len(kind.Args.Model) == 0:
		c.errorf(c.n.Pos, "model is missing, launcher %s needs it", c.sv.Launcher)
	case kind.NeedsModel && !slices.ContainsFunc(c.sv.Args, names):
		c.errorf(c.n.Pos, "model is missing, launcher %s needs it, or args %s", c.sv.Launcher, "hf-repo or model-url")
	case kind.AnyEngine() && !c.n.Has("served-name"):
		c.errorf(c.n.Pos, "model is missing: launcher %s needs the model name in requests: set model or served-name",
			c.sv.Launcher)
	}
}

// noteSecrets lists the secret values of a server, so that nothing shows them.
func (c *serverCheck) noteSecrets() {
	c.secretValues(c.sv.Env)
	c.Secret(c.sv.APIKey.Value)
	if key := c.n.Get("api-key"); key != nil && key.Kind == schema.Text && !key.Secret &&
		len(key.Text) >= scenarios.MinSecret {
		c.Warnf(key.Pos, "api-key is written in the file itself, which is kept with the results: write ${env:NAME}")
	}

	args := c.n.Get("args")
	if args == nil {
		return
	}

	for _, pr := range args.Pairs {
		if secrets.IsName(pr.Key) && pr.Value.Scalar() {
			c.Secret(pr.Value.Text)
		}
		c.SecretTexts(pr.Value)
	}
}

// localModel reports whether the model names a file or folder of this machine, and
// where it is.
func (c *serverCheck) localModel() (path string, local bool) {
	kind, model := c.sv.Kind(), c.sv.Model
	switch {
	case model == "" || !kind.LocalModel:
		return model, false
	case strings.HasSuffix(model, ".gguf") || strings.HasPrefix(model, "/") ||
		strings.HasPrefix(model, "./") || strings.HasPrefix(model, "../"):
		return c.abs(model), true
	case c.Exists(c.abs(model)):
		return c.abs(model), true
	}
	return model, false
}
