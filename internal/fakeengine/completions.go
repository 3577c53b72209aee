package fakeengine

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"
)

// completions answers a completion or chat completion with a stream of
// max_tokens words, or misbehaves as the config says.
func (e *engine) completions(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		MaxTokens int `json:"max_tokens"`
	}

	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		fail(w, http.StatusBadRequest, err.Error(), "invalid_request_error")
		return
	}

	e.active.Add(1)
	defer e.active.Add(-1)
	number := int(e.requests.Add(1))
	if number == e.config.LogRest {
		_, rest, _ := e.config.log()
		_, _ = os.Stderr.Write(rest)
	}
	if number == e.config.FloodAt {
		flood(e.config.Flood)
	}

	if number == e.config.LogAt {
		spoilLog(e.config.LogFault)
	}
	if e.config.ReplaceAt > 0 && number >= e.config.ReplaceAt {
		e.leave()
	}

	switch {
	case e.config.DieAt > 0 && number >= e.config.DieAt:
		select {
		case e.exit <- 0:
		default:
		}
		<-r.Context().Done()
	case e.config.FatalAt > 0 && number >= e.config.FatalAt:
		fmt.Fprintln(os.Stderr, e.config.FatalLine)
		<-r.Context().Done()
	case e.config.NoTokens:
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case e.config.Empty:
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: [DONE]\n\n")
	default:
		if fault := e.config.fault(number); fault != "" {
			e.misbehave(w, r, fault, max(ask.MaxTokens, 1))
			return
		}
		e.stream(w, r, max(ask.MaxTokens, 1), e.config.Chunk)
	}
}

// stream sends tokens words, one each gap.
func (e *engine) stream(w http.ResponseWriter, r *http.Request, tokens int, gap time.Duration) {
	w.Header().Set("Content-Type", "text/event-stream")
	chat := r.URL.Path == "/v1/chat/completions"
	e.inputs.Add(1)
	for range tokens {
		e.outputs.Add(1)
		time.Sleep(gap)
		if e.stopping.Load() {
			<-r.Context().Done()
			return
		}
		choice := map[string]any{"index": 0, "text": " word"}
		if chat {
			choice = map[string]any{"index": 0, "delta": map[string]any{"content": " word"}}
		}
		event(w, map[string]any{"choices": []any{choice}})
	}

	event(w, map[string]any{
		"choices": []any{map[string]any{"index": 0, "text": "", "finish_reason": "length"}},
		"usage":   map[string]any{"prompt_tokens": 1, "completion_tokens": tokens},
	})

	fmt.Fprint(w, "data: [DONE]\n\n")
}

func event(w http.ResponseWriter, value any) {
	text, _ := json.Marshal(value)
	fmt.Fprintf(w, "data: %s\n\n", text)
	_ = http.NewResponseController(w).Flush()
}
