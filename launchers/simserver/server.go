package simserver

import (
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// Version is what GET /version and the log say.
const Version = "simulator-1"

// Owner is owned_by in the model list: how a client sees that figures are
// simulated.
const Owner = "bench-simulator"

// wrongModel is what the fault wrong-model serves.
const wrongModel = "another-model"

// server answers HTTP requests from an engine.
type server struct {
	cfg      simengine.Settings
	tok      *simengine.Tokenizer
	parser   parser
	engine   *simengine.Engine
	log      *logger
	truth    *truth
	created  int64 // unix seconds, as the model list tells it
	requests atomic.Int64
	inFlight atomic.Int64
	answered sync.Map // keys of answers that were given, for the fault cached-answers
	ready    atomic.Bool
	gate     sync.RWMutex // held for reading by each handler, for writing once the server has ended
}

func newServer(cfg simengine.Settings, log *logger, crash func(simengine.FaultKind)) *server {
	s := &server{
		cfg:     cfg,
		tok:     simengine.NewTokenizer(),
		engine:  simengine.NewEngine(cfg, crash),
		log:     log,
		truth:   newTruth(cfg.Truth),
		created: time.Now().Unix(),
	}

	if cfg.HasFault(simengine.FaultWrongModel) {
		s.cfg.ServedModelNames = []string{wrongModel}
	}

	s.parser = parser{
		tok: s.tok, llamaCpp: s.llamaCpp(), blind: s.llamaCpp() && cfg.Projector == "",
		model:    slices.Concat(s.cfg.ServedModelNames, cfg.Adapters),
		adapters: cfg.Adapters, priorities: cfg.SchedulingPolicy == simengine.PolicyPriority,
		maxLen: cfg.MaxModelLen, vocab: cfg.VocabSize,
	}

	return s
}

func (s *server) llamaCpp() bool { return s.cfg.Persona == simengine.PersonaLlamaCpp }

// handler routes all requests.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	for path, api := range map[string]api{
		"/v1/completions": s.openAI(false), "/v1/chat/completions": s.openAI(true),
		"/v1/responses": s.responsesAPI(), "/v1/messages": s.messagesAPI(),
	} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) { s.generate(w, r, api) })
	}
	numbersAPI{s}.route(mux)
	mux.HandleFunc("GET /metrics", exporter{s}.metrics)
	mux.HandleFunc("GET /sim/truth", s.truth.serve)
	mux.HandleFunc("POST /tokenize", tokenizeAPI{s}.tokenize)
	mux.HandleFunc("POST /detokenize", tokenizeAPI{s}.detokenize)
	if s.llamaCpp() {
		llamaAPI{s}.route(mux)
	} else {
		s.routeVLLM(mux)
	}

	if s.cfg.RootPath == "" {
		return s.guard(mux)
	}

	return s.guard(beneath(strings.TrimRight(s.cfg.RootPath, "/"), mux))
}

// beneath serves the same under a further path.
func beneath(prefix string, next http.Handler) http.Handler {
	stripped := http.StripPrefix(prefix, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, prefix+"/") {
			stripped.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// guard lets a request in: the server must be ready and the key must be right.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.gate.TryRLock() {
			panic(http.ErrAbortHandler) // the server has ended
		}
		defer s.gate.RUnlock()
		if !s.ready.Load() {
			s.writeError(w, newError(http.StatusServiceUnavailable, "unavailable_error", "Loading model"))
			return
		}
		if !s.authorized(r) {
			s.unauthorized(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// authorized checks the key on the paths that the persona protects.
func (s *server) authorized(r *http.Request) bool {
	if s.cfg.APIKey == "" || !s.protected(strings.TrimPrefix(r.URL.Path, strings.TrimRight(s.cfg.RootPath, "/"))) {
		return true
	}
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(key), []byte(s.cfg.APIKey)) == 1
}

func (s *server) protected(path string) bool {
	if s.llamaCpp() {
		return path != "/health" && path != "/v1/health"
	}
	return strings.HasPrefix(path, "/v1/")
}

func (s *server) unauthorized(w http.ResponseWriter) {
	if s.llamaCpp() {
		s.writeError(w, newError(http.StatusUnauthorized, "authentication_error", "Invalid API Key"))
		return
	}
	writeBody(w, http.StatusUnauthorized, "application/json", []byte(`{"error":"Unauthorized"}`))
}
