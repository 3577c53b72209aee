package launchers

import (
	"fmt"
	"slices"
	"time"

	"github.com/benchrig/bench/results"
)

// simulatorKind is the server embedded in our own program. It speaks as vLLM
// does and needs no GPU.
func simulatorKind() Kind {
	kind := vllmProtocol()
	kind.Name = "simulator"
	kind.DefaultPort = 8000
	kind.StopGrace = 10 * time.Second
	kind.Simulated = true
	kind.Command = simulatorCommand
	kind.WorldSize = unknownSize
	kind.Fatal = append(kind.Fatal, fatal(results.FailBadFlag, "see: bench simulate --help", `unknown flag: --`))
	return kind
}

// simulatedLlamaKind is the simulator in the dialect of llama-server. No
// scenario names it: it stands in for llamacpp where a scenario is simulated.
func simulatedLlamaKind() Kind {
	kind := llamacppKind()
	kind.Name = "simulator-llamacpp"
	kind.StopGrace = 10 * time.Second
	kind.Simulated = true
	kind.ServedName = servedOrModel
	kind.Command = func(s Spec) (Command, error) {
		s.Args = append([]Arg{{Name: "sim-persona", Value: "llamacpp"}}, s.Args...)
		return simulatorCommand(s)
	}
	kind.Entry = nil
	kind.Fatal = append(kind.Fatal, simulatorKind().Fatal...)
	return kind
}

// simulatorCommand builds `bench simulate --model MODEL ...`; Binary is our own
// program. Without a model the simulator takes its default. Options have
// vLLM's names in their long form; false is --name=false.
func simulatorCommand(s Spec) (Command, error) {
	if len(s.Binary) == 0 {
		return Command{}, fmt.Errorf("binary: missing: the path of the bench program itself")
	}
	spelling := simulatorSpelling()
	options, err := spelling.render(s.Args)
	if err != nil {
		return Command{}, err
	}
	host, port := listenAddress(s, 8000)
	argv := append(slices.Clone(s.Binary), "simulate", "--host", host, "--port", port)
	if s.Model != "" {
		argv = append(argv, spelling.pair("--model", s.Model)...)
	}
	if s.ServedName != "" {
		argv = append(argv, spelling.pair("--served-model-name", s.ServedName)...)
	}
	if s.APIKey != "" {
		argv = append(argv, spelling.pair("--api-key", s.APIKey)...)
	}
	return assemble(s, append(argv, options...), nil)
}

func simulatorSpelling() spelling {
	s := vllmSpelling()
	s.engine = "the simulator"
	s.rename = func(arg Arg) Arg {
		arg.Name = vllmCanonical(arg.Name)
		return arg
	}
	s.short = nil
	s.falsehood = func(name string) string { return "--" + name + "=false" }
	s.list = func(string) listForm { return repeated }
	return s
}
