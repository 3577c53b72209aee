package scenarios

import (
	"slices"
	"strings"
)

// finishServer checks what one key means for another, makes paths absolute
// and notes secrets.
func (p *parser) finishServer(n *node, sv *Server, defaults map[string]string, s *Scenario) {
	p.noteSecrets(n, sv)
	if sv.Launcher == "" {
		if !n.has("launcher") && !p.serverBroken {
			p.errs.add(n.pos, "launcher is missing, expected %s, here or in server:", enumOf(Launchers()...).words())
		}
		return
	}
	switch sv.Launcher {
	case "external":
		p.checkExternal(n, defaults)
	case "command":
		if !n.has("command") {
			p.errs.add(n.pos, "launcher command needs command: [program, argument, ...]")
		}
		p.forbid(n, "launcher command has its argv in command:", "binary", "args")
	}
	if sv.Launcher == "command" || sv.Launcher == "external" {
		if sv.API == "" && !n.has("api") {
			sv.API = "openai"
			defaults["api"] = "openai"
		}
	} else {
		p.forbid(n, "launcher "+sv.Launcher+" knows its server's dialect; this is for launchers command and external", "api")
	}
	if sv.Launcher != "command" {
		p.forbid(n, "this is for launcher command", "command")
		if ready := n.get("ready"); ready != nil {
			p.forbid(ready, "this is for launcher command", "log")
		}
	}
	if sv.Launcher != "external" {
		p.forbid(n, "this is for launcher external", "base-url", "unix-socket", "tls")
		delete(defaults, "tls.insecure")
	}
	p.finishContainer(n, sv, defaults)
	p.noteSecretTexts(n.get("smoke"))
	if s.Method != LlamaBench { // see checkMethod
		p.checkModel(n, sv)
	}
	if len(sv.GPUs.List) > 0 && sv.Replicas > len(sv.GPUs.List) {
		p.errs.add(n.at("gpus"), "gpus lists %d devices for %d replicas, which need one each", len(sv.GPUs.List), sv.Replicas)
	}
	if sv.Port > 0 && sv.Port+sv.Replicas-1 > 65535 {
		p.errs.add(n.at("port"), "port %d leaves no room for %d replicas below 65536", sv.Port, sv.Replicas)
	}
	p.checkNodes(n, sv, s)
	p.serverPaths(n, sv, s)
}

// meetingPort is how far above the API's port the nodes of a server meet.
const meetingPort = 10

// checkNodes reports what does not go with a server over several nodes.
func (p *parser) checkNodes(n *node, sv *Server, s *Scenario) {
	if sv.Nodes < 2 {
		return
	}
	at := n.keyAt("nodes")
	switch {
	case sv.Launcher != "vllm" && sv.Launcher != "sglang":
		p.errs.add(at, "nodes is for launchers vllm and sglang, not %s", sv.Launcher)
	case s.Method == LlamaBench:
		p.errs.add(at, "nodes does not go with method llama-bench")
	case sv.Replicas > 1:
		p.errs.add(at, "nodes does not go with replicas: %d: make each replica a run of its own", sv.Replicas)
	case sv.Container.Image != "":
		p.errs.add(at, "nodes does not go with container: start the engine without one")
	case len(sv.GPUs.List) > 0:
		p.errs.add(n.keyAt("gpus"), "gpus lists devices of one box: with nodes: %d give the number of each node's", sv.Nodes)
	case s.On != OnSlurm:
		p.errs.add(at, "nodes: %d needs on: slurm, since its nodes are those of a Slurm job (bench run --on slurm)", sv.Nodes)
	case sv.Port+meetingPort > 65535:
		p.errs.add(n.at("port"), "port %d leaves no room below 65536 for the one at which the nodes meet, %d above it", sv.Port, meetingPort)
	}
}

// forbid reports keys that make no sense beside others.
func (p *parser) forbid(n *node, why string, keys ...string) {
	for _, key := range keys {
		v := n.get(key)
		if v == nil || v.kind == null || v.kind == broken {
			continue
		}
		if v.kind != mapping || len(v.pairs) > 0 {
			p.errs.add(n.keyAt(key), "%s does not go here: %s", key, why)
		}
	}
}

func (p *parser) checkExternal(n *node, defaults map[string]string) {
	if !n.has("base-url") {
		p.errs.add(n.pos, "launcher external needs base-url, such as http://127.0.0.1:8000")
	}
	p.forbid(n, "an external server is already running and never started by bench",
		"binary", "args", "env", "gpus", "replicas", "nodes", "host", "port", "work-dir", "stop", "container")
	for _, key := range []string{"host", "replicas"} {
		delete(defaults, key) // of no meaning here
	}
	if tls := n.get("tls"); tls != nil && tls.has("ca") && tls.has("insecure") {
		p.errs.add(tls.at("insecure"), "ca and insecure exclude each other: insecure asks no authority")
	}
}

// checkModel reports launchers that cannot do without a model.
func (p *parser) checkModel(n *node, sv *Server) {
	if n.has("model") || p.serverBroken {
		return
	}
	need := []string{"vllm", "sglang", "tgi", "ollama"}
	elsewhere := func(a Arg) bool {
		return slices.Contains([]string{"hf-repo", "hf", "hfr", "model-url", "mu", "docker-repo", "dr", "model", "m", "models-dir"}, argName(a.Name))
	}
	switch {
	case slices.Contains(need, sv.Launcher):
		p.errs.add(n.pos, "model is missing, launcher %s needs it", sv.Launcher)
	case sv.Launcher == "llamacpp" && !slices.ContainsFunc(sv.Args, elsewhere):
		p.errs.add(n.pos, "model is missing, launcher llamacpp needs it, or args hf-repo or model-url")
	case (sv.Launcher == "external" || sv.Launcher == "command") && !n.has("served-name"):
		p.errs.add(n.pos, "model is missing: launcher %s needs the name that requests ask for, as model or served-name", sv.Launcher)
	}
}

// noteSecrets lists the secret values of a server, so that nothing shows them.
func (p *parser) noteSecrets(n *node, sv *Server) {
	for _, v := range sv.Env {
		if v.Secret {
			p.secret(v.Value)
		}
	}
	p.secret(sv.APIKey.Value)
	if key := n.get("api-key"); key != nil && key.kind == text && !key.secret && len(key.text) >= minSecret {
		p.warn(key.pos, "api-key stands in the file itself, which is kept with the results: write ${env:NAME}")
	}
	args := n.get("args")
	if args == nil {
		return
	}
	for _, pr := range args.pairs {
		if secretArg(pr.key) && pr.value.scalar() {
			p.secret(pr.value.text)
		}
		pr.value.flatten("", func(_ string, v *node) {
			if v.secret && v.scalar() {
				p.secret(v.text)
			}
		})
	}
}

// localModel tells whether a model names a file or folder of this box, and
// where it is.
func (p *parser) localModel(launcher, model string) (path string, local bool) {
	switch {
	case model == "" || slices.Contains([]string{"ollama", "external", "simulator"}, launcher):
		return model, false
	case strings.HasSuffix(model, ".gguf") || strings.HasPrefix(model, "/") ||
		strings.HasPrefix(model, "./") || strings.HasPrefix(model, "../"):
		return p.abs(model), true
	case p.opts.Exists(p.abs(model)):
		return p.abs(model), true
	}
	return model, false
}
