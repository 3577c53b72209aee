package simserver

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// responsesAPI is OpenAI's /v1/responses.
func (s *server) responsesAPI() api {
	return api{
		chat: true, prefix: "resp_", read: readResponses,
		whole: func(a *answer, text string) any {
			return s.responseObject(a, text)
		},
		stream: func(a *answer) chunkWriter {
			return &responsesChunks{server: s, answer: a, item: mustJSON("msg_" + a.id)}
		},
	}
}

// readResponses turns a body of this API into one of chat.
func readResponses(body []byte) (requestBody, error) {
	var b struct {
		requestBody

		Input           json.RawMessage `json:"input"`
		Instructions    string          `json:"instructions"`
		MaxOutputTokens *int            `json:"max_output_tokens"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return requestBody{}, err
	}

	b.MaxTokens, b.Messages = b.MaxOutputTokens, nil
	if b.Instructions != "" {
		b.Messages = append(b.Messages, chatMessage{Role: "system", Content: mustJSON(b.Instructions)})
	}
	var text string
	if json.Unmarshal(b.Input, &text) == nil && len(b.Input) > 0 && b.Input[0] == '"' {
		b.Messages = append(b.Messages, chatMessage{Role: "user", Content: b.Input})
		return b.requestBody, nil
	}

	var items []chatMessage
	if json.Unmarshal(b.Input, &items) != nil {
		return requestBody{}, errors.New("input must be a string or a list of messages")
	}
	for _, item := range items {
		content, err := asChatParts(item.Content)
		if err != nil {
			return requestBody{}, err
		}
		b.Messages = append(b.Messages, chatMessage{Role: item.Role, Content: content})
	}
	return b.requestBody, nil
}

// typedPart is a part of a message in the APIs whose parts have types of their
// own.
type typedPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL string `json:"image_url"`
	Source   *struct {
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
		URL       string `json:"url"`
	} `json:"source"`
}

// asChatParts turns the content of a message, a text or typed parts, into that
// of a chat message.
func asChatParts(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 || raw[0] != '[' {
		return raw, nil
	}
	var parts []typedPart
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, errors.New("content must be a string or a list of parts")
	}

	chat := make([]contentPart, len(parts))
	for i, part := range parts {
		chat[i] = contentPart{Type: part.Type, Text: part.Text}
		switch part.Type {
		case "input_text", "output_text":
			chat[i].Type = "text"
		case "input_image":
			chat[i].Type, chat[i].ImageURL.URL = "image_url", part.ImageURL
		case "image":
			chat[i].Type = "image_url"
			if part.Source != nil {
				chat[i].ImageURL.URL = part.Source.URL
			}
			if part.Source != nil && part.Source.Data != "" {
				chat[i].ImageURL.URL = "data:" + part.Source.MediaType + ";base64," + part.Source.Data
			}
		}
	}
	return mustJSON(chat), nil
}

// responseObject is the answer, as it is at its end.
func (s *server) responseObject(a *answer, text string) map[string]any {
	status, incomplete := "completed", any(nil)
	if a.end == simengine.FinishLength {
		status, incomplete = "incomplete", map[string]string{"reason": "max_output_tokens"}
	}

	details := map[string]int{}
	if !s.cfg.HidePromptDetails {
		details["cached_tokens"] = a.seq.Out.CachedTokens()
	}

	return map[string]any{
		"id": a.id, "object": "response", "created_at": a.created, "model": s.modelOf(a), "status": status,
		"incomplete_details": incomplete, "error": nil,
		"output": []any{map[string]any{
			"id": "msg_" + a.id, "type": "message", "role": "assistant", "status": status,
			"content": []any{map[string]any{"type": "output_text", "text": text, "annotations": []any{}}},
		}},
		"usage": map[string]any{
			"input_tokens": len(a.prompt), "input_tokens_details": details, "output_tokens": a.produced,
			"total_tokens": len(a.prompt) + a.produced,
		},
	}
}

// responsesChunks renders an answer as typed events.
type responsesChunks struct {
	server *server
	answer *answer
	item   []byte // id of the message, as JSON
	text   []byte
	n      int // events so far
}

func (c *responsesChunks) write(out *eventWriter, e simengine.Event) bool {
	if e.Finish == simengine.FinishError {
		failed := midStreamError()
		return c.event(out, "error", map[string]any{"code": failed.kind, "message": failed.message})
	}
	if c.n == 0 && !c.begin(out) {
		return false
	}

	for _, part := range c.server.eventParts(e) {
		from := len(c.text)
		c.text = c.server.appendText(c.text, c.answer, part)
		out.event("response.output_text.delta")
		out.buf = append(out.buf, `{"type":"response.output_text.delta","item_id":`...)
		out.buf = append(out.buf, c.item...)
		out.buf = append(out.buf, `,"output_index":0,"content_index":0,"logprobs":[],"sequence_number":`...)
		out.buf = strconv.AppendInt(out.buf, int64(c.n), 10)
		out.buf = append(out.buf, `,"delta":"`...)
		out.buf = append(out.buf, c.text[from:]...)
		out.buf = append(out.buf, "\"}\n\n"...)
		c.n++
		if !out.send() {
			return false
		}
	}

	if e.Finish == simengine.FinishNone {
		return true
	}
	return c.event(out, "response.output_text.done", map[string]any{"text": string(c.text)}) &&
		c.event(out, "response.completed", map[string]any{
			"response": c.server.responseObject(c.answer, string(c.text)),
		})
}

func (c *responsesChunks) begin(out *eventWriter) bool {
	begun := map[string]any{"id": c.answer.id, "object": "response", "status": "in_progress", "usage": nil}
	item := map[string]any{"id": "msg_" + c.answer.id, "type": "message", "role": "assistant", "content": []any{}}
	return c.event(out, "response.created", map[string]any{"response": begun}) &&
		c.event(out, "response.output_item.added", map[string]any{"item": item})
}

func (c *responsesChunks) event(out *eventWriter, kind string, fields map[string]any) bool {
	fields["type"], fields["sequence_number"] = kind, c.n
	c.n++
	return out.typed(kind, fields)
}
