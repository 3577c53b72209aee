package engines

import (
	"fmt"
	"slices"
	"time"

	"github.com/benchrig/bench/launchers/recipe"
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
	kind.Command = func(s recipe.Spec) (recipe.Command, error) {
		s.Args = append([]recipe.Arg{{Name: "sim-persona", Value: "llamacpp"}}, s.Args...)
		return simulatorCommand(s)
	}
	kind.Entry = nil
	kind.Fatal = append(kind.Fatal, simulatorKind().Fatal...)
	return kind
}

// simulatorCommand builds `bench simulate --model MODEL ...`; Binary is our own
// program. Without a model the simulator takes its default. Options have
// vLLM's names in their long form; false is --name=false.
func simulatorCommand(s recipe.Spec) (recipe.Command, error) {
	if len(s.Binary) == 0 {
		return recipe.Command{}, fmt.Errorf("binary: missing: the path of the bench program itself")
	}
	spelling := simulatorSpelling()
	options, err := spelling.Render(s.Args)
	if err != nil {
		return recipe.Command{}, err
	}
	host, port := listenAddress(s, 8000)
	argv := append(slices.Clone(s.Binary), "simulate", "--host", host, "--port", port)
	if s.Model != "" {
		argv = append(argv, spelling.Pair("--model", s.Model)...)
	}
	if s.ServedName != "" {
		argv = append(argv, spelling.Pair("--served-model-name", s.ServedName)...)
	}
	if s.APIKey != "" {
		argv = append(argv, spelling.Pair("--api-key", s.APIKey)...)
	}
	return recipe.Assemble(s, append(argv, options...), nil)
}

func simulatorSpelling() recipe.Spelling {
	s := vllmSpelling()
	s.Engine = "the simulator"
	s.Rename = func(arg recipe.Arg) recipe.Arg {
		arg.Name = vllmCanonical(arg.Name)
		return arg
	}
	s.Short = nil
	s.Falsehood = func(name string) string { return "--" + name + "=false" }
	s.List = func(string) recipe.ListForm { return recipe.Repeated }
	return s
}

// SimulatorOwner is whom bench simulate lists as the owner of its models.
const SimulatorOwner = "bench-simulator"
