package ready

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/endpoint"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/serverlog"
	"github.com/benchrig/bench/results"
)

// ExternalPatience is how long a server that is said to run already may refuse
// connections: long enough for one that is being restarted by its keeper.
const ExternalPatience = 15 * time.Second

// TCP waits for a connection. A server that runs already must take one
// within a short while of began.
func TCP(e *endpoint.Endpoint, external bool, began time.Time) Stage {
	return Stage{"tcp", "a TCP connection", func(ctx context.Context) Step {
		err := e.Dial(ctx)
		if failure, ok := errors.AsType[*results.Failure](err); ok {
			return Step{Final: failure}
		}
		switch {
		case err == nil:
			return Step{Done: true}
		case external && time.Since(began) > ExternalPatience:
			return Step{Final: results.Failf(results.FailReadyTimeout,
				"nothing answers at %s (%v): an external server must be running; start it, "+
					"or check the key base-url", e.Shown(), err)}
		}
		return Step{Answer: err.Error()}
	}}
}

// Log waits for a text in the server's log.
func Log(log *serverlog.Log, wanted string) Stage {
	return Stage{"log", fmt.Sprintf("the log to say %q", wanted), func(context.Context) Step {
		return Step{Done: log.WantedSeen(), Answer: fmt.Sprintf("the log's last line is %q",
			text.Shorten(log.LastLine()))}
	}}
}

// Health waits for a health check to succeed.
func Health(e *endpoint.Endpoint, path string) Stage {
	return Stage{"health", "health (" + path + ")", func(ctx context.Context) Step {
		a := e.Ask(ctx, http.MethodGet, path, nil, endpoint.HealthTime)
		return Step{Done: a.OK(), Final: a.Final(), Answer: a.String()}
	}}
}

// Model waits until the expected model is in the model list.
func Model(e *endpoint.Endpoint, kind engines.Kind) Stage {
	strikes := 0
	return Stage{"model", "the model list (" + kind.API.ModelsPath + ")", func(ctx context.Context) Step {
		found, a, failure := e.ExpectModel(ctx)
		switch {
		case found || failure != nil:
			return Step{Done: found, Final: failure}
		case a.Err != nil, a.Status/100 == 5 && (!kind.API.ModelsMaybe || e.Model() == ""):
			strikes = 0
			return Step{Answer: a.String()}
		case a.Status == http.StatusNotFound && kind.API.ModelsMaybe:
			return Step{Done: true}
		}

		switch strikes++; {
		case strikes < MaxStrikes:
			return Step{Answer: a.String()}
		case a.OK() || kind.API.ModelsMaybe:
			return Step{Done: true} // a list without models, or none: the token shows whether it serves
		case a.Status == http.StatusNotFound:
			return Step{Final: results.Failf(results.FailProtocol,
				"%s: this is not a %s server: check launcher: and port:", a, kind.Name)}
		}

		return Step{Final: a.Failure()}
	}}
}

// Token waits for one streamed token. Health checks of hung engines continue
// answering 200; only a token shows that the engine works.
func Token(e *endpoint.Endpoint) Stage {
	t := tokenStage{endpoint: e, path: endpoint.CompletionsPath, limit: "max_tokens"}
	return Stage{"token", "a token", t.try}
}

// Answer waits for the answer of a server that generates no tokens from text to a
// request: it gives embeddings or scores, or takes audio.
func Answer(e *endpoint.Endpoint, request recipe.Smoke) Stage {
	strikes := 0
	return Stage{"answer", "an answer (" + request.Path + ")", func(ctx context.Context) Step {
		body := maps.Clone(request.Body)
		body["model"] = e.Model()
		var sent any = body
		if request.WAV != nil {
			sent = endpoint.Form{Fields: body, WAV: request.WAV}
		}
		a := e.Ask(ctx, http.MethodPost, request.Path, sent, endpoint.TokenTime)
		switch {
		case a.OK():
			return Step{Done: true}
		case a.Final() != nil:
			return Step{Final: a.Final()}
		case a.Err != nil, a.Status/100 != 4 && a.Status != http.StatusNotImplemented,
			a.Status == http.StatusTooManyRequests, a.Status == http.StatusRequestTimeout:
			strikes = 0
			return Step{Answer: a.String()}
		}

		if strikes++; strikes < MaxStrikes {
			return Step{Answer: a.String()}
		}

		failure := a.Failure()
		if request.WAV != nil {
			failure.Message += "; is it a model that transcribes audio?"
		} else {
			failure.Message += "; is it a model of embeddings or scores, and was the server started for that?"
		}
		return Step{Final: failure}
	}}
}

// tokenStage asks for one streamed token, by the chat path where the server has
// no other. Health checks of hung engines continue answering 200; only a token
// shows that the engine works.
type tokenStage struct {
	endpoint *endpoint.Endpoint
	path     string
	limit    string // the field that limits the answer
	strikes  int    // refusals in sequence that look final

	first endpoint.Answer // of the chat path, where Ollama's own was tried after it
}

func (t *tokenStage) try(ctx context.Context) Step {
	a, came := t.endpoint.Token(ctx, t.path, t.body())
	if came {
		return Step{Done: true}
	}
	if failure := a.Final(); failure != nil {
		return Step{Final: failure}
	}
	refused := a.Err == nil && a.Status == http.StatusInternalServerError && t.endpoint.LoadsLate() ||
		a.Err == nil && a.Status == http.StatusNotImplemented ||
		a.Err == nil && a.Status/100 == 4 && a.Status != http.StatusTooManyRequests &&
			a.Status != http.StatusRequestTimeout
	if !refused {
		t.strikes = 0
		return Step{Answer: a.String()}
	}
	if t.limit == "max_tokens" && bytes.Contains(a.Body, []byte(newerLimit)) { // it names the field that it wants
		t.limit = newerLimit
		return Step{Answer: a.String()}
	}
	if t.path == endpoint.CompletionsPath && (a.Status == http.StatusNotFound ||
		a.Status == http.StatusMethodNotAllowed || bytes.Contains(a.Body, []byte(endpoint.ChatPath[1:]))) {
		t.path = endpoint.ChatPath
		return Step{Answer: a.String()}
	}
	if t.path == endpoint.ChatPath && a.Status == http.StatusNotFound {
		t.path, t.first = endpoint.OllamaPath, a
		return Step{Answer: a.String()}
	}
	nowhere := t.path == endpoint.OllamaPath && a.Status == http.StatusNotFound
	if nowhere {
		a = t.first // it is not Ollama either: what it said about the usual path explains more
	}
	if t.strikes++; t.strikes >= MaxStrikes {
		failure := a.Failure()
		if nowhere {
			failure.Message += "; so do all paths that generate text: check base-url: and the model's name; a server " +
				"of embeddings needs load: {endpoint: embeddings}"
		}
		return Step{Final: failure}
	}

	return Step{Answer: a.String()}
}

// newerLimit is the field that some gateways want in place of max_tokens.
const newerLimit = "max_completion_tokens"

func (t *tokenStage) body() map[string]any {
	body := map[string]any{"model": t.endpoint.Model(), t.limit: 1, "stream": true}
	switch t.path {
	case endpoint.OllamaPath:
		body["prompt"], body["options"] = endpoint.TokenPrompt, map[string]any{"num_predict": 1}
	case endpoint.ChatPath:
		body["messages"] = []any{map[string]any{"role": "user", "content": endpoint.TokenPrompt}}
	default:
		body["prompt"] = endpoint.TokenPrompt
	}
	return body
}
