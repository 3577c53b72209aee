package launchers

import (
	"slices"
	"strconv"
	"time"
)

func tgiKind() Kind {
	return Kind{
		Name:        "tgi",
		DefaultPort: 3000,
		StopGrace:   90 * time.Second, // it gives each of its processes that long
		Command:     tgiCommand,
		Entry:       []string{"text-generation-launcher"},
		WorldSize:   tgiWorldSize,
		ServedName:  servedOrModel,
		HealthPath:  "/health",
		VersionPath: "/info",
		MetricsPath: "/metrics",
		Counters:    tgiCounters(),
		Gauges:      tgiGauges(),
		Fatal:       tgiFatal(),
		Milestones:  tgiMilestones(),
		Describe: []Description{
			{Path: "/info", Arguments: ".", Facts: map[string]Fact{
				"version": FactVersion, "max_total_tokens": FactContext, "max_batch_total_tokens": FactKVTokens, "max_concurrent_requests": FactSlots,
			}},
		},
		AnyModelName: true,
	}
}

// tgiCommand builds `text-generation-launcher --model-id MODEL ...`. sharded
// takes true or false as its value; other switches have no form for false,
// which leaves them out. Lists repeat their option. Replicas after the first
// get a master port and socket paths of their own, which default to the same
// for all servers of a box.
func tgiCommand(s Spec) (Command, error) {
	if err := needModel(s); err != nil {
		return Command{}, err
	}
	spelling := tgiSpelling()
	options, err := spelling.render(s.Args)
	if err != nil {
		return Command{}, err
	}
	host, port := listenAddress(s, 3000)
	argv := slices.Clone(s.Binary)
	if len(argv) == 0 {
		argv = []string{"text-generation-launcher"}
	}
	argv = append(argv, "--model-id", s.Model, "--hostname", host, "--port", port)
	if s.Replica > 0 && !spelling.has(s.Args, "master-port") {
		argv = append(argv, "--master-port", strconv.Itoa(29500+100*s.Replica))
	}
	if s.Replica > 0 && !spelling.has(s.Args, "shard-uds-path") {
		argv = append(argv, "--shard-uds-path", "/tmp/text-generation-server-"+strconv.Itoa(s.Replica))
	}
	var own map[string]string
	if s.APIKey != "" {
		own = map[string]string{"API_KEY": s.APIKey}
	}
	return assemble(s, append(argv, options...), own, slices.Concat(torchUnset(), tgiVariables())...)
}

// tgiVariables are plain names that the launcher takes for options.
func tgiVariables() []string {
	return []string{
		"MODEL_ID", "REVISION", "API_KEY", "SHARDED", "NUM_SHARD", "QUANTIZE", "SPECULATE", "DTYPE", "KV_CACHE_DTYPE",
		"MAX_CONCURRENT_REQUESTS", "MAX_INPUT_TOKENS", "MAX_INPUT_LENGTH", "MAX_TOTAL_TOKENS", "MAX_BATCH_SIZE",
		"MAX_BATCH_PREFILL_TOKENS", "MAX_BATCH_TOTAL_TOKENS", "MAX_WAITING_TOKENS", "WAITING_SERVED_RATIO",
		"CUDA_GRAPHS", "CUDA_MEMORY_FRACTION",
	}
}

// tgiWorldSize is num-shard, 1 for sharded: false; without both the launcher
// takes all GPUs that it sees (0).
func tgiWorldSize(args []Arg) int {
	s := tgiSpelling()
	if shards, _ := s.find(args, "num-shard"); shards != nil {
		return sizes(s, args, "num-shard")
	}
	if sharded, _ := s.find(args, "sharded"); sharded == false || sharded == "false" {
		return 1
	}
	return 0
}

func tgiSpelling() spelling {
	return spelling{
		engine: "text-generation-launcher",
		boolValue: func(name string, on bool) string {
			if name != "sharded" {
				return ""
			}
			return strconv.FormatBool(on)
		},
		list:     func(string) listForm { return repeated },
		joinDash: true,
		owned: map[string]string{
			"hostname": "host", "host": "host", "port": "port", "model-id": "model", "model": "model", "api-key": "api-key",
		},
	}
}
