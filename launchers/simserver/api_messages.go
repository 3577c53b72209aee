package simserver

import (
	"encoding/json"
	"errors"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// messagesAPI is Anthropic's /v1/messages.
func (s *server) messagesAPI() api {
	return api{
		chat: true, prefix: "msg_", read: readMessages,
		whole: func(a *answer, text string) any {
			m := s.messageObject(a)
			m["content"] = []any{map[string]string{"type": "text", "text": text}}
			m["stop_reason"], m["usage"] = stopReason(a), s.messageUsage(a, a.produced)
			return m
		},
		stream: func(a *answer) chunkWriter { return &messagesChunks{server: s, answer: a} },
	}
}

// readMessages turns a body of this API into one of chat.
func readMessages(body []byte) (requestBody, error) {
	var b struct {
		requestBody

		System json.RawMessage `json:"system"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return requestBody{}, err
	}
	if b.MaxTokens == nil {
		return requestBody{}, errors.New("max_tokens: field required")
	}

	messages := b.Messages
	b.Messages = nil
	if len(b.System) > 0 {
		b.Messages = append(b.Messages, chatMessage{Role: "system", Content: b.System})
	}
	for _, m := range messages {
		content, err := asChatParts(m.Content)
		if err != nil {
			return requestBody{}, err
		}
		b.Messages = append(b.Messages, chatMessage{Role: m.Role, Content: content})
	}
	return b.requestBody, nil
}

func (s *server) messageObject(a *answer) map[string]any {
	return map[string]any{
		"id": a.id, "type": "message", "role": "assistant", "model": s.modelOf(a), "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": s.messageUsage(a, 0),
	}
}

// messageUsage counts what came from the cache beside the rest of the prompt.
func (s *server) messageUsage(a *answer, produced int) map[string]int {
	u := map[string]int{"input_tokens": len(a.prompt), "output_tokens": produced}
	if !s.cfg.HidePromptDetails {
		cached := a.seq.Out.CachedTokens()
		u["cache_read_input_tokens"], u["input_tokens"] = cached, len(a.prompt)-cached
	}
	return u
}

func stopReason(a *answer) string {
	if a.end == simengine.FinishLength {
		return "max_tokens"
	}
	return "end_turn"
}

// messagesChunks renders an answer as typed events, in one content block.
type messagesChunks struct {
	server *server
	answer *answer
	begun  bool
}

func (c *messagesChunks) write(out *eventWriter, e simengine.Event) bool {
	if e.Finish == simengine.FinishError {
		failed := midStreamError()
		return c.event(out, "error", "error", map[string]any{"type": "api_error", "message": failed.message})
	}
	if !c.begun && !c.begin(out) {
		return false
	}

	for _, part := range c.server.eventParts(e) {
		out.event("content_block_delta")
		out.buf = append(out.buf,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`...)
		out.buf = c.server.appendText(out.buf, c.answer, part)
		out.buf = append(out.buf, "\"}}\n\n"...)
		if !out.send() {
			return false
		}
	}

	if e.Finish == simengine.FinishNone {
		return true
	}
	end := map[string]any{
		"type": "message_delta", "delta": map[string]any{"stop_reason": stopReason(c.answer), "stop_sequence": nil},
		"usage": map[string]int{"output_tokens": c.answer.produced},
	}
	return c.event(out, "content_block_stop", "index", 0) && out.typed("message_delta", end) &&
		out.typed("message_stop", map[string]any{"type": "message_stop"})
}

func (c *messagesChunks) begin(out *eventWriter) bool {
	c.begun = true
	block := map[string]any{
		"type": "content_block_start", "index": 0, "content_block": map[string]string{"type": "text", "text": ""},
	}
	return c.event(out, "message_start", "message", c.server.messageObject(c.answer)) &&
		out.typed("content_block_start", block) && out.typed("ping", map[string]any{"type": "ping"})
}

// event sends an event with one member beside its type.
func (c *messagesChunks) event(out *eventWriter, kind, name string, value any) bool {
	return out.typed(kind, map[string]any{"type": kind, name: value})
}
