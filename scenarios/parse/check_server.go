package parse

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// finishServer checks what one key means for another, makes paths absolute
// and notes secrets.
func (p *parser) finishServer(n *schema.Node, sv *scenarios.Server, defaults map[string]string, s *scenarios.Scenario) {
	p.noteSecrets(n, sv)
	if sv.Launcher == "" {
		if !n.Has("launcher") && !p.serverBroken {
			p.errs.Add(n.Pos, "launcher is missing, expected %s, here or in server:",
				schema.EnumOf(scenarios.Launchers()...).Words())
		}
		return
	}

	kind := sv.Kind()
	if kind.External {
		p.checkExternal(n, defaults)
	} else {
		p.forbid(n, "this is for launcher external", "base-url", "unix-socket", "tls")
		delete(defaults, "tls.insecure")
	}

	if kind.WholeArgv {
		if !n.Has("command") {
			p.errs.Add(n.Pos, "launcher command needs command: [program, argument, ...]")
		}
		p.forbid(n, "launcher command has its argv in command:", "binary", "args")
	} else {
		p.forbid(n, "this is for launcher command", "command")
		if ready := n.Get("ready"); ready != nil {
			p.forbid(ready, "this is for launcher command", "log")
		}
	}

	if kind.AnyEngine() {
		if sv.API == "" && !n.Has("api") {
			sv.API = engines.OpenAI
			defaults["api"] = engines.OpenAI
		}
	} else {
		p.forbid(n, "launcher "+sv.Launcher+" knows its server's dialect; this is for launchers command and external",
			"api")
	}

	p.finishContainer(n, sv, defaults)
	p.noteSecretTexts(n.Get("smoke"))
	if !s.RunsProgram() { // see checkMethod
		p.checkModel(n, sv)
	}
	if len(sv.GPUs.List) > 0 && sv.Replicas > len(sv.GPUs.List) {
		p.errs.Add(n.At("gpus"), "gpus lists %d devices for %d replicas, which need one each", len(sv.GPUs.List),
			sv.Replicas)
	}
	if sv.Port > 0 && sv.Port+sv.Replicas-1 > 65535 {
		p.errs.Add(n.At("port"), "port %d leaves no room for %d replicas below 65536", sv.Port, sv.Replicas)
	}

	p.checkNodes(n, sv, s)
	p.serverPaths(n, sv, s)
}

// meetingPort is how far above the API's port the nodes of a server meet.
const meetingPort = 10

// spanning are the launchers whose servers can lie over several nodes.
func spanning() []string {
	return slices.DeleteFunc(scenarios.Launchers(), func(name string) bool { return !spansNodes(name) })
}

func spansNodes(launcher string) bool {
	kind, _ := engines.Lookup(launcher)
	return kind.Companions != nil
}

// checkNodes reports what cannot be combined with a server over several nodes.
func (p *parser) checkNodes(n *schema.Node, sv *scenarios.Server, s *scenarios.Scenario) {
	if strings.ContainsAny(sv.Interface, " \t,=") {
		p.errs.Add(n.KeyAt("interface"),
			"interface is %q, expected the name of a network interface, such as hsn0, or a "+
				"network, such as 10.1.0.0/16", sv.Interface)
	}
	if container.Options(sv.Container).JobStep() && s.On != scenarios.OnSlurm {
		p.errs.Add(n.KeyAt("container"), "container: engine pyxis needs on: slurm, since srun enters the image "+
			"(bench run --on slurm)")
	}
	if sv.Nodes < 2 {
		return
	}

	at := n.KeyAt("nodes")
	switch {
	case !spansNodes(sv.Launcher):
		p.errs.Add(at, "nodes is for launchers %s, not %s", strings.Join(spanning(), " and "), sv.Launcher)
	case !s.Method.SendsRequests():
		p.errs.Add(at, "nodes cannot be combined with method %s", s.Method)
	case sv.Replicas > 1:
		p.errs.Add(at, "nodes cannot be combined with replicas: %d: make each replica a run of its own", sv.Replicas)
	case sv.Container.Network != "" && sv.Container.Network != "host":
		p.errs.Add(n.Get("container").At("network"), "network is %q: the nodes of a server reach each other in the "+
			"machines' own network: leave it out", sv.Container.Network)
	case len(sv.GPUs.List) > 0:
		p.errs.Add(n.KeyAt("gpus"), "gpus lists devices of one machine: with nodes: %d give the number of each node's",
			sv.Nodes)
	case s.On != scenarios.OnSlurm:
		p.errs.Add(at, "nodes: %d needs on: slurm, since its nodes are those of a Slurm job (bench run --on slurm)",
			sv.Nodes)
	case sv.Port+meetingPort > 65535:
		p.errs.Add(n.At("port"), "port %d leaves no room below 65536 for the one at which the nodes meet, %d above it",
			sv.Port, meetingPort)
	}
}

// forbid reports keys that make no sense beside others.
func (p *parser) forbid(n *schema.Node, why string, keys ...string) {
	for _, key := range keys {
		v := n.Get(key)
		if v == nil || v.Kind == schema.Null || v.Kind == schema.Broken {
			continue
		}
		if v.Kind != schema.Mapping || len(v.Pairs) > 0 {
			p.errs.Add(n.KeyAt(key), "%s is not allowed here: %s", key, why)
		}
	}
}

func (p *parser) checkExternal(n *schema.Node, defaults map[string]string) {
	if !n.Has("base-url") {
		p.errs.Add(n.Pos, "launcher external needs base-url, such as http://127.0.0.1:8000")
	}
	p.forbid(n, "an external server is already running and never started by bench",
		"binary", "args", "env", "gpus", "replicas", "nodes", "host", "port", "work-dir", "stop", "container")
	for _, key := range []string{"host", "replicas"} {
		delete(defaults, key) // of no meaning here
	}
	if tls := n.Get("tls"); tls != nil && tls.Has("ca") && tls.Has("insecure") {
		p.errs.Add(tls.At("insecure"), "ca and insecure exclude each other: insecure asks no authority")
	}
}

// checkModel reports launchers that cannot do without a model.
func (p *parser) checkModel(n *schema.Node, sv *scenarios.Server) {
	if n.Has("model") || p.serverBroken {
		return
	}
	kind := sv.Kind()
	names := func(a scenarios.Arg) bool { return slices.Contains(kind.ModelArgs, scenarios.ArgName(a.Name)) }
	switch {
	case kind.NeedsModel && len(kind.ModelArgs) == 0:
		p.errs.Add(n.Pos, "model is missing, launcher %s needs it", sv.Launcher)
	case kind.NeedsModel && !slices.ContainsFunc(sv.Args, names):
		p.errs.Add(n.Pos, "model is missing, launcher %s needs it, or args %s", sv.Launcher, "hf-repo or model-url")
	case kind.AnyEngine() && !n.Has("served-name"):
		p.errs.Add(n.Pos, "model is missing: launcher %s needs the model name in requests: set model or served-name",
			sv.Launcher)
	}
}

// noteSecrets lists the secret values of a server, so that nothing shows them.
func (p *parser) noteSecrets(n *schema.Node, sv *scenarios.Server) {
	for _, v := range sv.Env {
		if v.Secret {
			p.names.NoteSecret(v.Value)
		}
	}

	p.names.NoteSecret(sv.APIKey.Value)
	if key := n.Get("api-key"); key != nil && key.Kind == schema.Text && !key.Secret &&
		len(key.Text) >= scenarios.MinSecret {
		p.warn(key.Pos, "api-key is written in the file itself, which is kept with the results: write ${env:NAME}")
	}

	args := n.Get("args")
	if args == nil {
		return
	}

	for _, pr := range args.Pairs {
		if secrets.IsName(pr.Key) && pr.Value.Scalar() {
			p.names.NoteSecret(pr.Value.Text)
		}
		pr.Value.Flatten("", func(_ string, v *schema.Node) {
			if v.Secret && v.Scalar() {
				p.names.NoteSecret(v.Text)
			}
		})
	}
}

// localModel reports whether a model names a file or folder of this machine, and
// where it is.
func (p *parser) localModel(launcher, model string) (path string, local bool) {
	kind, _ := engines.Lookup(launcher)
	switch {
	case model == "" || !kind.LocalModel:
		return model, false
	case strings.HasSuffix(model, ".gguf") || strings.HasPrefix(model, "/") ||
		strings.HasPrefix(model, "./") || strings.HasPrefix(model, "../"):
		return p.abs(model), true
	case p.opts.Exists(p.abs(model)):
		return p.abs(model), true
	}
	return model, false
}
