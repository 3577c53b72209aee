package endpoint

import (
	"cmp"
	"context"
	"maps"
	"sync"
	"time"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/serverlog"
	"github.com/benchrig/bench/results"
)

// Endpoint is a server as its clients meet it: an address that answers
// requests.
type Endpoint struct {
	kind   engines.Kind
	spec   recipe.Spec
	base   string // of requests, without trailing slash
	probe  *prober
	redact recipe.Redaction
	log    *serverlog.Log // nil: the server's log cannot be seen

	mu        sync.Mutex // guards all below
	model     string
	simulated bool
	vocab     int                     // tokens of the vocabulary; 0: the model list does not tell
	dialect   engines.TokenizeDialect // that it answered before; "": not known yet

	tokenizePath string // "": it has none, as far as is known

	engine      string // that the model list reveals; "": it does not
	listedFirst bool   // the model is the first of the list
	routed      bool   // llama-server as a router: what is asked must name the model
}

// New is the server of a kind at the spec's base URL, which may end in
// /v1. It asks nothing.
func New(kind engines.Kind, spec recipe.Spec) *Endpoint {
	base := joinable(spec.BaseURL)
	e := &Endpoint{
		kind:      kind,
		spec:      spec,
		base:      base,
		probe:     newProber(base+spec.PathPrefix, spec),
		redact:    recipe.NewRedaction(spec),
		model:     cmp.Or(spec.ServedName, spec.Model),
		simulated: kind.Simulated,

		tokenizePath: kind.API.TokenizePath,
	}
	if kind.API.ServedName != nil {
		e.model = kind.API.ServedName(spec)
	}
	return e
}

// Follow makes the server's log known, which shows resets and drafts.
func (e *Endpoint) Follow(log *serverlog.Log) { e.log = log }

// Shown is the base URL as messages give it.
func (e *Endpoint) Shown() string { return e.probe.shown }

// Simulated reports whether the server says that it is a simulator.
func (e *Endpoint) Simulated() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.simulated
}

// Ask makes one request and reads the whole answer within limit.
func (e *Endpoint) Ask(ctx context.Context, method, path string, body any, limit time.Duration) Answer {
	return e.probe.ask(ctx, method, path, body, limit)
}

// Token makes a streamed request and reports whether a token came. If none
// did, answer says what came instead.
func (e *Endpoint) Token(ctx context.Context, path string, body map[string]any) (Answer, bool) {
	body = maps.Clone(body)
	maps.Copy(body, e.kind.API.Body)
	return e.probe.token(ctx, path, body)
}

// Dial connects and hangs up. A wrong address is a *results.Failure.
func (e *Endpoint) Dial(ctx context.Context) error {
	address, err := dialAddress(e.probe.base)
	if err != nil {
		return results.Failf(results.FailBadRecipe, "%v", err)
	}
	conn, err := dialTo(e.spec.UnixSocket)(ctx, "tcp", address)
	if err != nil {
		return err
	}
	_ = conn.Close()
	return nil
}

// VocabSize is the number of tokens of the model's vocabulary, where the model
// list says.
func (e *Endpoint) VocabSize(context.Context) (int, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.vocab, e.vocab > 0
}

// Model is the name that requests give.
func (e *Endpoint) Model() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.model
}

// BaseURL is where requests go: paths that begin with / are appended.
func (e *Endpoint) BaseURL() string { return e.base }

// Version asks for the server's version, for the record; "" if it does not
// tell.
func (e *Endpoint) Version(ctx context.Context) string {
	return e.probe.version(ctx, e.kind.API.VersionPath) // a router reports its own
}

// LoadsLate reports whether the server loads its model with the first request.
func (e *Endpoint) LoadsLate() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	engine, _ := engines.Lookup(e.engine)
	return e.kind.API.LoadsLate || engine.API.LoadsLate || e.routed
}
