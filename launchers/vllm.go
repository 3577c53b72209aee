package launchers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// vllmAPIServer is the module behind `vllm serve`, started directly in
// recipes of the time before that command.
const vllmAPIServer = "vllm.entrypoints.openai.api_server"

// Internal ports of replica n begin at vllmPortBase + n*vllmPortStride, away
// from HTTP ports and below Linux' ephemeral range: vLLM looks for a free port
// first and binds it later, so replicas without bases of their own collide.
const (
	vllmPortBase   = 21000
	vllmPortStride = 200
)

func vllmKind() Kind {
	kind := vllmProtocol()
	kind.Name = "vllm"
	kind.DefaultPort = 8000
	kind.StopGrace = 30 * time.Second // engine and workers need 15 to 20 s to end each other
	kind.Command = vllmCommand
	kind.WorldSize = vllmWorldSize
	kind.Companions = vllmCompanions
	kind.Entry = []string{vllmAPIServer} // --model suits the entry points of all versions
	return kind
}

// vllmProtocol is what a client of vLLM sees: paths, counters and log lines.
// The simulator speaks the same.
func vllmProtocol() Kind {
	return Kind{
		ServedName:   servedOrModel,
		HealthPath:   "/health",
		ModelsPath:   "/v1/models",
		TokenizePath: "/tokenize",
		VersionPath:  "/version",
		MetricsPath:  "/metrics",
		Counters:     vllmCounters(),
		Gauges:       vllmGauges(),
		AcceptedAt:   vllmAcceptedAt(),
		Reset:        vllmReset(),
		CacheSalt:    true, // since 0.9; older versions ignore it
		Fatal:        vllmFatal(),
		Milestones:   vllmMilestones(),
		Describe: []Description{
			{Path: "/server_info?config_format=json", Arguments: "vllm_config"}, // with VLLM_SERVER_DEV_MODE=1 only
			{Path: "/v1/models", Facts: map[string]Fact{"data.0.max_model_len": FactContext}},
		},
	}
}

// vllmCommand builds `vllm serve MODEL ...`. Binary stands for the program
// `vllm`; one that ends in the api_server module gets --model instead of the
// positional model. false is spelled --no-NAME (which every switch of newer
// versions has), except that disable-... and no-... are left out: leave other
// switches of old versions out with null.
func vllmCommand(s Spec) (Command, error) {
	if err := needModel(s); err != nil {
		return Command{}, err
	}
	options, err := vllmSpelling().across(s.Span, "nnodes", "node-rank", "master-addr", "master-port", "headless").render(s.Args)
	if err != nil {
		return Command{}, err
	}
	host, port := listenAddress(s, 8000)
	argv := append(vllmProgram(s), "--host", host, "--port", port)
	if s.ServedName != "" {
		argv = append(argv, vllmSpelling().pair("--served-model-name", s.ServedName)...)
	}
	own, err := vllmPorts(s)
	if err != nil {
		return Command{}, err
	}
	across, err := vllmAcross(s, own)
	if err != nil {
		return Command{}, err
	}
	argv = append(argv, across...)
	if s.APIKey != "" {
		own["VLLM_API_KEY"] = s.APIKey // not argv, which every user of the box can read
	}
	return assemble(s, append(argv, options...), own, torchUnset()...)
}

func vllmProgram(s Spec) []string {
	argv := slices.Clone(s.Binary)
	if len(argv) == 0 {
		argv = []string{"vllm"}
	}
	last := argv[len(argv)-1]
	if strings.HasSuffix(last, vllmAPIServer) || strings.HasSuffix(last, "api_server.py") {
		return append(argv, "--model", s.Model)
	}
	if last != "serve" {
		argv = append(argv, "serve")
	}
	return append(argv, s.Model)
}

// vllmPorts gives each of several replicas a base for its internal ports.
func vllmPorts(s Spec) (map[string]string, error) {
	if s.Replicas < 2 {
		return map[string]string{}, nil
	}
	if _, ok := s.Env["VLLM_PORT"]; ok {
		return nil, fmt.Errorf("env: VLLM_PORT: %d replicas would look for ports in the same place: remove it, bench gives each its own", s.Replicas)
	}
	return map[string]string{"VLLM_PORT": strconv.Itoa(vllmPortBase + s.Replica*vllmPortStride)}, nil
}

// vllmWorldSize is tp*pp*dp. It is unknown (0) for a server on CPU or spread
// over several nodes.
func vllmWorldSize(args []Arg) int {
	s := vllmSpelling()
	if device, _ := s.find(args, "device"); device == "cpu" {
		return 0
	}
	if nodes := sizes(s, args, "nnodes"); nodes != 1 {
		return 0
	}
	data := "data-parallel-size"
	if s.has(args, "data-parallel-size-local") {
		data = "data-parallel-size-local"
	}
	return sizes(s, args, "tensor-parallel-size", "pipeline-parallel-size", "prefill-context-parallel-size", data)
}

func vllmSpelling() spelling {
	return spelling{
		engine:    "vllm",
		short:     func(name string) bool { return len(name) <= 2 || vllmShort(name) != "" },
		canonical: vllmCanonical,
		falsehood: vllmFalse,
		joinDash:  true,
		owned: map[string]string{
			"host": "host", "port": "port", "model": "model", "model-tag": "model",
			"served-model-name": "served-name", "api-key": "api-key",
		},
	}
}

func vllmFalse(name string) string {
	if strings.HasPrefix(name, "no-") || strings.HasPrefix(name, "disable-") {
		return ""
	}
	return "--no-" + name
}

func vllmCanonical(name string) string {
	if long := vllmShort(name); long != "" {
		return long
	}
	return name
}

// vllmShort is the long name of an option with a single dash, "" if there is
// none that we know.
func vllmShort(name string) string {
	return map[string]string{
		"tp":            "tensor-parallel-size",
		"pp":            "pipeline-parallel-size",
		"dp":            "data-parallel-size",
		"dpl":           "data-parallel-size-local",
		"dpn":           "data-parallel-rank",
		"dpr":           "data-parallel-start-rank",
		"dpa":           "data-parallel-address",
		"dpp":           "data-parallel-rpc-port",
		"dpb":           "data-parallel-backend",
		"dph":           "data-parallel-hybrid-lb",
		"dpe":           "data-parallel-external-lb",
		"dcp":           "decode-context-parallel-size",
		"pcp":           "prefill-context-parallel-size",
		"asc":           "api-server-count",
		"ep":            "enable-expert-parallel",
		"sc":            "speculative-config",
		"q":             "quantization",
		"n":             "nnodes",
		"r":             "node-rank",
		"spec-draft-tp": "speculative-draft-tensor-parallel-size",
	}[name]
}
