package endpoint

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// CompletionsPath, ChatPath and OllamaPath are where a probe asks for a token; TokenPrompt is its prompt.
const (
	CompletionsPath = "/v1/completions"
	ChatPath        = "/v1/chat/completions"
	OllamaPath      = "/api/generate"
	TokenPrompt     = "Hello"
)

// token makes a streamed request and reports whether a token came. If none
// did, answer says what came instead.
func (p *prober) token(ctx context.Context, path string, body any) (Answer, bool) {
	ctx, cancel := awake.WithTimeout(ctx, TokenTime)
	defer cancel()
	result := Answer{what: "POST " + p.redact.Text(p.shown+path)}
	response, err := p.send(ctx, http.MethodPost, path, body)
	if err != nil {
		result.Err = err
		return result, false
	}
	defer response.Body.Close()
	result.Status = response.StatusCode
	if !result.OK() {
		result.Body, result.Err = io.ReadAll(io.LimitReader(response.Body, maxBody))
		return result, false
	}

	came, err := readToken(io.LimitReader(response.Body, maxBody))
	if err != nil {
		result.Err = fmt.Errorf("status %d, then %w", result.Status, err)
		return result, false
	}

	if came {
		// Let the server end its answer: hanging up leaves a slot busy.
		timer := time.AfterFunc(probeTime, cancel)
		defer timer.Stop()
		_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxBody))
		return result, true
	}

	result.Err = fmt.Errorf("status %d, then a stream without any token", result.Status)
	return result, false
}

// readToken reads an event stream, or a single JSON answer, up to its first
// token; an error says that the stream broke or carried an error object.
func readToken(stream io.Reader) (bool, error) {
	reader := bufio.NewReader(stream)
	for {
		line, err := reader.ReadBytes('\n')
		data := bytes.TrimSpace(line)
		if rest, isEvent := bytes.CutPrefix(data, []byte("data:")); isEvent {
			data = bytes.TrimSpace(rest)
		}

		if len(data) > 0 && data[0] == '{' {
			came, failure := chunkToken(data)
			if came || failure != nil {
				return came, failure
			}
		}

		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("no token: %w", bareError(err))
		}
	}
}

// chunk is what any dialect's chunk may show of a token.
type chunk struct {
	Error   json.RawMessage `json:"error"`
	Content string          `json:"content"`  // llama-server's own dialect
	Ollama  string          `json:"response"` // Ollama's
	Choices []struct {
		Text    string  `json:"text"`
		Delta   delta   `json:"delta"`
		Message delta   `json:"message"` // where the server ignores stream: true
		Finish  *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Output *int `json:"completion_tokens"`
	} `json:"usage"`
}

type delta struct {
	Content          string `json:"content"`
	Reasoning        string `json:"reasoning"`
	ReasoningContent string `json:"reasoning_content"`
}

// chunkToken reports whether a chunk shows that a token was generated: by
// text, by the usage's count, or by a finish reason, because the one token
// asked for may be a special one or part of a character, which have no text.
func chunkToken(data []byte) (bool, error) {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return false, nil //nolint:nilerr // not for us: skip what is not a chunk
	}

	if message := strings.TrimSpace(string(c.Error)); message != "" && message != "null" {
		return false, fmt.Errorf("an error in the stream: %s", text.Shorten(message))
	}

	if c.Usage != nil && c.Usage.Output != nil && *c.Usage.Output > 0 {
		return true, nil
	}

	finished := false
	for _, choice := range c.Choices {
		d, m := choice.Delta, choice.Message
		if choice.Text+d.Content+d.Reasoning+d.ReasoningContent+m.Content+m.Reasoning+m.ReasoningContent != "" {
			return true, nil
		}
		finished = finished || choice.Finish != nil && (*choice.Finish == "length" || *choice.Finish == "stop")
	}

	counted := c.Usage != nil && c.Usage.Output != nil // and it says zero
	return c.Content+c.Ollama != "" || finished && !counted, nil
}

// version asks for the server's version, for the record; "" if it does not
// tell.
func (p *prober) version(ctx context.Context, path string) string {
	if path == "" {
		return ""
	}
	a := p.get(ctx, path)
	var answer struct {
		Version   string `json:"version"`
		BuildInfo string `json:"build_info"` // llama-server
	}
	if !a.OK() || json.Unmarshal(a.Body, &answer) != nil {
		return ""
	}
	if answer.Version == "" {
		return answer.BuildInfo
	}
	return answer.Version
}

// unusable is the failure of an answer in none of the known dialects.
func unusable(a Answer) *results.Failure {
	return results.Failf(results.FailProtocol, "%s: not understood", a)
}
