package simserver

import (
	"net/http"
	"strconv"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// llamaAPI is what only llama-server can be asked.
type llamaAPI struct{ *server }

// route adds the endpoints that only llama-server has.
func (s llamaAPI) route(mux *http.ServeMux) {
	health := func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, map[string]string{"status": "ok"}) }
	mux.HandleFunc("GET /health", health)
	mux.HandleFunc("GET /v1/health", health)
	mux.HandleFunc("GET /v1/models", s.llamaModels)
	mux.HandleFunc("GET /props", s.props)
	mux.HandleFunc("GET /slots", s.slots)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		s.writeError(w, newError(http.StatusNotFound, "not_found_error", "File Not Found"))
	})
}

func (s llamaAPI) llamaModels(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, map[string]any{"object": "list", "data": []any{map[string]any{
		"id": s.cfg.ServedName(), "object": "model", "created": s.created, "owned_by": Owner,
		"meta": map[string]any{
			"n_vocab": simengine.TokenizerSize, "n_ctx": s.cfg.MaxModelLen, "n_embd": s.cfg.Network.Hidden,
			"n_params": int64(s.cfg.Network.Billions * 1e9),
			"size":     int64(s.cfg.Network.WeightBytes(s.cfg.Quantization)),
		},
	}}})
}

func (s llamaAPI) props(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, map[string]any{
		"default_generation_settings": map[string]any{"n_ctx": s.cfg.MaxModelLen},
		"total_slots":                 s.cfg.MaxNumSeqs, "model_alias": s.cfg.ServedName(), "model_path": s.cfg.Model,
		"endpoint_slots": true, "endpoint_props": true, "endpoint_metrics": true,
		"build_info": Version, "chat_template": "", "bos_token": "<s>", "eos_token": "</s>",
	})
}

func (s llamaAPI) slots(w http.ResponseWriter, r *http.Request) {
	g := s.engine.Gauges()
	if r.URL.Query().Get("fail_on_no_slot") != "" && g.Running >= s.cfg.MaxNumSeqs {
		s.writeError(w, newError(http.StatusServiceUnavailable, "unavailable_error", "no slot available"))
		return
	}
	list := []any{}
	for i := range s.cfg.MaxNumSeqs {
		list = append(list, map[string]any{
			"id": i, "n_ctx": s.cfg.MaxModelLen, "speculative": s.cfg.Speculation.Tokens > 0,
			"is_processing": i < g.Running,
		})
	}
	writeJSON(w, list)
}

// timings are llama-server's own figures of an answer.
type timings struct {
	CacheN             int     `json:"cache_n"`
	PromptN            int     `json:"prompt_n"`
	PromptMs           float64 `json:"prompt_ms"`
	PromptPerTokenMs   float64 `json:"prompt_per_token_ms"`
	PromptPerSecond    float64 `json:"prompt_per_second"`
	PredictedN         int     `json:"predicted_n"`
	PredictedMs        float64 `json:"predicted_ms"`
	PredictedPerToken  float64 `json:"predicted_per_token_ms"`
	PredictedPerSecond float64 `json:"predicted_per_second"`
}

func (s *server) timings(a *answer) timings {
	t := timings{CacheN: a.seq.Out.CachedTokens(), PredictedN: a.produced}
	t.PromptN = len(a.prompt) - t.CacheN
	t.PromptMs = a.first.Sub(a.started).Seconds() * 1e3
	t.PredictedMs = a.last.Sub(a.first).Seconds() * 1e3
	if t.PromptN > 0 && t.PromptMs > 0 {
		t.PromptPerTokenMs = t.PromptMs / float64(t.PromptN)
		t.PromptPerSecond = 1e3 / t.PromptPerTokenMs
	}
	if t.PredictedN > 1 && t.PredictedMs > 0 {
		t.PredictedPerToken = t.PredictedMs / float64(t.PredictedN-1)
		t.PredictedPerSecond = 1e3 / t.PredictedPerToken
	}
	return t
}

// llamaChunks renders chunks as llama-server does: one token a chunk, also
// when a step gives several; the finish reason in a chunk of its own.
type llamaChunks struct {
	server *server
	answer *answer
	head   []byte
	tail   []byte
	first  bool
}

func newLlamaChunks(s *server, a *answer) *llamaChunks {
	head, closing := `data: {"choices":[{"text":"`, `","index":0,"logprobs":null,"finish_reason":null}]`
	if a.api.chat {
		head, closing = `data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"`, `"}}]`
	}
	return &llamaChunks{
		server: s, answer: a, first: true, head: []byte(head),
		tail: append([]byte(closing), llamaEnd(s, a)...),
	}
}

// llamaEnd is what follows the choices in every chunk.
func llamaEnd(s *server, a *answer) []byte {
	object := "text_completion"
	if a.api.chat {
		object = "chat.completion.chunk"
	}
	b := strconv.AppendInt([]byte(`,"created":`), a.created, 10)
	b = append(b, `,"id":`...)
	b = append(b, mustJSON(a.id)...)
	b = append(b, `,"model":`...)
	b = append(b, mustJSON(s.cfg.ServedName())...)
	return append(b, `,"system_fingerprint":"`+Version+`","object":"`+object+"\"}\n\n"...)
}

func (c *llamaChunks) write(out *eventWriter, e simengine.Event) bool {
	if e.Finish == simengine.FinishError {
		// llama-server ends the stream behind an error without [DONE].
		return out.sendData(c.server.errorBody(midStreamError()))
	}
	if c.first && c.answer.api.chat {
		c.object(out, `[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}]`, nil)
		if !out.send() {
			return false
		}
	}

	c.first = false
	for i := range e.N {
		out.buf = append(out.buf, c.head...)
		out.buf = append(out.buf, c.server.tok.Piece(c.answer.seq.OutputToken(e.From+i))...)
		out.buf = append(out.buf, c.tail...)
		if !out.send() {
			return false
		}
	}

	return e.Finish == simengine.FinishNone || c.finish(out, e.Finish)
}

// object appends one chunk with the given choices and further fields.
func (c *llamaChunks) object(out *eventWriter, choices string, more map[string]any) {
	out.buf = append(out.buf, `data: {"choices":`+choices...)
	for _, name := range []string{"usage", "timings"} {
		if v, ok := more[name]; ok {
			out.buf = append(out.buf, `,"`+name+`":`...)
			out.buf = append(out.buf, mustJSON(v)...)
		}
	}
	out.buf = append(out.buf, llamaEnd(c.server, c.answer)...)
}

// finish sends the finish chunk. Completions carry usage in it; chat answers
// have it in a chunk without choices, if asked for.
func (c *llamaChunks) finish(out *eventWriter, f simengine.Finish) bool {
	a := c.answer
	both := map[string]any{"usage": c.server.usage(a), "timings": c.server.timings(a)}
	switch {
	case !a.api.chat:
		c.object(out, `[{"text":"","index":0,"logprobs":null,"finish_reason":"`+string(f)+`"}]`, both)
	case a.includeUsage:
		c.object(out, `[{"finish_reason":"`+string(f)+`","index":0,"delta":{}}]`, nil)
		if !out.send() {
			return false
		}
		c.object(out, `[]`, both)
	default:
		delete(both, "usage")
		c.object(out, `[{"finish_reason":"`+string(f)+`","index":0,"delta":{}}]`, both)
	}

	return out.send() && out.done()
}
