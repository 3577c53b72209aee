package recipe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	inherited := []string{
		"PATH=/bin", "HOME=/root", "LLAMA_ARG_CTX_SIZE=1", "VLLM_USE_V1=0", "VLLM_KEEP=1", "MASTER_ADDR=x", "RANK=0", "WORLD_SIZE=8",
		"http_proxy=p", "HTTPS_PROXY=p", "no_proxy=q", "BENCH_COOKIE=outer", "GONE=1", "ROCR_VISIBLE_DEVICES=0", "NO_COLOR=0",
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
