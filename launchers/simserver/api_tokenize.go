package simserver

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// tokenizeBody covers both personas: vLLM's prompt or messages, llama-server's
// content.
type tokenizeBody struct {
	Prompt           *string       `json:"prompt"`
	Messages         []chatMessage `json:"messages"`
	Content          *string       `json:"content"`
	AddSpecialTokens *bool         `json:"add_special_tokens"`
	AddSpecial       bool          `json:"add_special"`
	ReturnTokenStrs  bool          `json:"return_token_strs"`
	Tokens           []int32       `json:"tokens"`
}

// tokenizeAPI turns texts into tokens and back.
type tokenizeAPI struct{ *server }

func (s tokenizeAPI) readTokenize(w http.ResponseWriter, r *http.Request) (tokenizeBody, bool) {
	var b tokenizeBody
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		err = json.Unmarshal(body, &b)
	}
	if err != nil {
		s.writeError(w, badRequest("parse request body: %v", err))
	}
	return b, err == nil
}

func (s tokenizeAPI) tokenize(w http.ResponseWriter, r *http.Request) {
	b, ok := s.readTokenize(w, r)
	if !ok {
		return
	}

	ids, apiErr := s.tokensOf(b)
	if apiErr != nil {
		s.writeError(w, apiErr)
		return
	}
	if s.llamaCpp() {
		writeJSON(w, map[string]any{"tokens": ids})
		return
	}

	o := map[string]any{"count": len(ids), "max_model_len": s.cfg.MaxModelLen, "tokens": ids}
	if b.ReturnTokenStrs {
		texts := make([]string, len(ids))
		for i, id := range ids {
			texts[i] = s.tok.Decode([]int32{id})
		}
		o["token_strs"] = texts
	}

	writeJSON(w, o)
}

func (s tokenizeAPI) tokensOf(b tokenizeBody) ([]int32, *apiError) {
	ids := []int32{}
	switch {
	case b.Content != nil:
		if b.AddSpecial {
			ids = append(ids, simengine.TokenBOS)
		}
		return s.tok.Encode(ids, *b.Content), nil
	case b.Prompt != nil:
		if b.AddSpecialTokens == nil || *b.AddSpecialTokens {
			ids = append(ids, simengine.TokenBOS)
		}
		return s.tok.Encode(ids, *b.Prompt), nil
	case len(b.Messages) > 0:
		return s.parser.chatPrompt(b.Messages)
	}

	return nil, badRequest("one of prompt, messages and content is needed")
}

func (s tokenizeAPI) detokenize(w http.ResponseWriter, r *http.Request) {
	b, ok := s.readTokenize(w, r)
	if !ok {
		return
	}

	for _, id := range b.Tokens {
		if id < 0 || int(id) >= s.cfg.VocabSize {
			s.writeError(w, badRequest("Token id %d is out of vocabulary", id))
			return
		}
	}

	name := "prompt"
	if s.llamaCpp() {
		name = "content"
	}

	writeJSON(w, map[string]string{name: s.tok.Decode(b.Tokens)})
}
