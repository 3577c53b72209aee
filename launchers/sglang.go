package launchers

import (
	"slices"
	"time"
)

func sglangKind() Kind {
	return Kind{
		Name:         "sglang",
		DefaultPort:  30000,
		StopGrace:    30 * time.Second,
		Command:      sglangCommand,
		Companions:   sglangCompanions,
		Entry:        []string{"sglang"},
		ImageProgram: []string{"python3", "-m", "sglang.launch_server"},
		WorldSize:    sglangWorldSize,
		ServedName:   servedOrModel,
		HealthPath:   "/health", // generates a token and takes up to 20 s
		ModelsPath:   "/v1/models",
		VersionPath:  "/get_server_info",
		MetricsPath:  "/metrics",
		Counters:     sglangCounters(),
		Gauges:       sglangGauges(),
		Reset:        sglangReset(),
		Fatal:        sglangFatal(),
		Milestones:   sglangMilestones(),
		Describe: []Description{
			{Path: "/get_server_info", Arguments: ".", Facts: map[string]Fact{
				"version": FactVersion, "max_total_num_tokens": FactKVTokens, "internal_states.0.effective_max_running_requests_per_dp": FactSlots,
			}},
			{Path: "/v1/models", Facts: map[string]Fact{"data.0.max_model_len": FactContext}},
		},
	}
}

// sglangCommand builds `python3 -m sglang.launch_server --model-path MODEL`.
// Binary stands for all of the program ("sglang", "serve"). --enable-metrics
// is added unless the arguments name it. Its switches have no form for false:
// it is left out.
func sglangCommand(s Spec) (Command, error) {
	if err := needModel(s); err != nil {
		return Command{}, err
	}
	spelling := sglangSpelling()
	options, err := spelling.across(s.Span, "nnodes", "node-rank", "dist-init-addr", "nccl-init-addr").render(s.Args)
	if err != nil {
		return Command{}, err
	}
	host, port := listenAddress(s, 30000)
	argv := slices.Clone(s.Binary)
	if len(argv) == 0 {
		argv = []string{"python3", "-m", "sglang.launch_server"}
	}
	argv = append(argv, "--model-path", s.Model, "--host", host, "--port", port)
	if s.ServedName != "" {
		argv = append(argv, spelling.pair("--served-model-name", s.ServedName)...)
	}
	if s.APIKey != "" {
		argv = append(argv, spelling.pair("--api-key", s.APIKey)...) // it reads no variable for it
	}
	argv = append(argv, sglangAcross(s.Span)...)
	if !spelling.has(s.Args, "enable-metrics") {
		argv = append(argv, "--enable-metrics")
	}
	return assemble(s, append(argv, options...), nil, append(torchUnset(), "SGLANG_*", "SGL_*")...)
}

// sglangWorldSize is tp*pp*dp; with dp attention the dp ranks are within the
// tp ranks. It is unknown (0) for a server over several nodes.
func sglangWorldSize(args []Arg) int {
	s := sglangSpelling()
	if nodes := sizes(s, args, "nnodes"); nodes != 1 {
		return 0
	}
	names := []string{"tensor-parallel-size", "pipeline-parallel-size"}
	if within, _ := s.find(args, "enable-dp-attention"); within != true {
		names = append(names, "data-parallel-size")
	}
	return sizes(s, args, names...)
}

func sglangSpelling() spelling {
	return spelling{
		engine:    "sglang",
		canonical: sglangCanonical,
		joinDash:  true,
		owned: map[string]string{
			"host": "host", "port": "port", "model-path": "model", "served-model-name": "served-name", "api-key": "api-key",
		},
	}
}

func sglangCanonical(name string) string {
	switch name {
	case "tp", "tp-size":
		return "tensor-parallel-size"
	case "pp", "pp-size":
		return "pipeline-parallel-size"
	case "dp", "dp-size":
		return "data-parallel-size"
	case "model":
		return "model-path"
	}
	return name
}
