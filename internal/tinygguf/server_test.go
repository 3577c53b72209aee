package tinygguf

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/freeport"
)

// client opens a connection for each request: the server closes idle ones when
// it likes, and a request that meets this fails with an EOF.
func client() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
}

// startServer runs the llama-server that BENCH_LLAMA_SERVER names with a model
// and returns its address.
func startServer(t *testing.T, o Options) string {
	t.Helper()
	program := os.Getenv("BENCH_LLAMA_SERVER")
	if program == "" {
		t.Skip("BENCH_LLAMA_SERVER is not set: it names the llama-server to try the model on")
	}
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, write(t, o), 0o600); err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(freeport.Take(t, 1))

	var log bytes.Buffer
	server := exec.Command(program, "-m", path, "--host", "127.0.0.1", "--port", port, "-c", "2048", "-np",
		"1", "-t", "1")
	server.Stdout, server.Stderr = &log, &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		if t.Failed() {
			t.Logf("server's log:\n%s", log.String())
		}
	})
	address := "http://127.0.0.1:" + port
	waitHealthy(t, address)
	return address
}

func waitHealthy(t *testing.T, address string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		request, _ := http.NewRequestWithContext(ctx, http.MethodGet, address+"/health", nil)
		if answer, err := client().Do(request); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-ctx.Done():
			t.Fatal("the server did not become ready in two minutes")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func post(t *testing.T, url, body string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	request, _ := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	answer, err := client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("POST %s: %s %v: %s", url, answer.Status, err, raw)
	}
	return raw
}

type completion struct {
	Choices []struct {
		Text   string
		Reason string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	}
	Error any
}

func decode[T any](t *testing.T, raw []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}

func TestRealServer(t *testing.T) {
	for _, kind := range []string{"f16", "q8_0", "q4_0"} {
		t.Run(kind, func(t *testing.T) {
			address := startServer(t, Options{Type: kind})
			t.Run("token ids", func(t *testing.T) { checkTokenIDs(t, address) })
			t.Run("stream", func(t *testing.T) { checkStream(t, address) })
			t.Run("tokenize", func(t *testing.T) { checkTokenize(t, address) })
			t.Run("chat", func(t *testing.T) { checkChat(t, address) })
		})
	}
}

// Every id of the vocabulary is accepted as a prompt, and counted exactly.
func checkTokenIDs(t *testing.T, address string) {
	for from := 0; from < VocabSize; from += 400 {
		ids := []int{}
		for id := from; id < min(from+400, VocabSize); id++ {
			ids = append(ids, id)
		}
		prompt, _ := json.Marshal(ids)
		body := fmt.Sprintf(`{"prompt":%s,"max_tokens":8,"ignore_eos":true,"temperature":1,"seed":%d}`, prompt, from)
		c := decode[completion](t, post(t, address+"/v1/completions", body))
		if c.Usage.Prompt != len(ids) || c.Usage.Completion != 8 || c.Choices[0].Reason != "length" {
			t.Errorf("ids %d..: usage %+v, reason %q, want %d and 8, length", from, *c.Usage,
				c.Choices[0].Reason, len(ids))
		}
	}
}

// Answers run to their limit in whole pieces of text, whatever the seed.
func checkStream(t *testing.T, address string) {
	for seed := range 5 {
		body := fmt.Sprintf(
			`{"prompt":[1,600,%d],"max_tokens":200,"stream":true,"ignore_eos":true,"temperature":1,"seed":%d}`,
			700+seed, seed)
		lines := bufio.NewScanner(bytes.NewReader(post(t, address+"/v1/completions", body)))
		pieces, tokens, done := 0, 0, false
		for lines.Scan() {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok || data == "[DONE]" {
				done = done || ok
				continue
			}
			c := decode[completion](t, []byte(data))
			if c.Error != nil {
				t.Fatalf("seed %d: error in the stream: %s", seed, data)
			}
			if len(c.Choices) > 0 && c.Choices[0].Text != "" {
				pieces++
			}
			if c.Usage != nil {
				tokens = c.Usage.Completion
			}
		}
		if pieces != 200 || tokens != 200 || !done {
			t.Errorf("seed %d: %d pieces, %d tokens, done %v, want 200, 200, true", seed, pieces, tokens, done)
		}
	}
}

// Each listed word is one token.
func checkTokenize(t *testing.T, address string) {
	words := strings.Fields(wordList)
	body, _ := json.Marshal(map[string]any{"content": strings.Join(words, " ")})
	got := decode[struct{ Tokens []int }](t, post(t, address+"/tokenize", string(body)))
	if len(got.Tokens) != len(words) {
		t.Errorf("%d words are %d tokens, want as many", len(words), len(got.Tokens))
	}
}

func checkChat(t *testing.T, address string) {
	raw := post(t, address+"/v1/chat/completions",
		`{"messages":[{"role":"user","content":"one two"}],"max_tokens":8,"ignore_eos":true}`)
	if c := decode[completion](t, raw); c.Usage.Completion != 8 {
		t.Errorf("chat: %d tokens, want 8", c.Usage.Completion)
	}
}

func TestRealServerNaturalStops(t *testing.T) {
	address := startServer(t, Options{NaturalStops: true})
	stopped := 0
	for seed := range 10 {
		body := fmt.Sprintf(`{"prompt":[1,%d],"max_tokens":400,"temperature":1,"seed":%d}`, 500+seed, seed)
		c := decode[completion](t, post(t, address+"/v1/completions", body))
		if c.Choices[0].Reason == "stop" && c.Usage.Completion < 400 {
			stopped++
		}
	}
	if stopped < 8 {
		t.Errorf("%d of 10 answers stopped by themselves, want at least 8", stopped)
	}
}

func TestRealServerLoadsSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("short: writes 70 MB")
	}
	o, err := Size("small")
	if err != nil {
		t.Fatal(err)
	}
	o.Type = "q8_0"
	address := startServer(t, o)
	c := decode[completion](t, post(t, address+"/v1/completions",
		`{"prompt":[1,600],"max_tokens":8,"ignore_eos":true}`))
	if c.Usage.Completion != 8 {
		t.Errorf("%d tokens, want 8", c.Usage.Completion)
	}
}
