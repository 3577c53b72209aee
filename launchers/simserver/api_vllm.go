package simserver

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// routeVLLM adds the endpoints that only vLLM has.
func (s *server) routeVLLM(mux *http.ServeMux) {
	empty := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }
	mux.HandleFunc("GET /health", empty)
	mux.HandleFunc("/ping", empty)
	mux.HandleFunc("GET /load", func(w http.ResponseWriter, _ *http.Request) {
		g := s.engine.Gauges()
		writeJSON(w, map[string]int{"server_load": g.Running + g.Waiting})
	})

	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]string{"version": Version})
	})

	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("POST /v1/audio/transcriptions", s.transcribe)
	mux.HandleFunc("POST /reset_prefix_cache", func(w http.ResponseWriter, _ *http.Request) {
		// 200 in either case, as vLLM answers: only the log tells them apart.
		if s.engine.ResetPrefixCache() {
			s.log.info("Successfully reset prefix cache")
		} else {
			s.log.warn("Failed to reset prefix cache because some blocks are not freed yet")
		}
		w.WriteHeader(http.StatusOK)
	})
}

func (s *server) models(w http.ResponseWriter, _ *http.Request) {
	list := []any{}
	for _, name := range s.cfg.ServedModelNames {
		list = append(list, map[string]any{
			"id": name, "object": "model", "created": s.created, "owned_by": Owner,
			"root": s.cfg.Model, "parent": nil, "max_model_len": s.cfg.MaxModelLen, "permission": []any{},
		})
	}
	for _, name := range s.cfg.Adapters {
		list = append(list, map[string]any{
			"id": name, "object": "model", "created": s.created, "owned_by": Owner,
			"root": name, "parent": s.cfg.ServedName(), "permission": []any{},
		})
	}
	writeJSON(w, map[string]any{"object": "list", "data": list})
}

// usage is the token count of an answer.
type usage struct {
	PromptTokens     int            `json:"prompt_tokens"`
	TotalTokens      int            `json:"total_tokens"`
	CompletionTokens int            `json:"completion_tokens"`
	Details          *promptDetails `json:"prompt_tokens_details,omitempty"`
}

type promptDetails struct {
	CachedTokens int `json:"cached_tokens"`
}

func (s *server) usage(a *answer) usage {
	u := usage{
		PromptTokens: len(a.prompt), CompletionTokens: a.produced,
		TotalTokens: len(a.prompt) + a.produced,
	}
	if !s.cfg.HidePromptDetails {
		u.Details = &promptDetails{a.seq.Out.CachedTokens()}
	}
	return u
}

// modelOf is the model that an answer names: the adapter that was asked for, or the
// model itself.
func (s *server) modelOf(a *answer) string {
	if a.adapter != "" {
		return a.adapter
	}
	return s.cfg.ServedName()
}

// answerObject is the body of an answer that is not streamed.
func (s *server) answerObject(a *answer, text string) map[string]any {
	choice := map[string]any{"index": 0, "logprobs": nil, "finish_reason": string(a.end)}
	object := "text_completion"
	if a.api.chat {
		object = "chat.completion"
		message := map[string]any{"role": "assistant", "content": text}
		if a.call != nil {
			said := a.call.piece(simengine.Event{N: a.produced})
			message["content"], message["tool_calls"] = nil, []any{a.call.object(a, said)}
			choice["finish_reason"] = a.call.finish(a.end)
		}
		choice["message"] = message
	} else {
		choice["text"] = text
	}

	o := map[string]any{
		"id": a.id, "object": object, "created": a.created, "model": s.modelOf(a),
		"choices": []any{choice}, "usage": s.usage(a),
	}

	if s.llamaCpp() {
		o["system_fingerprint"] = Version
		o["timings"] = s.timings(a)
		return o
	}

	choice["stop_reason"] = nil
	if a.tokenIDs {
		choice["token_ids"] = a.outputIDs(0, a.produced)
		o["prompt_token_ids"] = a.prompt
	}

	return o
}

func (a *answer) outputIDs(from, n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = a.seq.OutputToken(from + i)
	}
	return ids
}

// vllmChunks renders chunks as vLLM does: all tokens of a step in one chunk,
// the finish reason in the last one of them. Everything that is the same in
// each chunk is rendered once.
type vllmChunks struct {
	server *server
	answer *answer
	begin  []byte // `data: {"id":…,"choices":[`
	head   []byte // begin and the choice up to its text
	tail   string // from the text's end up to the finish reason
	first  bool
}

func newVLLMChunks(s *server, a *answer) *vllmChunks {
	object, head, tail := "text_completion", `{"index":0,"text":"`, `","logprobs":null,"finish_reason":`
	if a.api.chat {
		object, head = "chat.completion.chunk", `{"index":0,"delta":{"content":"`
		tail = `"},"logprobs":null,"finish_reason":`
	}
	begin := append([]byte(`data: {"id":`), mustJSON(a.id)...)
	begin = append(begin, `,"object":"`+object+`","created":`...)
	begin = strconv.AppendInt(begin, a.created, 10)
	begin = append(begin, `,"model":`...)
	begin = append(begin, mustJSON(s.modelOf(a))...)
	begin = append(begin, `,"choices":[`...)
	return &vllmChunks{
		server: s, answer: a, begin: begin, first: true,
		head: append(slices.Clip(begin), head...), tail: tail,
	}
}

func (c *vllmChunks) write(out *eventWriter, e simengine.Event) bool {
	if e.Finish == simengine.FinishError {
		return out.sendData(c.server.errorBody(midStreamError())) && out.done()
	}
	if c.first && !c.role(out) {
		return false
	}

	c.first = false
	out.buf = append(out.buf, c.head...)
	out.buf = c.server.appendText(out.buf, c.answer, e)
	out.buf = append(out.buf, c.tail...)
	if e.Finish == simengine.FinishNone {
		out.buf = append(out.buf, "null"...)
	} else {
		out.buf = append(out.buf, '"')
		out.buf = append(out.buf, e.Finish...)
		out.buf = append(out.buf, '"')
	}

	out.buf = append(out.buf, `,"stop_reason":null`...)
	out.buf = c.appendIDs(out.buf, e)
	out.buf = append(out.buf, "}]"...)
	if c.answer.continuousUsage {
		out.buf = c.appendUsage(out.buf)
	}

	out.buf = append(out.buf, "}\n\n"...)
	if !out.send() {
		return false
	}

	return e.Finish == simengine.FinishNone || c.finish(out)
}

// role sends the chunk that opens a chat answer.
func (c *vllmChunks) role(out *eventWriter) bool {
	if !c.answer.api.chat {
		return true
	}
	out.buf = append(out.buf, c.begin...)
	out.buf = append(out.buf,
		`{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`...)
	out.buf = append(out.buf, "\n\n"...)
	return out.send()
}

// finish sends the usage chunk, if asked for, and the end mark.
func (c *vllmChunks) finish(out *eventWriter) bool {
	if c.answer.includeUsage {
		out.buf = append(out.buf, c.begin...)
		out.buf = append(out.buf, ']')
		out.buf = c.appendUsage(out.buf)
		out.buf = append(out.buf, "}\n\n"...)
		if !out.send() {
			return false
		}
	}
	return out.done()
}

func (c *vllmChunks) appendUsage(buf []byte) []byte {
	prompt, produced := int64(len(c.answer.prompt)), int64(c.answer.produced)
	buf = append(buf, `,"usage":{"prompt_tokens":`...)
	buf = strconv.AppendInt(buf, prompt, 10)
	buf = append(buf, `,"total_tokens":`...)
	buf = strconv.AppendInt(buf, prompt+produced, 10)
	buf = append(buf, `,"completion_tokens":`...)
	buf = strconv.AppendInt(buf, produced, 10)
	if !c.server.cfg.HidePromptDetails {
		buf = append(buf, `,"prompt_tokens_details":{"cached_tokens":`...)
		buf = strconv.AppendInt(buf, int64(c.answer.seq.Out.CachedTokens()), 10)
		buf = append(buf, '}')
	}
	return append(buf, '}')
}

func (c *vllmChunks) appendIDs(buf []byte, e simengine.Event) []byte {
	if !c.answer.tokenIDs {
		return buf
	}
	buf = append(buf, `,"token_ids":[`...)
	for i := range e.N {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = strconv.AppendInt(buf, int64(c.answer.seq.OutputToken(e.From+i)), 10)
	}
	return append(buf, ']')
}
