package keys

import (
	"regexp"
	"strings"
	"time"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Server are the keys of server:.
func Server() schema.Block[scenarios.Server] {
	return schema.Block[scenarios.Server]{
		Name: "under server:",
		Doc: "How to launch a server. Each variant may have the same keys, which override those of server: one by " +
			"one; args, sim-args, env, ready, stop, tls and container are merged key by key. An argument set to " +
			"null in a variant is removed.",
		Example: `
launcher: vllm
model: meta-llama/Llama-3.1-70B-Instruct
args: {tensor-parallel-size: 8, gpu-memory-utilization: 0.90, enable-prefix-caching: true}
env: {VLLM_ROCM_USE_AITER: "1", NCCL_DEBUG: null}
ready: {timeout: 30m, stall: 5m}
stop: {grace: 30s}
`,
		Fields: append(recipeFields(), placeFields()...),
	}
}

// recipeFields are the keys that become the command line.
func recipeFields() []schema.Field[scenarios.Server] {
	scalarOrNull := schema.OneOf(schema.Simple(schema.ScalarShape), schema.Simple(schema.NullShape))

	return []schema.Field[scenarios.Server]{
		schema.FreeKey("launcher", "Kind of server.", schema.EnumOf(scenarios.Launchers()...), readLauncher).
			DefaultNote("none; required in server: or in the variant"),
		schema.TextKey("model", "Model to load: a name on the engine's hub, or a local file or folder, relative to "+
			"the scenario file.",
			func(s *scenarios.Server) *string { return &s.Model }),
		schema.TextKey("served-name", "Model name in requests and in /v1/models.",
			func(s *scenarios.Server) *string { return &s.ServedName }).DefaultNote("the launcher's rule"),
		schema.ReadKey("binary", "Program, or a list of program and leading arguments. A path with a slash is "+
			"relative to the scenario file.",
			schema.TextOrTexts(), readProgram, func(s *scenarios.Server) *[]string { return &s.Binary }).
			DefaultNote("the launcher's own"),
		schema.ArgvKey("command", "Launcher command only: the whole argv as a list, never a shell string. ${host}, "+
			"${port} and ${model} are replaced at launch.",
			func(s *scenarios.Server) *[]string { return &s.Command }),
		schema.ReadKey("args", "Engine arguments by name; max_num_seqs and max-num-seqs are the same. true makes a "+
			"bare switch, null omits the argument, lists and mappings are written as the engine expects. Numbers "+
			"keep their spelling; yes, no, on and off are text.",
			schema.AnyMap(), readArgs, func(s *scenarios.Server) *[]scenarios.Arg { return &s.Args }),
		schema.ReadKey("sim-args", "Arguments of the simulator that replaces the server under --sim; they override "+
			"those it takes from args. See bench simulate --help.",
			schema.AnyMap(), readArgs, func(s *scenarios.Server) *[]scenarios.Arg { return &s.SimArgs }),
		schema.ReadKey("env", "Environment of the server; null removes an inherited variable, inherit keeps one "+
			"that bench would remove.",
			schema.MapOf(scalarOrNull), readEnv,
			func(s *scenarios.Server) *map[string]scenarios.EnvValue { return &s.Env }),
		schema.FreeKey("base-url", "Launcher external only: address of the server, without the /v1 of the request "+
			"path.",
			schema.Simple(schema.TextShape), readBaseURL),
		schema.TextKey("unix-socket", "Launcher external only: Unix socket to connect to, relative to the scenario "+
			"file; base-url then only names the host.",
			func(s *scenarios.Server) *string { return &s.UnixSocket }),
		schema.BlockKey("tls", "Launcher external only: which TLS certificates of the server to accept.", TLS(),
			func(s *scenarios.Server) *scenarios.TLS { return &s.TLS }),
		schema.EnumKey("api", "Launchers command and external: API that the server offers besides OpenAI's, such "+
			"as for metrics and token counts.",
			engines.Dialects(), func(s *scenarios.Server) *string { return &s.API }).
			DefaultNote("openai for these launchers"),
		schema.FreeKey("api-key", "Key sent as a bearer token. Write ${env:NAME}, because the scenario file is "+
			"stored with the results.", schema.Simple(schema.TextShape), readAPIKey),
	}
}

// placeFields are the keys that say where and under which limits it runs.
func placeFields() []schema.Field[scenarios.Server] {
	return []schema.Field[scenarios.Server]{
		schema.TextKey("host", "Address to listen on.",
			func(s *scenarios.Server) *string { return &s.Host }).Or("127.0.0.1"),
		schema.WholeKey("port", "Port of the first replica.", schema.Between(1, 65535),
			func(s *scenarios.Server) *int { return &s.Port }).
			DefaultNote("the launcher's own, or the next free one"),
		schema.FreeKey("gpus", "GPUs of each replica: a number, a list of device indices to choose from, or none "+
			"to set no visibility variables. bench never uses GPUs that the shell's CUDA_, HIP_ or "+
			"ROCR_VISIBLE_DEVICES, or a container, hide.",
			schema.OneOf(schema.WholeIn(schema.Between(1, 1024)),
				schema.ListOf(schema.WholeIn(schema.Between(0, 1023))), schema.EnumOf("none")), readGPUs).
			DefaultNote("tensor x pipeline x data parallel size"),
		schema.WholeKey("replicas", "Number of servers to launch, each with its own GPUs and port; the client "+
			"spreads the load.", schema.Between(1, 1024),
			func(s *scenarios.Server) *int { return &s.Replicas }).Or("1"),
		schema.WholeKey("nodes", "Launchers vllm and sglang with on: slurm: number of nodes that one server spans. "+
			"Its parallelism is divided evenly among them, and gpus counts those of each node. The engine's own "+
			"--nnodes joins the nodes (vLLM with distributed-executor-backend: ray in args: Ray); the ranks of "+
			"vLLM's data-parallel-size are divided among them. Of a variant with components (any launcher): "+
			"number of nodes of its job, on which the components are placed in order, as far as GPUs suffice.",
			schema.Between(1, 256),
			func(s *scenarios.Server) *int { return &s.Nodes }).DefaultNote("1"),
		schema.CPUsKey("cpus", "CPUs that the server may use, such as 0-5,8-13.", nil,
			func(s *scenarios.Server) *string { return &s.CPUs }).
			DefaultNote("any; with client.cpus: auto, those that the client leaves"),
		schema.NodeKey("numa",
			"NUMA node whose CPUs the server runs on and whose memory it prefers; auto: that of its GPUs.",
			[]string{scenarios.AutoNUMA}, func(s *scenarios.Server) *string { return &s.NUMA }).
			DefaultNote("any"),
		schema.NiceKey("nice", "Nice value of the server's processes; negative values need CAP_SYS_NICE, or ulimit "+
			"-e.",
			func(s *scenarios.Server) *int { return &s.Nice }).DefaultNote("0"),
		schema.TextKey("interface", "With nodes: network interface by which the nodes reach each other, such as "+
			"hsn0, or a network as ADDRESS/BITS. NCCL and Gloo get the interface as well (NCCL_SOCKET_IFNAME, "+
			"GLOO_SOCKET_IFNAME), unless env sets another.",
			func(s *scenarios.Server) *string { return &s.Interface }).DefaultNote("Slurm's NodeAddr"),
		schema.TextKey("work-dir", "Working directory of the server, relative to the scenario file.",
			func(s *scenarios.Server) *string { return &s.WorkDir }).DefaultNote("the scenario's folder"),
		schema.BlockKey("ready", "Time limits of the start, and how readiness is checked.", Ready(),
			func(s *scenarios.Server) *scenarios.Ready { return &s.Ready }),
		smokeField(),
		schema.BlockKey("container", "Run the server in a container.", Container(),
			func(s *scenarios.Server) *scenarios.Container { return &s.Container }),
		schema.BlockKey("stop", "Limits of stopping the server.", Stop(),
			func(s *scenarios.Server) *scenarios.Stop { return &s.Stop }),
	}
}

// TLS are the keys of tls:.
func TLS() schema.Block[scenarios.TLS] {
	return schema.Block[scenarios.TLS]{
		Name: "under tls:", Doc: "Without these keys the system's certificate authorities apply.",
		Example: "\nca: certs/our-ca.pem\n",
		Fields: []schema.Field[scenarios.TLS]{
			schema.TextKey("ca", "PEM file with the authorities to trust, relative to the scenario file.",
				func(t *scenarios.TLS) *string { return &t.CA }),
			schema.FlagKey("insecure", "Skip TLS certificate verification.",
				func(t *scenarios.TLS) *bool { return &t.Insecure }).Or("false"),
		},
	}
}

// Ready are the keys of ready:.
func Ready() schema.Block[scenarios.Ready] {
	return schema.Block[scenarios.Ready]{
		Name: "under ready:", Doc: "A server is ready when the process that bench started has streamed a token of " +
			"the expected model.",
		Example: "\ntimeout: 30m\nstall: 5m\n",
		Fields: []schema.Field[scenarios.Ready]{
			schema.DurationKey("timeout", "Longest time from the start to the first token.",
				func(r *scenarios.Ready) *time.Duration { return &r.Timeout }).Or("30m"),
			schema.DurationKey("stall", "Longest time without any progress; 0: no limit.",
				func(r *scenarios.Ready) *time.Duration { return &r.Stall }).Or("5m"),
			schema.TextKey("path", "Path of the health check, such as /health.",
				func(r *scenarios.Ready) *string { return &r.Path }).DefaultNote("the launcher's own"),
			schema.TextKey("log", "Launcher command only: text that must appear in the log first.",
				func(r *scenarios.Ready) *string { return &r.Log }),
		},
	}
}

// Stop are the keys of stop:.
func Stop() schema.Block[scenarios.Stop] {
	return schema.Block[scenarios.Stop]{
		Name: "under stop:", Doc: "bench sends SIGTERM first, then SIGKILL.", Example: "\ndrain: 20s\ngrace: 30s\n",
		Fields: []schema.Field[scenarios.Stop]{
			schema.DurationKey("grace", "Time from SIGTERM to SIGKILL.",
				func(s *scenarios.Stop) *time.Duration { return &s.Grace }).DefaultNote("the launcher's own"),
			schema.DurationKey("drain", "Longest wait for running requests to end before SIGTERM.",
				func(s *scenarios.Stop) *time.Duration { return &s.Drain }).Or("0"),
		},
	}
}

// Variant are the keys of a variant.
func Variant() schema.Block[scenarios.Variant] {
	own := []schema.Field[scenarios.Variant]{
		schema.TextKey("name", "Unique name: letters, digits and . _ + = -. With a matrix it contains the ${} of "+
			"its names.",
			func(v *scenarios.Variant) *string { return &v.Name }).Must(),
		schema.TextKey("notes", "Free text, shown in reports.", func(v *scenarios.Variant) *string { return &v.Notes }),
		schema.TextKey("size", "Size of the model as reports show it, such as 3.80 GiB.",
			func(v *scenarios.Variant) *string { return &v.Size }).
			DefaultNote("that of a model file"),
		schema.WholeKey("extrapolate", "Above 1: run one replica with its share of max-concurrency, and let it "+
			"represent this many. Rates are multiplied, latencies are not, and reports mark the figures as "+
			"extrapolated.", schema.Between(1,
			1024), func(v *scenarios.Variant) *int { return &v.Extrapolate }).DefaultNote("1"),
		variantPriceField(),
		schema.UnreadKey[scenarios.Variant]("matrix",
			"Names with lists of values (scalars or mappings). The variant is expanded once "+
				"for each combination, the first name varying slowest.",
			schema.MapOf(schema.ListOf(schema.Simple(schema.AnyShape)))),
		schema.UnreadKey[scenarios.Variant]("exclude",
			"Combinations of the matrix to leave out; dotted keys reach into mappings. An "+
				"entry that matches nothing is an error.",
			schema.ListOf(schema.AnyMap())),
		componentsField(),
		schema.BlockKey("hooks", "Hooks around every server start of this variant, inside hooks.variant of the "+
			"scenario.",
			Hooks(),
			func(v *scenarios.Variant) *scenarios.Hooks { return &v.Hooks }),
	}

	server := schema.Lift(recipeFields(), func(v *scenarios.Variant) *scenarios.Server { return &v.Server })
	server = append(server, schema.Lift(placeFields(),
		func(v *scenarios.Variant) *scenarios.Server { return &v.Server })...)
	return schema.Block[scenarios.Variant]{
		Name: "in a variant", Doc: "One way to launch a server. Besides its own keys it has every key of server:.",
		Example: `
name: sd-${draft.label}-k${k}
matrix:
  draft:
    - {label: 1b, model: meta-llama/Llama-3.2-1B-Instruct}
    - {label: 8b, model: meta-llama/Llama-3.1-8B-Instruct}
  k: [5, 10]
exclude: [{draft.label: 8b, k: 10}]
args: {speculative-config: {model: "${draft.model}", num_speculative_tokens: "${k}"}}
`,
		Fields: append(own, server...),
	}
}

func readLauncher(r *schema.Reader, n *schema.Node, s *scenarios.Server) {
	if n.Kind == schema.Text && n.Text == "container" {
		r.Fail(n.Pos, "container is not a launcher: name the launcher of the engine, and beside it container: "+
			"{image: ...}")
		return
	}
	if v, ok := r.Enum(n, schema.EnumOf(scenarios.Launchers()...)); ok {
		s.Launcher = v
	}
}

// readTexts reads a list of at least one text.
func readTexts(r *schema.Reader, n *schema.Node) []string {
	words, ok := r.Texts(n)
	if ok && len(words) == 0 {
		r.Fail(n.Pos, "%s is an empty list", r.Key())
	}
	return words
}

// readProgram reads a program's name, or a list of it and leading arguments.
func readProgram(r *schema.Reader, n *schema.Node) []string {
	if n.Kind == schema.List {
		return readTexts(r, n)
	}

	word, ok := r.Text(n)
	if ok && strings.ContainsAny(word, " \t\n") {
		r.Fail(n.Pos, "%s is %s: commands are lists, never shell strings: write [program, argument, ...]", r.Key(),
			n.Shown())
		return nil
	}

	if !ok {
		return nil
	}

	return []string{word}
}

func componentsField() schema.Field[scenarios.Variant] {
	return schema.UnreadKey[scenarios.Variant]("components", "The parts of a server that consists of several "+
		"programs, such as prefill servers, decode servers and a router: a list of mappings with a name and keys "+
		"of server:. They are started in this order and stopped in reverse; requests go to the last one. A component "+
		"inherits the variant's keys; one with another launcher inherits only model, served-name, api-key, "+
		"work-dir, ready, stop and interface. In its command:, ${NAME.url} is repeated for each server of an "+
		"earlier component, together with the option before it; ${NAME.urls} lists all of them in one place "+
		"(likewise host, port, address, bootstrap-port). With on: slurm, node: of a component is the number "+
		"of the job's node on which it runs, counted from 1.",
		schema.ListOf(schema.AnyMap()))
}
