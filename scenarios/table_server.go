package scenarios

import (
	"regexp"
	"strings"
	"time"
)

// Launchers are the kinds of server a scenario may name.
func Launchers() []string {
	return []string{"vllm", "llamacpp", "sglang", "tgi", "ollama", "command", "external", "simulator"}
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func serverBlock() block[Server] {
	return block[Server]{
		name: "under server:",
		doc: "How to launch a server. The same keys may stand in each variant, where they override those of server: key by key; " +
			"args, sim-args, env, ready, stop, tls and container are laid over each other one level deeper. An argument set to null in a variant is removed.",
		example: `
launcher: vllm
model: meta-llama/Llama-3.1-70B-Instruct
args: {tensor-parallel-size: 8, gpu-memory-utilization: 0.90, enable-prefix-caching: true}
env: {VLLM_USE_TRITON_FLASH_ATTN: "0", NCCL_DEBUG: null}
ready: {timeout: 30m, stall: 5m}
stop: {grace: 30s}
`,
		fields: append(recipeFields(), placeFields()...),
	}
}

// recipeFields are the keys that become the command line.
func recipeFields() []field[Server] {
	scalarOrNull := oneOf(simple(scalarShape), simple(nullShape))
	return []field[Server]{
		freeKey("launcher", "Kind of server.", enumOf(Launchers()...), readLauncher).
			elseNote("none; required in server: or in the variant"),
		textKey("model", "What the engine loads: a name of its hub, or a local file or folder, relative to the scenario file.",
			func(s *Server) *string { return &s.Model }),
		textKey("served-name", "Model name in requests and in /v1/models.",
			func(s *Server) *string { return &s.ServedName }).elseNote("the launcher's rule"),
		freeKey("binary", "Program, or a list of program and leading arguments. With a slash it is relative to the scenario file.",
			oneOf(simple(textShape), listOf(simple(textShape))), readBinary).elseNote("the launcher's own"),
		freeKey("command", "Launcher command only: the whole argv as a list, never a shell string. ${host}, ${port} and ${model} are filled in at launch.",
			listOf(simple(textShape)), readCommand),
		freeKey("args", "Engine arguments by name; max_num_seqs and max-num-seqs are the same. true is a bare switch, null leaves the argument out, "+
			"lists and mappings become what the engine takes. Numbers keep their spelling; yes, no, on and off are text.",
			mapOf(simple(anyShape)), readArgs),
		freeKey("sim-args", "Arguments of the simulator that takes the server's place under --sim, laid over those that it keeps of args; see bench simulate --help.",
			mapOf(simple(anyShape)), func(r *reader, n *node, s *Server) { s.SimArgs = r.args(n) }),
		freeKey("env", "Environment of the server; null removes a variable that would be inherited.",
			mapOf(scalarOrNull), func(r *reader, n *node, s *Server) { s.Env = readEnv(r, n) }),
		freeKey("base-url", "Launcher external only: where the server is, without the /v1 of the request path.", simple(textShape), readBaseURL),
		textKey("unix-socket", "Launcher external only: socket to connect to, relative to the scenario file; base-url then only names the host.",
			func(s *Server) *string { return &s.UnixSocket }),
		blockKey("tls", "Launcher external only: which certificates of an https server to believe.", tlsBlock(), func(s *Server) *TLS { return &s.TLS }),
		enumKey("api", "Launchers command and external: dialect of the server beside OpenAI's requests.",
			[]string{"openai", "llamacpp"}, func(s *Server) *string { return &s.API }).elseNote("openai for these launchers"),
		freeKey("api-key", "Sent as bearer token. Write ${env:NAME}: the scenario file is kept with the results.", simple(textShape), readAPIKey),
	}
}

// placeFields are the keys that say where and under which limits it runs.
func placeFields() []field[Server] {
	return []field[Server]{
		textKey("host", "Address to listen on.", func(s *Server) *string { return &s.Host }).or("127.0.0.1"),
		wholeKey("port", "Port of the first replica.", between(1, 65535), func(s *Server) *int { return &s.Port }).
			elseNote("the launcher's own, or the next free one"),
		freeKey("gpus", "GPUs of each replica as a number, a list of device indices to choose from, or none to leave visibility alone.",
			oneOf(wholeIn(between(1, 1024)), listOf(wholeIn(between(0, 1023))), enumOf("none")), readGPUs).
			elseNote("tensor x pipeline x data parallel size"),
		wholeKey("replicas", "Servers to launch, each on GPUs and a port of its own; the client spreads the load.", between(1, 1024),
			func(s *Server) *int { return &s.Replicas }).or("1"),
		wholeKey("nodes", "Launchers vllm and sglang, on: slurm only: nodes that one server lies over; its parallelism is spread over them evenly, and gpus then counts those of each node. "+
			"vLLM's are joined by Ray, or, with distributed-executor-backend: mp among args, by its own --nnodes.", between(1, 256),
			func(s *Server) *int { return &s.Nodes }).elseNote("1"),
		textKey("work-dir", "Working directory of the server, relative to the scenario file.",
			func(s *Server) *string { return &s.WorkDir }).elseNote("the scenario's folder"),
		blockKey("ready", "Limits of the wait until the server truly serves.", readyBlock(), func(s *Server) *Ready { return &s.Ready }),
		smokeField(),
		blockKey("container", "Run the server in a container.", containerBlock(), func(s *Server) *Container { return &s.Container }),
		blockKey("stop", "Limits of the server's end.", stopBlock(), func(s *Server) *Stop { return &s.Stop }),
	}
}

func tlsBlock() block[TLS] {
	return block[TLS]{
		name: "under tls:", doc: "Without these keys the system's authorities decide.", example: "\nca: certs/our-ca.pem\n",
		fields: []field[TLS]{
			textKey("ca", "PEM file with the authorities to trust, relative to the scenario file.", func(t *TLS) *string { return &t.CA }),
			flagKey("insecure", "Believe any certificate.", func(t *TLS) *bool { return &t.Insecure }).or("false"),
		},
	}
}

func readyBlock() block[Ready] {
	return block[Ready]{
		name: "under ready:", doc: "A server is ready when a token of the expected model has come from the process we started.",
		example: "\ntimeout: 30m\nstall: 5m\n",
		fields: []field[Ready]{
			durationKey("timeout", "From the start to the first token.", func(r *Ready) *time.Duration { return &r.Timeout }).or("30m"),
			durationKey("stall", "Longest time without any sign of life; 0 is none.", func(r *Ready) *time.Duration { return &r.Stall }).or("5m"),
			textKey("path", "Health path, such as /health.", func(r *Ready) *string { return &r.Path }).elseNote("the launcher's own"),
			textKey("log", "Launcher command only: text that must appear in the log first.", func(r *Ready) *string { return &r.Log }),
		},
	}
}

func stopBlock() block[Stop] {
	return block[Stop]{
		name: "under stop:", doc: "A server is asked to end, then made to.", example: "\ndrain: 20s\ngrace: 30s\n",
		fields: []field[Stop]{
			durationKey("grace", "From SIGTERM to SIGKILL.", func(s *Stop) *time.Duration { return &s.Grace }).elseNote("the launcher's own"),
			durationKey("drain", "Longest wait before SIGTERM until no request is running.", func(s *Stop) *time.Duration { return &s.Drain }).or("0"),
		},
	}
}

func variantBlock() block[Variant] {
	own := []field[Variant]{
		textKey("name", "Unique; letters, digits and . _ + = -. With a matrix it holds ${} of its names.",
			func(v *Variant) *string { return &v.Name }).must(),
		textKey("notes", "Free text, shown in reports.", func(v *Variant) *string { return &v.Notes }),
		textKey("size", "Of the model, as reports are to show it, such as 3.80 GiB.", func(v *Variant) *string { return &v.Size }).
			elseNote("that of a model file"),
		wholeKey("extrapolate", "Above 1: run one replica with its share of max-concurrency and let it stand for so many. The rates are multiplied, the latencies are not, "+
			"and reports say extrapolated.", between(1, 1024), func(v *Variant) *int { return &v.Extrapolate }).elseNote("1"),
		variantPriceField(),
		freeKey("matrix", "Names with lists of values (scalars or mappings); the variant is made once for each combination, the first name varying slowest.",
			mapOf(listOf(simple(anyShape))), func(*reader, *node, *Variant) {}),
		freeKey("exclude", "Combinations of the matrix to leave out; dotted keys reach into mappings. An entry that matches nothing is an error.",
			listOf(mapOf(simple(anyShape))), func(*reader, *node, *Variant) {}),
		blockKey("hooks", "Around every server life of this variant, inside hooks.variant of the scenario.", hooksBlock(),
			func(v *Variant) *Hooks { return &v.Hooks }),
	}
	server := lift(recipeFields(), func(v *Variant) *Server { return &v.Server })
	server = append(server, lift(placeFields(), func(v *Variant) *Server { return &v.Server })...)
	return block[Variant]{
		name: "in a variant", doc: "One way to launch a server. Beside its own keys it takes every key of server:.",
		example: `
name: sd-${draft.label}-k${k}
matrix:
  draft:
    - {label: 1b, model: meta-llama/Llama-3.2-1B-Instruct}
    - {label: 8b, model: meta-llama/Llama-3.1-8B-Instruct}
  k: [5, 10]
exclude: [{draft.label: 8b, k: 10}]
args: {speculative-model: "${draft.model}", num-speculative-tokens: "${k}"}
`,
		fields: append(own, server...),
	}
}

func readLauncher(r *reader, n *node, s *Server) {
	if n.kind == text && n.text == "container" {
		r.fail(n.pos, "container is no launcher: name that of the engine, and beside it container: {image: ...}")
		return
	}
	if v, ok := r.enum(n, enumOf(Launchers()...)); ok {
		s.Launcher = v
	}
}

func readBinary(r *reader, n *node, s *Server) { s.Binary = r.program(n) }

// program reads a program's name, or a list of it and leading arguments.
func (r *reader) program(n *node) []string {
	if n.kind == list {
		words, ok := r.texts(n)
		if ok && len(words) == 0 {
			r.fail(n.pos, "%s is an empty list", r.key())
		}
		return words
	}
	word, ok := r.text(n)
	if ok && strings.ContainsAny(word, " \t\n") {
		r.fail(n.pos, "%s is %s: commands are lists, never shell strings: write [program, argument, ...]", r.key(), n.shown())
		return nil
	}
	if !ok {
		return nil
	}
	return []string{word}
}

func readCommand(r *reader, n *node, s *Server) {
	words, _ := r.argv(n)
	s.Command = words
}
