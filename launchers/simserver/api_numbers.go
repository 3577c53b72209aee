package simserver

import (
	"encoding/json"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// numbersBody covers the APIs that answer with numbers: what to embed, or a query
// and what to compare it with.
type numbersBody struct {
	Model     string          `json:"model"`
	Input     json.RawMessage `json:"input"`
	Query     string          `json:"query"`
	Documents []string        `json:"documents"`
	Text1     string          `json:"text_1"`
	Text2     []string        `json:"text_2"`
}

// numbersAPI answers with embeddings and scores.
type numbersAPI struct{ *server }

// route adds the endpoints that answer with embeddings and scores. The
// simulated model does these beside generating text, which real ones do not.
func (s numbersAPI) route(mux *http.ServeMux) {
	for path, write := range map[string]func(texts [][]int32, tokens int) map[string]any{
		"/v1/embeddings": s.vectors("embedding", "embedding"), "/pooling": s.vectors("pooling", "data"),
		"/v1/rerank": s.scores("results", "relevance_score"), "/rerank": s.scores("results", "relevance_score"),
		"/score": s.scores("data", "score"), "/v1/score": s.scores("data", "score"),
	} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) { s.numbers(w, r, write) })
	}
}

// numbers answers once the engine has read all the texts of the request, one
// after the other.
func (s numbersAPI) numbers(w http.ResponseWriter, r *http.Request,
	write func(texts [][]int32, tokens int) map[string]any,
) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		s.writeError(w, badRequest("read request body: %v", err))
		return
	}
	texts, apiErr := s.parser.numbers(body)
	if apiErr != nil {
		s.writeError(w, apiErr)
		return
	}

	n, fault, ok := s.admit(w)
	if !ok {
		return
	}
	tokens := 0
	for _, text := range texts {
		tokens += len(text)
		if !s.readPrompt(r, text, n, fault) {
			s.writeError(w, midStreamError())
			return
		}
	}
	writeJSON(w, write(texts, tokens))
}

// readPrompt has the engine read a prompt; false: it failed, or the client has left.
func (s numbersAPI) readPrompt(r *http.Request, ids []int32, n int, fault simengine.Fault) bool {
	a := s.newAnswer(generation{prompt: ids, limit: 1, ignoreEOS: true, noCache: true}, "", n, fault)
	s.engine.Submit(a.seq)
	defer s.engine.Abort(a.seq)
	defer s.truth.finish(a)

	var events []simengine.Event
	for a.end == simengine.FinishNone {
		var ok bool
		if events, ok = a.next(r.Context(), events[:0]); !ok {
			return false
		}
		for _, e := range events {
			a.note(e)
		}
	}
	if a.end == simengine.FinishTruncate {
		panic(http.ErrAbortHandler)
	}
	return a.end != simengine.FinishError
}

// numbers reads a body: the ids of each text that the model reads. A query stands
// before each of its documents.
func (p *parser) numbers(body []byte) ([][]int32, *apiError) {
	var b numbersBody
	if err := json.Unmarshal(body, &b); err != nil {
		return nil, badRequest("parse request body: %v", err)
	}
	if e := p.checkFields(&requestBody{Model: b.Model}); e != nil {
		return nil, e
	}

	var texts [][]int32
	query, documents := b.Query+b.Text1, slices.Concat(b.Documents, b.Text2)
	for _, document := range documents {
		ids := p.tok.Encode([]int32{simengine.TokenBOS}, query)
		texts = append(texts, append(p.tok.Encode(ids, document), simengine.TokenEnd))
	}
	var list []string
	switch {
	case len(b.Input) == 0:
	case json.Unmarshal(b.Input, &list) == nil:
		for _, text := range list {
			texts = append(texts, p.tok.Encode([]int32{simengine.TokenBOS}, text))
		}
	default:
		ids, e := p.completionPrompt(b.Input, true)
		if e != nil {
			return nil, e
		}
		texts = append(texts, ids)
	}

	if len(texts) == 0 {
		return nil, badRequest("want input, or query and documents, or text_1 and text_2")
	}
	for _, ids := range texts {
		if len(ids) >= p.maxLen {
			return nil, badRequest("This model's maximum context length is %d tokens. However, your request has %d "+
				"input tokens. Please reduce the length of the input messages.", p.maxLen, len(ids))
		}
	}
	return texts, nil
}

// simDimensions is the length of a simulated embedding.
const simDimensions = 64

// vectors writes embeddings under the names that an endpoint has for them.
func (s numbersAPI) vectors(object, name string) func([][]int32, int) map[string]any {
	return func(texts [][]int32, tokens int) map[string]any {
		data := make([]any, len(texts))
		for i, ids := range texts {
			vector := make([]float64, simDimensions)
			random := randomOf(ids)
			for j := range vector {
				vector[j] = random.Float64()*2 - 1
			}
			data[i] = map[string]any{"index": i, "object": object, name: vector}
		}
		return s.numbersObject("data", data, tokens)
	}
}

// scores writes a score for each document under the names that an endpoint has.
func (s numbersAPI) scores(list, name string) func([][]int32, int) map[string]any {
	return func(texts [][]int32, tokens int) map[string]any {
		data := make([]any, len(texts))
		for i, ids := range texts {
			data[i] = map[string]any{"index": i, name: randomOf(ids).Float64()}
		}
		return s.numbersObject(list, data, tokens)
	}
}

func (s numbersAPI) numbersObject(name string, data []any, tokens int) map[string]any {
	return map[string]any{
		"object": "list", "model": s.cfg.ServedName(), name: data,
		"usage": map[string]int{"prompt_tokens": tokens, "total_tokens": tokens},
	}
}

// randomOf gives the same numbers for the same text.
func randomOf(ids []int32) *rand.Rand {
	sum := fnv.New64a()
	for _, id := range ids {
		_, _ = sum.Write([]byte{byte(id), byte(id >> 8), byte(id >> 16)}) // never fails
	}
	return rand.New(rand.NewPCG(sum.Sum64(), 1))
}
