package tokenizer

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/freeport"
	"github.com/benchrig/bench/internal/tinygguf"
)

// llamaServer is a running llama-server.
type llamaServer struct {
	t       *testing.T
	address string
}

func startLlama(t *testing.T, model []byte) (*llamaServer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, model, 0o600); err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(freeport.Take(t, 1))
	var log bytes.Buffer
	cmd := exec.Command(os.Getenv("BENCH_LLAMA_SERVER"), "-m", path, "--host", "127.0.0.1", "--port", port, "-c", "256",
		"-np", "1", "-t", "1")
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("server's log ends:\n%s", log.Bytes()[max(0, log.Len()-2000):])
		}
	})
	s := &llamaServer{t: t, address: "http://127.0.0.1:" + port}
	s.wait()
	return s, path
}

func (s *llamaServer) wait() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	for {
		request, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.address+"/health", nil)
		if answer, err := http.DefaultTransport.RoundTrip(request); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-ctx.Done():
			s.t.Fatal("the server did not become ready in two minutes")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// ask posts one question; the server closes idle connections when it likes, so
// each has its own.
func (s *llamaServer) ask(path string, question, answer any) {
	s.t.Helper()
	body, err := json.Marshal(question)
	if err != nil {
		s.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.address+path, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		s.t.Fatalf("%s %q: %s", path, body, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		s.t.Fatal(err)
	}
}

func (s *llamaServer) tokenize(text string, special bool) []int {
	var answer struct{ Tokens []int }
	s.ask("/tokenize", map[string]any{"content": text, "add_special": special}, &answer)
	return answer.Tokens
}

func (s *llamaServer) detokenize(ids []int) string {
	var answer struct{ Content string }
	s.ask("/detokenize", map[string]any{"tokens": ids}, &answer)
	return answer.Content
}

// TestLlamaServer compares ids with those of a real llama-server, which
// BENCH_LLAMA_SERVER names: SentencePiece, and every way to cut words that a
// name in a GGUF file can ask for. It takes minutes with the race detector, so
// it runs where the other implementations are asked for too.
func TestLlamaServer(t *testing.T) {
	if os.Getenv("BENCH_LLAMA_SERVER") == "" {
		t.Skip("BENCH_LLAMA_SERVER is not set: it names the llama-server to compare with")
	}
	if os.Getenv("BENCH_TOKENIZERS") == "" {
		t.Skip("BENCH_TOKENIZERS is not set: it asks for long comparisons")
	}
	t.Run("spm", func(t *testing.T) { compareWithServer(t, tinyModel(t), 3000) })
	for _, pre := range preNames() {
		t.Run(pre, func(t *testing.T) {
			compareWithServer(t, withVocabulary(t, ggufBPE(pre, tinygguf.VocabSize)), 500)
		})
	}
}

// preNames are all names that preTokenizerOf knows.
func preNames() []string {
	return strings.Fields(`default gpt-2 phi-2 olmo jais trillion granite-docling
		starcoder refact command-r smollm codeshell exaone minerva-7b
		llama3 llama-v3 llama-bpe falcon3 dbrx smaug-bpe qwen2 stablelm2 deepseek-r1-qwen megrez
		tekken gpt-4o llama4 deepseek-v3`)
}

func compareWithServer(t *testing.T, model []byte, n int) {
	server, path := startLlama(t, model)
	tok, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	texts := hostileCorpus(11, n)
	for i, text := range texts {
		texts[i] = strings.ReplaceAll(text, "<|endoftext|>", "<|bos|><|mine|>")
	}
	wrong := 0
	complain := func(format string, args ...any) {
		if wrong++; wrong <= 8 {
			t.Errorf(format, args...)
		}
	}
	for i, text := range texts {
		special := i%4 == 0
		want := server.tokenize(text, special)
		got, err := tok.Encode(text, special)
		if err != nil || !slices.Equal(got, want) {
			complain("Encode(%q, %t) = %v, %v; want %v", text, special, got, err, want)
			continue
		}
		if i%8 != 0 {
			continue
		}
		back, err := tok.Decode(got, false)
		if says := server.detokenize(got); err != nil || back != strings.TrimPrefix(says, " ") && back != says {
			complain("Decode(%v) = %q, %v; want %q", got, back, err, says)
		}
	}
	t.Logf("%d texts, %d wrong", len(texts), wrong)
}
