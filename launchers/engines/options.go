package engines

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/launchers/recipe"
)

// hasNone says for a kind's WeightsOnGPU that none of these arguments is given.
func hasNone(spelling func() recipe.Spelling, names ...string) func([]recipe.Arg) bool {
	return func(args []recipe.Arg) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return spelling().Has(args, name) })
	}
}

// namedFile is a kind's File for arguments of these canonical names, NAME.PART for
// a part of an object.
func namedFile(spelling func() recipe.Spelling, names ...string) func(string, any) string {
	return func(given string, value any) string {
		for _, name := range names {
			whole, part, dotted := strings.Cut(name, ".")
			object, isObject := value.(map[string]any)
			switch key := spelling().Key(given); {
			case key == name && !isObject:
				path, _ := value.(string)
				return path
			case key == whole && dotted && isObject:
				path, _ := object[part].(string)
				return path
			}
		}
		return ""
	}
}

// address is where the server shall listen.
func address(s recipe.Spec) (host, port string) { return s.Host, strconv.Itoa(s.Port) }

// needModel refuses a recipe without a model, or with one that an engine would
// read as an option.
func needModel(s recipe.Spec) error {
	switch {
	case s.Model == "":
		return fmt.Errorf("model: missing: say which model %s shall load", s.Launcher)
	case strings.HasPrefix(s.Model, "-"):
		return fmt.Errorf("model: %q begins with a dash, as options do: write a path as ./%s", s.Model, s.Model)
	case strings.ContainsRune(s.Model+s.ServedName, 0):
		return fmt.Errorf("model: %q contains a NUL byte", s.Model)
	}
	return nil
}

// servedOrModel is the name in requests where an engine serves a model under
// its own name by default.
func servedOrModel(s recipe.Spec) string { return cmp.Or(s.ServedName, s.Model) }

// unknownSize is the WorldSize of kinds that use whatever GPUs they see, or
// none.
func unknownSize([]recipe.Arg) int { return 0 }

// sizes multiplies the options of those canonical names, 1 where one is not
// given; 0 if one cannot be read.
func sizes(s recipe.Spelling, args []recipe.Arg, names ...string) int {
	product := 1
	for _, name := range names {
		value, ok := s.Find(args, name)
		if !ok || value == nil {
			continue
		}
		size, ok := positive(value)
		if !ok || size > maxParallel {
			return 0
		}
		product *= size
	}
	return product
}

func positive(value any) (int, bool) {
	var text string
	switch v := value.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = v
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n > 0
}

// maxParallel is more than any parallelism option will ever say.
const maxParallel = 4096

// wholeOption is an option's whole number; 0: there is none.
func wholeOption(s recipe.Spelling, args []recipe.Arg, name string) int {
	value, _ := s.Find(args, name)
	n, _ := positive(value)
	return n
}

// generates refuses a server that answers with numbers where tokens are measured:
// pooling are the values of arguments that make it one.
func generates(s recipe.Spelling, spec recipe.Spec, pooling map[string][]any) error {
	if spec.Answer.Path != "" {
		return nil // numbers are what is asked for
	}
	for _, arg := range spec.Args {
		if slices.Contains(pooling[s.Key(arg.Name)], arg.Value) {
			return fmt.Errorf("args: %s: such a server generates no tokens: remove it, or measure it by load: "+
				"{endpoint: embeddings} or another API of numbers", arg.Name)
		}
	}
	return nil
}

// parallelSpellings are other names of flags that vLLM and SGLang share.
func parallelSpellings() map[string]string {
	return map[string]string{
		"-tp": "--tensor-parallel-size", "--tp": "--tensor-parallel-size", "--tp-size": "--tensor-parallel-size",
		"-pp": "--pipeline-parallel-size", "--pp": "--pipeline-parallel-size", "--pp-size": "--pipeline-parallel-size",
		"-dp": "--data-parallel-size", "--dp": "--data-parallel-size", "--dp-size": "--data-parallel-size",
		"-q": "--quantization", "--model-path": "--model",
	}
}

// vllmSpellings are the short names of flags of vllm serve.
func vllmSpellings() map[string]string {
	all := parallelSpellings()
	maps.Copy(all, map[string]string{
		"-dpl": "--data-parallel-size-local", "-dpn": "--data-parallel-rank", "-dpr": "--data-parallel-start-rank",
		"-dpa": "--data-parallel-address", "-dpp": "--data-parallel-rpc-port", "-dpb": "--data-parallel-backend",
		"-dcp": "--decode-context-parallel-size", "-pcp": "--prefill-context-parallel-size",
		"-ep": "--enable-expert-parallel", "-n": "--nnodes", "-r": "--node-rank",
		"-sc": "--speculative-config", "-cc": "--compilation-config", "-ac": "--attention-config",
	})
	return all
}

// torchUnset are further variables of a distributed launcher around us, and
// one that would add the counters of an earlier server to those of the next.
func torchUnset() []string {
	return []string{"LOCAL_RANK", "LOCAL_WORLD_SIZE", "PROMETHEUS_MULTIPROC_DIR"}
}

// PinnedAcceptance is the acceptance length that a server was configured to simulate,
// whatever its drafts are worth: tokens a step that checks a draft, the large
// model's own included. ok is false where none was asked for.
func PinnedAcceptance(argv []string, env map[string]string) (length float64, ok bool) {
	if length, ok = aboveZero(env["SGLANG_SIMULATE_ACC_LEN"]); ok { // below 0: off
		return length, true
	}
	if accepted, ok := aboveZero(env["TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"]); ok {
		return 1 + accepted, true // of the draft alone
	}

	var config struct {
		Length float64 `json:"synthetic_acceptance_length"`
	}
	for i, word := range argv {
		name, value, joined := strings.Cut(word, "=")
		if strings.ReplaceAll(name, "_", "-") != "--speculative-config" {
			continue
		}
		if !joined && i+1 < len(argv) {
			value = argv[i+1]
		}
		if json.Unmarshal([]byte(value), &config) != nil {
			config.Length = 0
		}
	}
	return config.Length, config.Length > 0
}

func aboveZero(text string) (value float64, ok bool) {
	value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return value, err == nil && value > 0
}
