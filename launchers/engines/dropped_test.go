package engines

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/launchers/recipe"
)

func TestDroppedEnv(t *testing.T) {
	t.Parallel()
	environ := []string{
		"PATH=/bin", "VLLM_USE_V1=0", "VLLM_KEEP=1", "LLAMA_ARG_CTX_SIZE=8", "RANK=0", "https_proxy=http://p",
		"EMPTY=", "NO_COLOR=0",
		"WORLD_SIZE=2", "GONE=1", "CUDA_VISIBLE_DEVICES=3", "RANK=0",
	}
	spec := recipe.Spec{
		Launcher: "vllm", Model: "m", Port: 8000, Host: "127.0.0.1", Env: map[string]string{"VLLM_KEEP": "2"},
		Unset:  []string{"GONE"},
		Vendor: "amd", GPUs: []int{0},
	}
	want := []string{
		"CUDA_VISIBLE_DEVICES", "GONE", "LLAMA_ARG_CTX_SIZE", "RANK", "VLLM_USE_V1", "WORLD_SIZE",
		"https_proxy",
	}
	if diff := cmp.Diff(want, DroppedEnv(environ, spec)); diff != "" {
		t.Errorf("DroppedEnv(): (-want +got)\n%s", diff)
	}
	external := recipe.Spec{Launcher: "external", BaseURL: "http://h"}
	contained := spec
	contained.Container.Image = "image"
	broken := spec
	broken.Model = ""
	for name, spec := range map[string]recipe.Spec{
		"external": external, "container": contained, "broken": broken,
		"unknown": {Launcher: "x"},
	} {
		if got := DroppedEnv(environ, spec); got != nil {
			t.Errorf("DroppedEnv() of %s = %v, want none", name, got)
		}
	}
}
