package vllmcli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/load/dialect"
)

// backend is a name that --backend takes.
type backend struct {
	name string
	api  string // its dialect, sent to the dialect's usual path if --endpoint does not say
}

// backends lists them. Those of one engine that older clients of vLLM took
// send OpenAI completions, as they did there; --endpoint picks the engine's own
// dialect (see apiOf).
func backends() []backend {
	return []backend{
		{"openai", "completions"},
		{"vllm", "completions"},
		{"openai-chat", "chat"},
		{"openai-responses", "responses"},
		{"anthropic", "messages"},
		{"openai-embeddings", "embeddings"},
		{"openai-audio", "transcriptions"},
		{"vllm-pooling", "pooling"},
		{"vllm-rerank", "rerank"},
		{"vllm-score", "score"},
		{"sglang", "completions"},
		{"lmdeploy", "completions"},
		{"scalellm", "completions"},
		{"llama.cpp", "completions"},
		{"tgi", "tgi"},
		{"ollama", "ollama"},
	}
}

// otherBackends are names that vLLM's clients take and this one does not, each
// with the reason.
func otherBackends() map[string]string {
	return map[string]string{
		"openai-embeddings-chat": noChatPooling, "openai-embeddings-clip": noChatPooling,
		"openai-embeddings-vlm2vec": noChatPooling, "infinity-embeddings-clip": noChatPooling,
		"infinity-embeddings": "give its API as --backend openai-embeddings, with --endpoint /embeddings",
		"tensorrt-llm":        "Triton's generate_stream is not spoken: give trtllm-serve's API as --backend openai",
		"deepspeed-mii":       "its answers are not streamed: give its OpenAI API as --backend openai",
	}
}

// BackendNames lists the names for messages.
func BackendNames() string {
	var names []string
	for _, b := range backends() {
		names = append(names, b.name)
	}
	return strings.Join(names, ", ")
}

// API is the dialect to speak and the path to send to.
func (f *Flags) API() (api dialect.API, path string, err error) {
	at := slices.IndexFunc(backends(), func(b backend) bool { return b.name == f.Backend })
	if why, known := otherBackends()[f.Backend]; known {
		return api, "", fmt.Errorf("--backend %s is not supported: %s", f.Backend, why)
	}
	if at < 0 {
		return api, "", fmt.Errorf("--backend %q: want one of %s", f.Backend, BackendNames())
	}

	usual, err := dialect.APINamed(backends()[at].api)
	if err != nil || f.Endpoint == "" {
		return usual, usual.DefaultPath, err
	}

	path = "/" + strings.TrimPrefix(f.Endpoint, "/")
	api = usual
	if known, ok := dialect.OfPath(path); ok {
		api = known
	}
	if slices.Contains([]string{"openai", "vllm", "openai-chat"}, f.Backend) && api.Name != usual.Name {
		return api, "", fmt.Errorf("--backend %s with --endpoint %s: this path takes %s requests", f.Backend, path,
			api.Name)
	}

	return api, path, nil
}

// Base is the URL of the server.
func (f *Flags) Base() string {
	if f.BaseURL != "" {
		return f.BaseURL
	}
	host := f.Host
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		host = "[" + strings.Replace(host, "%", "%25", 1) + "]" // a zone follows the percent sign
	}
	return fmt.Sprintf("http://%s:%d", host, f.Port)
}
