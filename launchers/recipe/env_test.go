package recipe

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	inherited := []string{
		"PATH=/bin", "HOME=/root", "LLAMA_ARG_CTX_SIZE=1", "VLLM_USE_V1=0", "VLLM_KEEP=1", "MASTER_ADDR=x", "RANK=0",
		"WORLD_SIZE=8",
		"http_proxy=p", "HTTPS_PROXY=p", "no_proxy=q", "BENCH_COOKIE=outer", "GONE=1",
		"ROCR_VISIBLE_DEVICES=0", "NO_COLOR=0",
	}
	spec := Spec{Env: map[string]string{"VLLM_KEEP": "2", "HTTPS_PROXY": "mine"}, Unset: []string{"GONE", "SPT_NOENV"}}
	command := Command{Env: map[string]string{"HIP_VISIBLE_DEVICES": "0,1"}, Unset: []string{"ROCR_*"}}
	env, set := Environment(inherited, spec, command)
	want := []string{
		"PATH=/bin", "HOME=/root", "no_proxy=q",
		"HIP_VISIBLE_DEVICES=0,1", "HTTPS_PROXY=mine", "NO_COLOR=1", "PYTHONUNBUFFERED=1", "VLLM_KEEP=2",
	}
	if diff := cmp.Diff(want, env); diff != "" {
		t.Errorf("environment(): (-want +got)\n%s", diff)
	}
	wantSet := map[string]string{
		"HIP_VISIBLE_DEVICES": "0,1", "HTTPS_PROXY": "mine", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1", "VLLM_KEEP": "2",
	}
	if diff := cmp.Diff(wantSet, set); diff != "" {
		t.Errorf("environment() difference: (-want +got)\n%s", diff)
	}
}

func TestRedactor(t *testing.T) {
	t.Parallel()
	r := NewRedaction(Spec{Secrets: []string{"token", "token-long", "", "abc"}, APIKey: "key-1234"})
	for in, want := range map[string]string{
		"--api-key key-1234":  "--api-key ***",
		"token-long and more": "*** and more",
		"abc is too short":    "abc is too short",
		"nothing":             "nothing",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("redact(%q) = %q, want %q", in, got, want)
		}
	}
}

// A variable that the user wants to keep is kept, and recorded.
func TestEnvironmentKeepsWhatIsWanted(t *testing.T) {
	inherited := []string{
		"HTTPS_PROXY=http://me:word@proxy:3128", "VLLM_LOGGING_LEVEL=DEBUG",
		"VLLM_OTHER=1", "HOME=/h",
	}
	spec := Spec{Inherit: []string{"HTTPS_PROXY", "VLLM_LOGGING_LEVEL", "NOT_THERE"}, Env: map[string]string{"A": "1"}}
	command, err := Assemble(spec, []string{"prog"}, nil, "VLLM_LOGGING_LEVEL")
	if err != nil {
		t.Fatal(err)
	}
	env, set := Environment(inherited, spec, command)
	for _, want := range inherited[:2] {
		if !slices.Contains(env, want) {
			t.Errorf("environment = %q, want %s in it", env, want)
		}
	}
	if slices.Contains(env, "VLLM_OTHER=1") || set["HTTPS_PROXY"] != "***" || set["VLLM_LOGGING_LEVEL"] != "DEBUG" {
		t.Errorf("environment = %q, recorded %v, want no VLLM_OTHER, and the proxy on record without its password", env,
			set)
	}
	if dropped := Dropped(inherited, spec, command); !slices.Equal(dropped, []string{"VLLM_OTHER"}) {
		t.Errorf("Dropped() = %q, want VLLM_OTHER alone", dropped)
	}
	if _, err := Assemble(Spec{GPUs: []int{0}, Inherit: []string{"CUDA_VISIBLE_DEVICES"}}, nil, nil); err == nil {
		t.Error("Assemble() takes an inherited CUDA_VISIBLE_DEVICES beside assigned GPUs")
	}
}
