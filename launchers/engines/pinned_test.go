package engines

import "testing"

func TestPinnedAcceptance(t *testing.T) {
	const config = `{"method": "eagle3", "num_speculative_tokens": 4, "synthetic_acceptance_length": 3.24}`
	for _, c := range []struct {
		name string
		argv []string
		env  map[string]string
		want float64 // 0: none
	}{
		{"vLLM", []string{"vllm", "serve", "m", "--speculative-config", config}, nil, 3.24},
		{"vLLM, one word", []string{"--speculative_config=" + config}, nil, 3.24},
		{"vLLM, not pinned", []string{"--speculative-config", `{"method": "eagle3"}`}, nil, 0},
		{"vLLM, a model", []string{"--speculative-config"}, nil, 0},
		{"not JSON", []string{"--speculative-config", "x"}, nil, 0},
		{"SGLang", nil, map[string]string{"SGLANG_SIMULATE_ACC_LEN": "2.5"}, 2.5},
		{"SGLang, off", nil, map[string]string{"SGLANG_SIMULATE_ACC_LEN": "-1"}, 0},
		{"TensorRT-LLM", nil, map[string]string{"TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS": "2.5"}, 3.5},
		{"nothing", []string{"llama-server", "-m", "x"}, map[string]string{"A": "1"}, 0},
	} {
		got, ok := PinnedAcceptance(c.argv, c.env)
		if got != c.want || ok != (c.want > 0) {
			t.Errorf("%s: got %v, %v; want %v", c.name, got, ok, c.want)
		}
	}
}
