package endpoint

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/serverlog"
)

// resettable is an attached server with a log of its own, whose reset path
// answers as handle says.
func resettable(t *testing.T, name string, handle func(http.ResponseWriter, func(string))) *Endpoint {
	t.Helper()
	path := filepath.Join(t.TempDir(), "server.log")
	say := func(line string) {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Error(err)
			return
		}
		defer file.Close()
		fmt.Fprintln(file, line)
	}
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			handle(w, say)
		case r.URL.Path == "/slots":
			fmt.Fprint(w, `[{"id":0,"is_processing":false},{"id":1,"is_processing":true}]`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(remote.Close)
	kind, _ := engines.Lookup(name)
	say("Successfully reset prefix cache of an earlier time")
	log, err := serverlog.Open(path, kind.Log, kind.Args.Slots, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(log.Close)
	server := New(kind, recipe.Spec{BaseURL: remote.URL})
	server.Follow(log)
	return server
}

func TestResetCache(t *testing.T) {
	t.Parallel()
	const done, failed = "INFO 01-01 block_pool.py] Successfully reset prefix cache",
		"WARNING Failed to reset prefix cache because some blocks (3) are not freed yet"
	status := func(code int) func(http.ResponseWriter, func(string)) {
		return func(w http.ResponseWriter, _ func(string)) { w.WriteHeader(code) }
	}
	says := func(line string) func(http.ResponseWriter, func(string)) {
		return func(_ http.ResponseWriter, say func(string)) { say(line) }
	}
	for _, c := range []struct {
		name, kind  string
		handle      func(http.ResponseWriter, func(string))
		how, err    string
		unsupported bool
	}{
		{"vLLM", "vllm", says(done), "/reset_prefix_cache", "", false},
		{"vLLM that refuses with 200", "vllm", says(failed), "", "not freed yet", false},
		{"vLLM that says nothing", "vllm", status(200), "", "does not say", false},
		{"vLLM without dev mode", "vllm", status(404), "", "VLLM_SERVER_DEV_MODE=1", true},
		{"vLLM in trouble", "vllm", status(500), "", "500", false},
		{"SGLang", "sglang", says("[2025-01-01 TP0] Cache flushed successfully!"), "/flush_cache", "", false},
		{"SGLang of few words", "sglang", status(200), "/flush_cache", "", false},
		{"SGLang that is busy", "sglang", status(400), "", "no request is running", false},
		{
			"SGLang that is busy, old", "sglang", says("Cache not flushed because there are pending requests"), "",
			"not flushed", false,
		},
		{"llama-server", "llamacpp", status(200), "/slots?action=erase", "", false},
		{"llama-server without the path", "llamacpp", status(501), "", "slot-save-path", true},
		{"ollama", "ollama", status(200), "", "no call", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := resettable(t, c.kind, c.handle)
			how, err := server.ResetCache(t.Context())
			if c.err == "" && (err != nil || how != c.how) || c.err != "" &&
				(err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("ResetCache() = %q, %v, want %q and an error with %q", how, err, c.how, c.err)
			}
			if errors.Is(err, errors.ErrUnsupported) != c.unsupported {
				t.Errorf("ResetCache() = %v, unsupported is not %v", err, c.unsupported)
			}
		})
	}
}

// Without the log nobody knows whether vLLM did what it answers 200 for.
func TestResetCacheOfExternal(t *testing.T) {
	t.Parallel()
	server := resettable(t, "vllm", func(http.ResponseWriter, func(string)) {})
	server.Follow(nil)
	if _, err := server.ResetCache(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("ResetCache() without a log = %v, want ErrUnsupported", err)
	}
}

// Without metrics llama-server's slots tell.
func TestDrainBySlots(t *testing.T) {
	t.Parallel()
	server := resettable(t, "llamacpp", nil)
	if n, known := server.Outstanding(t.Context()); n != 1 || !known {
		t.Errorf("outstanding() = %d, %v, want the one busy slot", n, known)
	}
}
