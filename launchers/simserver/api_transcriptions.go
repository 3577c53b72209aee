package simserver

import (
	"errors"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/benchrig/bench/dataset/audio"
	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// What a second of audio is to the simulated model: so many tokens to read, as
// Whisper's encoder has them, and so many tokens of text.
const (
	heardPerSecond  = 50
	spokenPerSecond = 3
)

// transcriptionForm are the fields of a request that the simulator acts on.
type transcriptionForm struct {
	file    []byte
	named   bool // a field "file" came
	model   string
	format  string
	stream  bool
	usage   bool
	longest string // max_completion_tokens
}

// transcribe answers vLLM's /v1/audio/transcriptions. The simulated model does this
// beside generating text, which real ones do not.
func (s *server) transcribe(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	form, apiErr := readTranscription(r)
	if apiErr != nil {
		s.writeError(w, apiErr)
		return
	}
	g, apiErr := s.parser.transcription(form)
	if apiErr != nil {
		s.writeError(w, apiErr)
		return
	}

	seconds := (len(g.prompt) + heardPerSecond - 1) / heardPerSecond
	g.api = api{
		prefix: "trsc-",
		whole: func(_ *answer, text string) any {
			return map[string]any{"text": text, "usage": map[string]any{"type": "duration", "seconds": seconds}}
		},
		stream: func(a *answer) chunkWriter { return &transcriptionChunks{server: s, answer: a} },
	}
	s.answer(w, r, g)
}

// readTranscription takes a form apart.
func readTranscription(r *http.Request) (f transcriptionForm, _ *apiError) {
	parts, err := r.MultipartReader()
	if err != nil {
		return f, badRequest("want a body of multipart/form-data: %v", err)
	}

	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		var value []byte
		if err == nil {
			value, err = io.ReadAll(part)
		}
		if err != nil {
			return f, badRequest("read request body: %v", err)
		}
		switch part.FormName() {
		case "file":
			f.file, f.named = value, true
		case "model":
			f.model = string(value)
		case "response_format":
			f.format = string(value)
		case "stream":
			f.stream = isTrue(value)
		case "stream_include_usage":
			f.usage = isTrue(value)
		case "max_completion_tokens":
			f.longest = string(value)
		}
	}

	switch {
	case !f.named:
		return f, badRequest(`want a field "file" with a WAV file`)
	case f.format != "" && f.format != "json":
		return f, badRequest("this simulator answers with response_format json, got %q", f.format)
	}
	return f, nil
}

// isTrue reads a field as Python's clients and others write it.
func isTrue(value []byte) bool { return string(value) == "true" || string(value) == "True" }

// transcription checks a form. The file's samples decide which tokens the model reads,
// and so what it answers.
func (p *parser) transcription(f transcriptionForm) (g generation, _ *apiError) {
	if e := p.checkFields(&requestBody{Model: f.model}); e != nil {
		return g, e
	}
	seconds, err := audio.Seconds(f.file)
	if err != nil {
		return g, badRequest("Invalid or unsupported audio file: %v", err)
	}
	if seconds*(heardPerSecond+spokenPerSecond)+1 > float64(p.maxLen) {
		return g, badRequest("This model's maximum context length is %d tokens. However, your audio of %.1f s has "+
			"%.0f tokens.", p.maxLen, seconds, math.Ceil(seconds*heardPerSecond))
	}

	spoken := max(1, int(math.Round(seconds*spokenPerSecond)))
	if f.longest != "" {
		limit, err := strconv.Atoi(f.longest)
		if err != nil || limit < 1 {
			return g, badRequest("max_completion_tokens must be at least 1, got %q.", f.longest)
		}
		spoken = min(spoken, limit)
	}

	sum := fnv.New64a()
	_, _ = sum.Write(f.file) // never fails
	g = generation{
		prompt: make([]int32, max(1, int(math.Ceil(seconds*heardPerSecond)))), limit: spoken, ignoreEOS: true,
		stream: f.stream, includeUsage: f.usage, noCache: true,
	}
	key := sum.Sum64()
	for i := range g.prompt {
		key = simengine.Mix(key, uint64(i))
		g.prompt[i] = int32(key % uint64(p.vocab))
	}
	if slices.Contains(p.adapters, f.model) {
		g.adapter = f.model
	}
	return g, nil
}

// transcriptionChunks renders chunks as vLLM does.
type transcriptionChunks struct {
	server *server
	answer *answer
}

func (c *transcriptionChunks) write(out *eventWriter, e simengine.Event) bool {
	if e.Finish == simengine.FinishError {
		return out.sendData(c.server.errorBody(midStreamError())) && out.done()
	}

	choice := map[string]any{
		"delta": map[string]any{"content": string(c.server.appendText(nil, c.answer, e))}, "finish_reason": nil,
		"stop_reason": nil,
	}
	if e.Finish != simengine.FinishNone {
		choice["finish_reason"] = "stop"
	}
	if !out.sendData(mustJSON(c.chunk([]any{choice}))) {
		return false
	}
	if e.Finish == simengine.FinishNone {
		return true
	}

	if c.answer.includeUsage {
		last := c.chunk([]any{})
		last["usage"] = usage{
			PromptTokens: len(c.answer.prompt), CompletionTokens: c.answer.produced,
			TotalTokens: len(c.answer.prompt) + c.answer.produced,
		}
		if !out.sendData(mustJSON(last)) {
			return false
		}
	}
	return out.done()
}

func (c *transcriptionChunks) chunk(choices []any) map[string]any {
	return map[string]any{
		"id": c.answer.id, "object": "transcription.chunk", "created": c.answer.created,
		"model": c.server.modelOf(c.answer), "choices": choices,
	}
}
