package engines

// parallelSpellings are other names of flags that vLLM and SGLang share.
func parallelSpellings() map[string]string {
	return map[string]string{
		"-tp": "--tensor-parallel-size", "--tp": "--tensor-parallel-size", "--tp-size": "--tensor-parallel-size",
		"-pp": "--pipeline-parallel-size", "--pp": "--pipeline-parallel-size", "--pp-size": "--pipeline-parallel-size",
		"-dp": "--data-parallel-size", "--dp": "--data-parallel-size", "--dp-size": "--data-parallel-size",
		"-q": "--quantization", "--model-path": "--model",
	}
}

// llamaSpellings are the short and older names of flags of llama-server.
func llamaSpellings() map[string]string {
	return map[string]string{
		"-m": "--model", "-c": "--ctx-size", "-ngl": "--gpu-layers", "--n-gpu-layers": "--gpu-layers",
		"-np": "--parallel", "-fa": "--flash-attn", "-b": "--batch-size", "-ub": "--ubatch-size", "-t": "--threads",
		"-tb":  "--threads-batch",
		"-ctk": "--cache-type-k", "-ctv": "--cache-type-v", "-sm": "--split-mode", "-ts": "--tensor-split",
		"-mg": "--main-gpu", "-md": "--model-draft", "-ngld": "--gpu-layers-draft",
		"--n-gpu-layers-draft": "--gpu-layers-draft",
		"-cb":                  "--cont-batching", "-a": "--alias", "-hf": "--hf-repo", "-dev": "--device",
		"-n":          "--predict",
		"--n-predict": "--predict",
	}
}
