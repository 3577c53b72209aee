package engines

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/recipe"
)

// hubCache is that of Hugging Face's libraries.
func hubCache() container.Cache {
	return container.Cache{Name: "huggingface", Path: "/root/.cache/huggingface", Variable: "HF_HOME"}
}

// kernelCaches are those of kernels that are compiled when they are first used.
func kernelCaches() []container.Cache {
	return []container.Cache{
		// its library adds .cache/flashinfer to the variable, and not to the path
		{Name: "flashinfer", Path: "/root/.cache/flashinfer", Variable: "FLASHINFER_WORKSPACE_BASE"},
		{Name: "triton", Path: "/root/.triton", Variable: "TRITON_CACHE_DIR", Below: "cache"},
	}
}

// compiledCode are the variables of the libraries by which Python engines compile
// kernels and graphs.
func compiledCode(own ...string) []string {
	return append(own, "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "FLASHINFER_WORKSPACE_BASE", cudaCode)
}

// cudaCode is the variable of the code that CUDA's driver compiles for a GPU.
const cudaCode = "CUDA_CACHE_PATH"

// hubFolder is the variable of what comes from Hugging Face's hub.
func hubFolder() []string { return []string{hubCache().Variable} }

// Downloads warns of a container that fetches its model again with each start:
// what it downloads goes with it. "": there is nothing to say.
func Downloads(kind Kind, spec recipe.Spec) string {
	image, model := spec.Container.Image, spec.Model
	isHubName := model != "" && !strings.HasPrefix(model, "/") && !strings.HasPrefix(model, ".")
	if image == "" || spec.Container.ShowsHome() || !isHubName || len(kind.Image.Caches) == 0 ||
		spec.Container.Cache != "" {
		return ""
	}

	for _, cache := range kind.Image.Caches {
		if spec.Container.Mounted(cache.Path) {
			return ""
		}
	}
	for _, name := range []string{"HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "LLAMA_CACHE", "OLLAMA_MODELS"} {
		if folder, set := spec.Env[name]; set && spec.Container.Mounted(folder) {
			return ""
		}
	}

	token := ""
	if slices.Contains(kind.Image.Caches, hubCache()) && spec.Env["HF_TOKEN"] == "" {
		token = `; a gated model also needs env: {HF_TOKEN: "${env:HF_TOKEN}"}`
	}

	return fmt.Sprintf("container: each start downloads %s again, because a container's downloads are removed "+
		"with it: write cache: ${env:HOME}/.cache below container:%s", model, token)
}
