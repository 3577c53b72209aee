package simserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// generation is a request for an answer, checked and tokenized.
type generation struct {
	api             api
	adapter         string // LoRA adapter that it asks for; "": the model itself
	priority        int
	prompt          []int32
	limit           int // tokens of output, at most
	least           int
	ignoreEOS       bool
	stream          bool
	includeUsage    bool
	continuousUsage bool
	tokenIDs        bool // return_token_ids
	seed            uint64
	salt            string
	tools           []chatTool
	noCache         bool // llama-server's cache_prompt: false
}

// requestBody holds the fields that the simulator acts on. Others (sampling,
// stop strings) are accepted and have no effect.
type requestBody struct {
	Model               string          `json:"model"`
	Priority            int             `json:"priority"`
	Prompt              json.RawMessage `json:"prompt"`
	Messages            []chatMessage   `json:"messages"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	NPredict            *int            `json:"n_predict"`
	MinTokens           int             `json:"min_tokens"`
	IgnoreEOS           bool            `json:"ignore_eos"`
	N                   *int            `json:"n"`
	BestOf              *int            `json:"best_of"`
	Stream              bool            `json:"stream"`
	StreamOptions       *struct {
		IncludeUsage    bool `json:"include_usage"`
		ContinuousUsage bool `json:"continuous_usage_stats"`
	} `json:"stream_options"`
	Temperature      *float64        `json:"temperature"`
	Seed             *int64          `json:"seed"`
	CacheSalt        string          `json:"cache_salt"`
	CachePrompt      *bool           `json:"cache_prompt"`
	ReturnTokenIDs   bool            `json:"return_token_ids"`
	AddSpecialTokens *bool           `json:"add_special_tokens"`
	Tools            json.RawMessage `json:"tools"`
	ToolChoice       json.RawMessage `json:"tool_choice"`
}

type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// parser turns bodies into generations under one server's limits.
type parser struct {
	tok      *simengine.Tokenizer
	llamaCpp bool
	blind    bool     // it takes no images
	model    []string // names accepted
	adapters []string // of these
	// requests may have a priority
	priorities bool
	maxLen     int // prompt and output, tokens
	vocab      int
}

// parse reads a request body. All its errors are *apiError.
func (p *parser) parse(body []byte, api api) (generation, *apiError) {
	b, err := api.read(body)
	if err != nil {
		return generation{}, badRequest("parse request body: %v", err)
	}
	if e := p.checkFields(&b); e != nil {
		return generation{}, e
	}

	g := generation{
		api: api, priority: b.Priority, stream: b.Stream, least: max(b.MinTokens, 0), ignoreEOS: b.IgnoreEOS,
		tokenIDs: b.ReturnTokenIDs, salt: b.CacheSalt, noCache: b.CachePrompt != nil && !*b.CachePrompt,
	}

	if slices.Contains(p.adapters, b.Model) {
		g.adapter = b.Model
	}
	if b.Seed != nil {
		g.seed = uint64(*b.Seed)
	}
	if b.StreamOptions != nil {
		g.includeUsage = b.StreamOptions.IncludeUsage
		g.continuousUsage = b.StreamOptions.ContinuousUsage
	}

	var e *apiError
	if api.tools {
		if g.tools, e = readTools(b.Tools, b.ToolChoice); e != nil {
			return generation{}, e
		}
	}
	if api.chat {
		g.prompt, e = p.chatPrompt(b.Messages)
	} else {
		g.prompt, e = p.completionPrompt(b.Prompt, b.AddSpecialTokens == nil || *b.AddSpecialTokens)
	}

	if e != nil {
		return generation{}, e
	}

	return g, p.setLimit(&g, &b)
}

func (p *parser) checkFields(b *requestBody) *apiError {
	if !p.llamaCpp && b.Model != "" && !slices.Contains(p.model, b.Model) {
		return newError(http.StatusNotFound, "NotFoundError", fmt.Sprintf("The model `%s` does not exist.", b.Model))
	}
	if !p.llamaCpp && b.Priority != 0 && !p.priorities {
		return badRequest("Got priority %d but Priority scheduling is not enabled.", b.Priority)
	}
	if (b.N != nil && *b.N != 1) || (b.BestOf != nil && *b.BestOf != 1) {
		return badRequest("this simulator gives one answer a request: n and best_of must be 1")
	}
	if b.Temperature != nil && *b.Temperature < 0 {
		return badRequest("temperature must be non-negative, got %v.", *b.Temperature)
	}
	return nil
}

// chatPrompt renders messages as a chat template would.
func (p *parser) chatPrompt(messages []chatMessage) ([]int32, *apiError) {
	if len(messages) == 0 {
		return nil, badRequest("messages must hold at least one message")
	}

	ids := []int32{simengine.TokenBOS}
	for i, m := range messages {
		parts, err := contentParts(m.Content)
		if err != nil {
			return nil, badRequest("messages[%d].content: %v", i, err)
		}
		ids = append(ids, simengine.TokenStart)
		var e *apiError
		if ids, e = p.appendParts(ids, m.Role+"\n", parts); e != nil {
			return nil, e
		}
		ids = append(ids, simengine.TokenEnd)
	}

	ids = append(ids, simengine.TokenStart)
	return p.tok.Encode(ids, "assistant\n"), nil
}

// contentPart is a piece of a message.
type contentPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL struct {
		URL string `json:"url"`
	} `json:"image_url"`
}

// contentParts reads a message's content: a string, null, or parts.
func contentParts(raw json.RawMessage) ([]contentPart, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []contentPart{{Text: text}}, nil
	}
	var parts []contentPart
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, errors.New("want a string or a list of parts")
	}
	return parts, nil
}

// appendParts appends the tokens of a message: its texts behind what opens
// it, and images where they stand.
func (p *parser) appendParts(ids []int32, text string, parts []contentPart) ([]int32, *apiError) {
	for _, part := range parts {
		switch part.Type {
		case "", "text":
			text += part.Text
		case "image_url":
			image, e := p.imageIDs(part.ImageURL.URL)
			if e != nil {
				return nil, e
			}
			ids = append(p.tok.Encode(ids, text), image...)
			text = ""
		default:
			return nil, badRequest("this simulated model takes text and image_url parts only, got %q", part.Type)
		}
		if len(ids) > p.maxLen {
			break // it will be refused, whatever follows
		}
	}

	return p.tok.Encode(ids, text), nil
}

// completionPrompt reads a prompt: text, token ids, or a list with one of these.
func (p *parser) completionPrompt(raw json.RawMessage, special bool) ([]int32, *apiError) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 && isPrompt(list[0]) {
		if len(list) > 1 {
			return nil, badRequest("this simulator takes one prompt a request, got %d", len(list))
		}
		raw = list[0]
	}

	var text string
	if json.Unmarshal(raw, &text) == nil && len(raw) > 0 && raw[0] == '"' {
		var ids []int32
		if special {
			ids = append(ids, simengine.TokenBOS)
		}
		ids = p.tok.Encode(ids, text)
		if len(ids) == 0 {
			return nil, badRequest("The prompt is empty.")
		}
		return ids, nil
	}

	var ids []int32
	if err := json.Unmarshal(raw, &ids); err != nil || len(ids) == 0 {
		return nil, badRequest("prompt must be a string or a list of token ids that is not empty")
	}

	for _, id := range ids {
		if id < 0 || int(id) >= p.vocab {
			return nil, badRequest("Token id %d is out of vocabulary", id)
		}
	}

	return ids, nil
}

// isPrompt distinguishes a list of prompts from a list of token ids.
func isPrompt(first json.RawMessage) bool {
	return len(first) > 0 && (first[0] == '"' || first[0] == '[')
}

// setLimit decides the longest output.
func (p *parser) setLimit(g *generation, b *requestBody) *apiError {
	asked := b.MaxTokens
	for _, other := range []*int{b.MaxCompletionTokens, b.NPredict} {
		if asked == nil {
			asked = other
		}
	}

	if p.llamaCpp {
		return p.setSlotLimit(g, asked)
	}
	if len(g.prompt) >= p.maxLen {
		return badRequest("This model's maximum context length is %d tokens. However, your request has %d input "+
			"tokens. "+
			"Please reduce the length of the input messages.", p.maxLen, len(g.prompt))
	}

	g.limit = p.maxLen - len(g.prompt)
	switch {
	case asked != nil && *asked < 1:
		return badRequest("max_tokens must be at least 1, got %d.", *asked)
	case asked != nil && *asked > g.limit:
		where := "prompt"
		if g.api.chat {
			where = "messages"
		}
		return badRequest("This model's maximum context length is %d tokens. However, you requested %d tokens (%d in "+
			"the %s, "+
			"%d in the completion). Please reduce the length of the %s or completion.",
			p.maxLen, len(g.prompt)+*asked, len(g.prompt), where, *asked, where)
	case asked != nil:
		g.limit = *asked
	case !g.api.chat:
		g.limit = min(g.limit, 16)
	}

	g.least = min(g.least, g.limit)
	return nil
}

// setSlotLimit is setLimit as llama-server has it: the context of a slot ends
// an answer that would be longer.
func (p *parser) setSlotLimit(g *generation, asked *int) *apiError {
	if len(g.prompt) >= p.maxLen {
		e := newError(http.StatusBadRequest, "exceed_context_size_error",
			fmt.Sprintf("request (%d tokens) exceeds the available context size (%d tokens), try increasing it",
				len(g.prompt), p.maxLen))
		e.tokens = [2]int{len(g.prompt), p.maxLen}
		return e
	}
	g.limit = p.maxLen - len(g.prompt)
	if asked != nil && *asked >= 0 {
		g.limit = min(g.limit, max(*asked, 1))
	}
	g.least = 0 // llama-server knows no min_tokens
	return nil
}
