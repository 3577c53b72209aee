package fakeengine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// engine is the HTTP side.
type engine struct {
	config   Config
	began    time.Time
	exit     chan<- int
	leave    func()       // lets another worker take over
	requests atomic.Int64 // completions, from 1
	active   atomic.Int64 // completions under way
	stopping atomic.Bool  // SIGTERM has come, and the streams of clients are waited for
	inputs   atomic.Int64 // prompt tokens
	outputs  atomic.Int64
}

// serve listens where the command line says and serves in the background.
func serve(config Config, args []string, exit chan<- int) (*engine, error) {
	host, port := address(args, os.Getenv("OLLAMA_HOST"))
	if config.Host != "" {
		host = config.Host
	}
	if config.Port != "" {
		port = config.Port
	}

	var listen net.ListenConfig
	if config.Shared {
		listen.Control = share
	}

	listener, worker, err := inherited()
	if !worker {
		listener, err = listen.Listen(context.Background(), "tcp", net.JoinHostPort(host, port))
	}
	if err != nil {
		return nil, err
	}

	fmt.Fprintf(os.Stderr, "listening on http://%s\n", listener.Addr())
	if config.KeepsPort {
		if err := passListenerOn(listener); err != nil {
			return nil, err
		}
	}

	e := &engine{config: config, began: time.Now(), exit: exit}
	server := &http.Server{Handler: e.routes()}
	e.leave = sync.OnceFunc(func() { go e.leaveTo(listener) })
	go func() { _ = server.Serve(listener) }()
	return e, nil
}

// awaitClients waits until no client has a stream open, as uvicorn does before
// it ends.
func (e *engine) awaitClients() {
	e.stopping.Store(true)
	fmt.Fprintln(os.Stderr, "INFO:     Waiting for connections to close. (CTRL+C to force quit)")
	for e.active.Load() > 0 {
		time.Sleep(10 * time.Millisecond)
	}
}

// share lets other sockets listen on the same port.
func share(_, _ string, conn syscall.RawConn) error {
	var failed error
	err := conn.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	})
	return cmp.Or(err, failed)
}

// Handler is the engine's API without a process, for tests of clients.
func Handler(config Config) http.Handler {
	e := &engine{config: config, began: time.Now(), exit: make(chan int, 1)}
	return e.routes()
}

// address finds host and port in a command line of any engine.
func address(args []string, ollamaHost string) (host, port string) {
	host, port = "127.0.0.1", "8000"
	if ollamaHost != "" {
		if h, p, err := net.SplitHostPort(strings.TrimPrefix(ollamaHost, "http://")); err == nil {
			host, port = h, p
		}
	}

	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		switch name {
		case "--port", "-p", "--http-port":
			port = value
		case "--host", "--hostname":
			host = value
		}
	}

	return host, port
}

func (e *engine) routes() http.Handler {
	mux := http.NewServeMux()
	add := func(path string, handle http.HandlerFunc) {
		if path != "" {
			mux.HandleFunc(path, handle)
		}
	}

	paths := e.config.Paths
	add(paths.Models, e.models)
	add(paths.Metrics, e.metrics)
	add(paths.Tokenize, e.tokenize)
	if paths.Health != "/" {
		add(paths.Health, e.health)
	}
	if paths.Version != paths.Health {
		add(paths.Version, e.version)
	}

	add("/v1/completions", e.completions)
	add("/v1/chat/completions", e.completions)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" || paths.Health != "/" {
			http.NotFound(w, r)
		}
	})

	return e.gate(mux)
}

// gate answers 503 while the model loads and 401 without the key.
func (e *engine) gate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case time.Since(e.began) < e.config.Loading:
			fail(w, http.StatusServiceUnavailable, "Loading model", "unavailable_error")
		case e.config.Key != "" && r.URL.Path != e.config.Paths.Health &&
			r.Header.Get("Authorization") != "Bearer "+e.config.Key:
			fail(w, http.StatusUnauthorized, "Invalid API Key", "authentication_error")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func fail(w http.ResponseWriter, status int, message, kind string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"error": map[string]any{"code": status, "message": message, "type": kind},
	})
}

func (e *engine) health(w http.ResponseWriter, r *http.Request) {
	if e.config.HealthHang {
		<-r.Context().Done()
		return
	}
	if e.config.HealthCode != 0 {
		w.WriteHeader(e.config.HealthCode)
	}
	fmt.Fprint(w, `{"status":"ok"}`)
}

// version answers as the path of the version does, which on llama-server also
// names the model.
func (e *engine) version(w http.ResponseWriter, _ *http.Request) {
	told := map[string]any{"version": "0.0.0-fake"}
	if e.config.Loaded != "" {
		told["model_path"] = e.config.Loaded
	}
	_ = json.NewEncoder(w).Encode(told)
}

func (e *engine) models(w http.ResponseWriter, _ *http.Request) {
	_ = json.NewEncoder(w).Encode(map[string]any{
		"object": "list",
		"data": []any{map[string]any{
			"id": e.config.Model, "object": "model",
			"meta": map[string]any{"n_vocab": 1184},
		}},
	})
}

func (e *engine) metrics(w http.ResponseWriter, _ *http.Request) {
	values := map[string]int64{
		"requests_total":      e.requests.Load(),
		"input_tokens_total":  e.inputs.Load(),
		"output_tokens_total": e.outputs.Load(),
	}
	if at := e.config.CountBackAt; at > 0 && e.requests.Load() >= int64(at) {
		clear(values)
		values["requests_total"], values["input_tokens_total"], values["output_tokens_total"] = 0, 0, 0
	}
	for ours, theirs := range e.config.Counters {
		if value, known := values[ours]; known {
			fmt.Fprintf(w, "# TYPE %s counter\n%s{model_name=\"m\"} %d\n", theirs, theirs, value)
		}
	}
}

// tokenize answers both dialects: one token a word.
func (e *engine) tokenize(w http.ResponseWriter, r *http.Request) {
	var ask struct{ Prompt, Content, Inputs string }
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		fail(w, http.StatusBadRequest, err.Error(), "invalid_request_error")
		return
	}
	tokens := []int{}
	for i := range strings.Fields(ask.Prompt + ask.Content + ask.Inputs) {
		tokens = append(tokens, 100+i)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"count": len(tokens), "tokens": tokens})
}
