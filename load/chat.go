package load

import (
	"cmp"
	"errors"
)

// chat is the /v1/chat/completions API, one user message a request.
type chat struct{ openAIStream }

// message is one turn of a conversation.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (chat) fields(o *Options, p Prompt) ([]field, error) {
	if len(p.TokenIDs) > 0 {
		return nil, errors.New("encode prompt: chat takes text, not token ids; use the completions API")
	}
	if err := checkPrompt(p); err != nil {
		return nil, err
	}
	limit := cmp.Or(o.Target.MaxTokensField, "max_completion_tokens")
	head := []field{{"model", o.Target.Model}, {"messages", []message{{Role: "user", Content: p.Text}}}}
	return append(head, common(o, p, limit)...), nil
}
