package versus

import (
	"strconv"
	"strings"
)

// aliases are other spellings of flags, by launcher: what differs in the
// spelling alone does not differ.
var aliases = map[string]map[string]string{
	"vllm":   parallelism,
	"sglang": parallelism,
	"llamacpp": {
		"-m": "--model", "-c": "--ctx-size", "-ngl": "--gpu-layers", "--n-gpu-layers": "--gpu-layers", "-np": "--parallel",
		"-fa": "--flash-attn", "-b": "--batch-size", "-ub": "--ubatch-size", "-t": "--threads", "-tb": "--threads-batch",
		"-ctk": "--cache-type-k", "-ctv": "--cache-type-v", "-sm": "--split-mode", "-ts": "--tensor-split",
		"-mg": "--main-gpu", "-md": "--model-draft", "-ngld": "--gpu-layers-draft", "--n-gpu-layers-draft": "--gpu-layers-draft",
		"-cb": "--cont-batching", "-a": "--alias", "-hf": "--hf-repo", "-dev": "--device", "-n": "--predict",
		"--n-predict": "--predict",
	},
}

var parallelism = map[string]string{
	"-tp": "--tensor-parallel-size", "--tp": "--tensor-parallel-size", "--tp-size": "--tensor-parallel-size",
	"-pp": "--pipeline-parallel-size", "--pp": "--pipeline-parallel-size", "--pp-size": "--pipeline-parallel-size",
	"-dp": "--data-parallel-size", "--dp": "--data-parallel-size", "--dp-size": "--data-parallel-size",
	"-q": "--quantization", "--model-path": "--model",
}

// chosenByBench are flags whose values bench picks anew for each start.
var chosenByBench = []string{"--host", "--port"}

// flagName is the name that a flag is compared by.
func flagName(launcher, name string) string {
	if strings.HasPrefix(name, "--") {
		name = strings.ReplaceAll(name, "_", "-")
	}
	if full, known := aliases[launcher][name]; known {
		return full
	}

	return name
}

// sameNumber writes a number in one way: 0.960 is 0.96, and 8.0 is 8. What is
// no plain decimal number stays as it is.
func sameNumber(value string) string {
	if value == "" || strings.Trim(value, "+-.0123456789") != "" {
		return value
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || strings.Trim(value, "+-0123456789") == "" { // whole numbers may be too long for a float
		return value
	}

	return strconv.FormatFloat(v, 'f', -1, 64)
}
