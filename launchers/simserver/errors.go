package simserver

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// apiError is an answer that refuses a request.
type apiError struct {
	status  int
	kind    string
	message string
	tokens  [2]int // llama-server's context error: prompt and context
}

func badRequest(format string, args ...any) *apiError {
	return newError(http.StatusBadRequest, "BadRequestError", fmt.Sprintf(format, args...))
}

func newError(status int, kind, message string) *apiError {
	return &apiError{status: status, kind: kind, message: message}
}

// errorBody renders an error object as the persona does.
func (s *server) errorBody(e *apiError) []byte {
	kind := e.kind
	fields := map[string]any{"message": e.message, "code": e.status}
	if s.llamaCpp() {
		if kind == "BadRequestError" {
			kind = "invalid_request_error"
		}
		if e.tokens[1] > 0 {
			fields["n_prompt_tokens"], fields["n_ctx"] = e.tokens[0], e.tokens[1]
		}
	} else {
		fields["param"] = nil
	}
	fields["type"] = kind
	return mustJSON(map[string]any{"error": fields})
}

func (s *server) writeError(w http.ResponseWriter, e *apiError) {
	if e.status == http.StatusTooManyRequests || e.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	writeBody(w, e.status, "application/json", s.errorBody(e))
}

func writeJSON(w http.ResponseWriter, v any) {
	writeBody(w, http.StatusOK, "application/json", mustJSON(v))
}

func writeBody(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client has left: nobody to tell
}

// mustJSON encodes values of our own making, which always can be.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode answer: %v", err))
	}
	return b
}
