package dialect

import (
	"errors"

	"github.com/benchrig/bench/load/spec"
)

// chat is the /v1/chat/completions API.
type chat struct{ openAI }

func (chat) fields(o *Common, a Ask) ([]field, error) {
	limits := []string{spec.MaxCompletionTokens, spec.MaxTokens}
	if o.MaxTokensField != "" {
		limits = []string{o.MaxTokensField}
	}
	rest, err := openAIFields(o, a, limits...)
	f := append([]field{{"model", o.Model}, {"messages", a.messages(len(a.Images) > 0)}}, rest...)
	tools, bad := a.tools(o)
	if len(tools) > 0 {
		f = append(f, field{"tools", tools})
	}
	return f, errors.Join(err, bad)
}

// message is one turn of a conversation.
type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"` // string, or []part
}

// part is a piece of a message: text or an image.
type part struct {
	Type     string    `json:"type"`
	Text     *string   `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

// messages returns the conversation up to this turn. With asParts, the user's
// messages are lists of parts, the images after the first text.
func (a Ask) messages(asParts bool) []message {
	said := []message{{Role: "user", Content: userContent(a.Text, a.Images, asParts)}}
	for i, answer := range a.Answers {
		said = append(said, message{"assistant", answer}, message{"user", userContent(a.Turns[i].Text, nil, asParts)})
	}
	return said
}

func userContent(text string, images []string, asParts bool) any {
	if !asParts {
		return text
	}
	parts := []part{{Type: "text", Text: &text}}
	for _, url := range images {
		parts = append(parts, part{Type: "image_url", ImageURL: &imageURL{url}})
	}
	return parts
}
