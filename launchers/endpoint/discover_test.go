package endpoint

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/benchrig/bench/launchers/recipe"
)

func TestDiscover(t *testing.T) {
	for _, c := range []struct {
		name, model string
		answers     map[string]string
		want        Discovery
		args        string // a name and value among the arguments
		problem     string
	}{
		{
			name:    "vllm",
			answers: map[string]string{"/v1/models": `{"data":[{"id":"a","owned_by":"vllm","root":"org/a","max_model_len":16384}]}`},
			want:    Discovery{Kind: "vllm", Model: "a", Root: "org/a", MaxModelLen: 16384, LenFrom: "/v1/models"},
		},
		{
			name: "vllm in development mode, another model",
			answers: map[string]string{
				"/v1/models":   `{"data":[{"id":"a","owned_by":"vllm","max_model_len":16384},{"id":"lora","owned_by":"vllm","root":"/adapters/x","max_model_len":null}]}`,
				"/server_info": `{"vllm_config":{"model_config":{"max_model_len":16384,"hf_token":"s3cret"}}}`,
			},
			model: "lora", args: "model_config.max_model_len 16384",
			want: Discovery{
				Kind: "vllm", Model: "lora", Root: "/adapters/x", MaxModelLen: 16384, LenFrom: "/v1/models",
				ArgsFrom: "/server_info?config_format=json",
			},
		},
		{
			name: "llama-server",
			answers: map[string]string{
				"/v1/models": `{"data":[{"id":"t.gguf","owned_by":"llamacpp","meta":{"n_ctx":8192,"n_ctx_train":131072}}]}`,
				"/props":     `{"default_generation_settings":{"n_ctx":2048},"total_slots":4}`,
			},
			args: "total_slots 4",
			want: Discovery{
				Kind: "llamacpp", Model: "t.gguf", MaxModelLen: 2048, LenFrom: "/props",
				ArgsFrom: "/props",
			},
		},
		{
			name:    "simulator",
			answers: map[string]string{"/v1/models": `{"data":[{"id":"s","owned_by":"bench-simulator","max_model_len":4096}]}`},
			want:    Discovery{Kind: "vllm", Model: "s", Simulated: true, MaxModelLen: 4096, LenFrom: "/v1/models"},
		},
		{
			name:    "somebody else's",
			answers: map[string]string{"/v1/models": `{"data":[{"id":"x","owned_by":"me"}]}`, "/props": `{"n":1}`},
			want:    Discovery{Model: "x"},
		},
		{name: "no list", problem: "status 404"},
		{
			name: "an empty list", answers: map[string]string{"/v1/models": `{"data":[]}`},
			problem: "no model in the list",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if answer, ok := c.answers[r.URL.Path]; ok {
					_, _ = w.Write([]byte(answer))
					return
				}
				http.NotFound(w, r)
			}))
			defer server.Close()
			got, err := Discover(t.Context(), recipe.Spec{BaseURL: server.URL + "/v1/"}, c.model)
			if c.problem != "" {
				if err == nil || !strings.Contains(err.Error(), c.problem) {
					t.Errorf("Discover = %+v, %v, want %q", got, err, c.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if name, value, _ := strings.Cut(c.args, " "); got.Arguments[name] != value ||
				strings.Contains(strings.Join(values(got.Arguments), " "), "s3cret") {
				t.Errorf("arguments = %v, want %s, and no secret", got.Arguments, c.args)
			}
			if len(got.Models) == 0 {
				t.Error("no models")
			}
			got.Models, got.Arguments = nil, nil
			if got.Kind != c.want.Kind || got.Model != c.want.Model || got.Root != c.want.Root ||
				got.Simulated != c.want.Simulated ||
				got.MaxModelLen != c.want.MaxModelLen || got.LenFrom != c.want.LenFrom ||
				got.ArgsFrom != c.want.ArgsFrom {
				t.Errorf("Discover = %+v, want %+v", got, c.want)
			}
		})
	}
}

func values(of map[string]string) []string {
	var all []string
	for _, value := range of {
		all = append(all, value)
	}
	return all
}
